//! Scanned volumes: what is in a file, and any box of it.

use std::path::{Path, PathBuf};

use super::nrrd::NrrdFile;
pub use super::scalar::{ScalarKind, Voxel};
use crate::error::IoError;
use crate::extents::Index;
use crate::region::Region;

/// A volume in a file: 1 to 3 axes, axis 0 fastest, one number per voxel. Cheap to clone; holds no voxels.
#[derive(Debug, Clone)]
pub struct VolumeFile {
    path: PathBuf,
    format: Format,
}

/// The formats that are read, told apart by the first bytes of the file.
#[derive(Debug, Clone)]
enum Format {
    Nrrd(NrrdFile),
}

/// Opens a volume and reads what its header says. Local to the calling rank; every rank opens the file itself.
///
/// # Errors
/// The file cannot be opened, its header is malformed, or its length does not fit the header; file and byte are named.
pub fn open(path: impl AsRef<Path>) -> Result<VolumeFile, IoError> {
    let path = path.as_ref();
    Ok(VolumeFile { path: path.to_path_buf(), format: Format::Nrrd(NrrdFile::open(path)?) })
}

impl VolumeFile {
    /// The file that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Voxels along each axis.
    pub fn shape(&self) -> Index {
        let Format::Nrrd(nrrd) = &self.format;
        let sizes = &nrrd.header().sizes;
        Index::from_fn(sizes.len(), |axis| sizes[axis] as i64)
    }

    /// Distance of neighbouring voxels along each axis, in the file's unit; 1 where the file says nothing.
    pub fn spacing(&self) -> &[f64] {
        let Format::Nrrd(nrrd) = &self.format;
        &nrrd.header().spacings
    }

    /// Type of a voxel.
    pub fn kind(&self) -> ScalarKind {
        let Format::Nrrd(nrrd) = &self.format;
        nrrd.header().kind
    }

    /// The voxels of `region`, axis 0 fastest. Local to the calling rank, which needs memory for the region only: raw
    /// files are read row by row, gzip files are streamed up to the end of the region.
    ///
    /// # Errors
    /// `T` is not the type of the file; the region leaves the volume; the data are truncated, corrupt or too many.
    pub fn read_region<T: Voxel>(&self, region: &Region) -> Result<Vec<T>, IoError> {
        one(|done| self.read_regions(std::slice::from_ref(region), done))
    }

    /// The voxels of `region` as the nearest f32, whatever the type of the file. As [`Self::read_region`] otherwise.
    ///
    /// # Errors
    /// The region leaves the volume; the data are truncated, corrupt or too many.
    pub fn read_region_f32(&self, region: &Region) -> Result<Vec<f32>, IoError> {
        one(|done| self.read_regions_f32(std::slice::from_ref(region), done))
    }

    /// The voxels of several regions in one pass through the file, as a rank with several chunks needs them: `done` gets a
    /// region's number and voxels when the last of them has been read, in the order of the file. The regions must not
    /// overlap. Local to the calling rank, which needs memory for the regions that are begun and not done.
    ///
    /// # Errors
    /// As [`Self::read_region`]; regions that overlap; what `done` returns.
    pub fn read_regions<T: Voxel, E: From<IoError>>(
        &self,
        regions: &[Region],
        done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        if T::KIND != self.kind() {
            let message = format!("holds {} voxels and cannot be read as {}", self.kind(), T::KIND);
            return Err(IoError::request(&self.path, message).into());
        }
        self.read(regions, done)
    }

    /// [`Self::read_regions`] as the nearest f32, whatever the type of the file.
    ///
    /// # Errors
    /// As [`Self::read_region_f32`]; regions that overlap; what `done` returns.
    pub fn read_regions_f32<E: From<IoError>>(
        &self,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read::<u8, E>(regions, |number, bytes| done(number, super::scalar::to_f32(self.kind(), &bytes)))
    }

    fn read<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        regions: &[Region],
        done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Format::Nrrd(nrrd) = &self.format;
        let unsigned = |index: &Index| index.iter().map(|&v| u64::try_from(v).ok()).collect::<Option<Vec<u64>>>();
        let boxes = regions.iter().map(|region| match (unsigned(&region.start), unsigned(&region.end)) {
            (Some(start), Some(end)) => Ok((start, end)),
            _ => Err(IoError::request(&self.path, format!("the region {region} begins before the volume"))),
        });
        nrrd.read_boxes(&boxes.collect::<Result<Vec<_>, _>>()?, done)
    }
}

/// The voxels that reading one region hands over.
fn one<T>(
    read: impl FnOnce(&mut dyn FnMut(usize, Vec<T>) -> Result<(), IoError>) -> Result<(), IoError>,
) -> Result<Vec<T>, IoError> {
    let mut voxels = Vec::new();
    read(&mut |_, all| {
        voxels = all;
        Ok(())
    })?;
    Ok(voxels)
}
