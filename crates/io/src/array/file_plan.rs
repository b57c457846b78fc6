//! [`FilePlan`]: files of a saved array.

use std::path::Path;

use zippy_base::element::ElementInfo;
use zippy_plan::region::Region;

use super::format::Format;
use super::metadata::Metadata;
use super::nrrd;
use super::outline::Outline;
use super::vti::{VtkImage, index_stem};
use crate::{IoError, npy};

/// Files to write for an array.
pub enum FilePlan {
    /// One file.
    One(Outline),
    /// An index, and one file per piece of the array.
    Pieces(VtkImage),
}

impl FilePlan {
    /// Plan for a box of an array. The extension of `path` selects the format.
    ///
    /// # Errors
    /// The format cannot store the array or its metadata.
    pub fn new(path: &Path, element: &ElementInfo, region: &Region, metadata: &Metadata) -> Result<Self, IoError> {
        let wrong = |message: String| IoError::request(path, message);
        let format = Format::of(path)?;
        if format != Format::Npy {
            metadata.check(region.axes()).map_err(wrong)?;
        }
        let shape = region.extents();
        let plan = match format {
            Format::Npy if !metadata.is_name_alone() => {
                Err("is NumPy, which keeps no axes, directions or attributes; .zarr, .vti, .pvti and .nrrd do".into())
            }
            Format::Npy => numpy(element, region).map(Self::One),
            Format::Vti => VtkImage::new(element, &shape, metadata)
                .and_then(|image| image.file(&Region::whole(shape), true))
                .map(Self::One),
            Format::Pvti => {
                index_stem(path)?;
                VtkImage::new(element, &shape, metadata).map(Self::Pieces)
            }
            Format::Zarr => Err("is the name of a Zarr store, which is a directory".into()),
            Format::Nrrd if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("nhdr")) => {
                Err("is the name of a header alone; an array is saved to one file, which ends with .nrrd".into())
            }
            Format::Nrrd => nrrd::outline(element, region, metadata).map(Self::One),
        };
        plan.map_err(wrong)
    }
}

fn numpy(element: &ElementInfo, region: &Region) -> Result<Outline, String> {
    let mut outline = Outline::default();
    let header = npy::array::header(element, &region.extents());
    if outline.put(header) && outline.cells(element, region.cells()) {
        Ok(outline)
    } else {
        Err("would have more bytes than fit 63 bits".into())
    }
}
