//! Scanned volumes: header information, and the voxels of any box.
//!
//! [`open`] detects the format from the first bytes; only MetaImage (.mha, .mhd) and NIfTI pairs
//! also use the file name.
//!
//! - NRRD (.nrrd, .nhdr): attached and detached; data in one file, a list or a numbered pattern of
//!   slices or slabs; raw, gzip, text; components on axis 0 (by `kinds` or a direction of `none`).
//!   Not read: bzip2, hex, blocks, components on another axis, more than 3 axes of voxels.
//! - Raw ([`VolumeFile::raw`]): any type, byte order, offset and number of components; gzip.
//! - NIfTI-1 and NIfTI-2 (.nii, .hdr + .img, either with .gz): integers of 8 to 64 bits, floats of
//!   32 and 64 bits, RGB24, RGBA32. Not read: complex and 128-bit numbers, time steps, vectors
//!   (their components are not adjacent), Analyze 7.5.
//! - VTI (VTK XML ImageData): text, base64 and raw, in the element or appended, lengths of 32 and
//!   64 bits, zlib, LZ4; pieces; an array of point data by name ([`OpenOptions::array`]), the
//!   active scalars or the first array. Not read: cell data, LZMA, parallel files (.pvti), document
//!   types.
//! - NumPy (.npy, versions 1 to 3): integers of 8 to 64 bits, booleans, floats of 16 to 64 bits; C
//!   and Fortran order; a fourth axis, NumPy's last one, holds components
//!   ([`OpenOptions::components`] for fewer axes). Not read: complex numbers, records, objects.
//! - MetaImage (.mha, .mhd): attached and detached; a list or a numbered pattern of slices or
//!   slabs; raw, text, zlib and gzip; channels. Not read: compressed data in several files, objects
//!   other than images.
//!
//! An error about unsupported content names an alternative.
//!
//! Axis 0 is always the fastest in memory. Axis 0 of a NumPy array of shape (z, y, x) is x, in C
//! order and in Fortran order; with [`NumpyAxes::Xyz`], axis 0 of an array of shape (x, y, z) is x.
//! All types are read in both byte orders. Regions are in voxels; the components of a voxel are
//! adjacent.
//!
//! Only [`VolumeFile::read_regions_scaled`] and [`VolumeFile::read_regions_scaled_f64`] scale
//! stored numbers. Voxels are read in their stored order, whatever the directions of the axes:
//! [`VolumeFile::grid`] gives the positions of voxels in space. A NIfTI header may have two
//! transforms: the matrix (`sform`) decides if its code is above 0, else the quaternion (`qform`),
//! as in nibabel and FSL.
//!
//! Files are untrusted: a header that is malformed, contradicts itself or does not fit the length
//! of its data is an error that names the file and the byte (in a compressed header, the
//! uncompressed byte). Allocations are bounded by the length of the file. Files that ITK, nibabel
//! or Teem accept despite defects are also read, and [`VolumeFile::notes`] reports the
//! interpretation: spacings below 0 or of 0, a time axis of size 0, bytes after the data, two
//! transforms that differ. A header may name any regular files that the user can read; errors name
//! them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zippy_files::quoted;
use zippy_plan::Grid;
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::head::Head;
pub use super::npy::NumpyAxes;
pub use super::raw::RawLayout;
pub use super::scalar::{Endian, FileScalar, ScalarKind};
use super::voxels::Description;
use super::{grid, metaimage, nifti, npy, nrrd, raw, vti};
use crate::IoError;

/// Volume in a file: 1 to 3 axes, axis 0 fastest, with one or more numbers per voxel. Cheap to
/// clone; contains no voxels.
#[derive(Debug, Clone)]
pub struct VolumeFile {
    path: PathBuf,
    description: Arc<Description>,
}

/// Options for opening a volume.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenOptions {
    /// Name of the point data array to read from a VTI file; `None`: the active scalars or the
    /// first array. An error for other formats, which have no named arrays.
    pub array: Option<String>,
    /// True if the last axis of a NumPy array with 2 or 3 axes counts components.
    pub components: bool,
    /// Meaning of the indices of a NumPy array. [`NumpyAxes::Xyz`] is an error for other formats,
    /// which define their axes.
    pub axes: NumpyAxes,
}

/// Opens a volume and reads its header. Local.
///
/// # Errors
/// The file cannot be opened, has an unknown format or a malformed header, or its length does not
/// fit the header. The error names the file and the byte.
pub fn open(path: impl AsRef<Path>) -> Result<VolumeFile, IoError> {
    open_with(path, &OpenOptions::default())
}

/// [`open`] with options.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<VolumeFile, IoError> {
    // Both files of a pair are accepted.
    let path = nifti::header_of_pair(path.as_ref()).unwrap_or_else(|| path.as_ref().to_path_buf());
    let head = Head::read(&path)?;
    let description = match &head.bytes[..] {
        bytes if bytes.starts_with(b"NRRD") => nrrd::open(&head)?,
        bytes if bytes.starts_with(npy::MAGIC) => npy::open(&head, options.components, options.axes)?,
        _ if vti::recognises(&head) => vti::open(&head, options.array.as_deref())?,
        _ if metaimage::recognises(&head) => metaimage::open(&head)?,
        _ => nifti::open(&head)?.ok_or_else(|| IoError::UnknownFormat { path: path.clone() })?,
    };
    if let Some(name) = &options.array
        && description.format != vti::FORMAT
    {
        let message =
            format!("is {}, which has no arrays to choose {} from; VTI has", description.format, quoted(name));
        return Err(IoError::request(&path, message));
    }
    if options.axes != NumpyAxes::default() && description.format != npy::FORMAT {
        let message = format!(
            "is {}, which says itself where x is; the axes of NumPy arrays can be {}",
            description.format, options.axes
        );
        return Err(IoError::request(&path, message));
    }
    Ok(VolumeFile { path, description: Arc::new(description) })
}

impl VolumeFile {
    /// Opens a file without a header. Local.
    ///
    /// # Errors
    /// The layout is no volume; the file cannot be opened, or its length does not fit the layout.
    pub fn raw(path: impl AsRef<Path>, layout: RawLayout) -> Result<Self, IoError> {
        let description = raw::open(path.as_ref(), layout)?;
        Ok(Self { path: path.as_ref().to_path_buf(), description: Arc::new(description) })
    }

    /// Path of the opened file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.description.format
    }

    /// Names of the point data arrays in the file; empty for formats without names.
    pub fn arrays(&self) -> &[String] {
        &self.description.arrays
    }

    /// Number of voxels along each axis.
    pub fn shape(&self) -> Index {
        self.description.grid.shape
    }

    /// Numbers per voxel, at least 1. They are adjacent: a region of `[nx, ny, nz]` voxels is read
    /// as a dense box of `[components * nx, ny, nz]` numbers.
    pub fn components(&self) -> usize {
        self.description.grid.components as usize
    }

    /// Positions of the voxels in the file's space and unit: origin, spacing and directions of
    /// three axes, for isosurfaces and pictures.
    ///
    /// Values missing in the header are those of the default grid. A missing axis has a spacing of
    /// 1 and is perpendicular to the others. The space is right-handed (NIfTI: right, anterior,
    /// superior; other formats: as in the header). Directions that lie in a plane are returned
    /// unchanged; [`Grid::check`] refuses them.
    pub fn grid(&self) -> Grid {
        grid::grid(self.spacing(), self.origin().unwrap_or_default(), self.directions())
    }

    /// Distance between neighbouring voxels along each axis, in the file's unit; 1 if the file has
    /// none.
    pub fn spacing(&self) -> &[f64] {
        &self.description.grid.spacing
    }

    /// Position of the first voxel, in the file's unit, with one number per dimension of its space;
    /// `None` if the file has none.
    pub fn origin(&self) -> Option<&[f64]> {
        self.description.grid.origin.as_deref()
    }

    /// Direction of each axis, a vector of any length in the file's space (NIfTI: right, anterior,
    /// superior); `None` if the file has none. The space is right-handed: for left-handed spaces of
    /// NRRD, the first component is negated.
    pub fn directions(&self) -> Option<&[Vec<f64>]> {
        self.description.grid.directions.as_deref()
    }

    /// Slope and intercept of the file, if it has them: value = slope * stored number + intercept.
    /// Only [`Self::read_regions_scaled`] and [`Self::read_regions_scaled_f64`] apply them.
    pub fn rescale(&self) -> Option<(f64, f64)> {
        self.description.grid.rescale
    }

    /// Notes for users of the file: contradictions in the header and their interpretation, and
    /// ignored bytes. One note is known only after the read of the last voxel, on the rank of that
    /// read.
    pub fn notes(&self) -> Vec<String> {
        self.description.grid.notes.iter().chain(self.description.late_note.get()).cloned().collect()
    }

    /// Note from the read of the last voxel, on the rank of that read.
    pub fn late_note(&self) -> Option<String> {
        self.description.late_note.get().cloned()
    }

    /// Type of the stored numbers.
    pub fn kind(&self) -> ScalarKind {
        self.description.grid.kind
    }

    /// Reads the voxels of `region`, axis 0 fastest, with adjacent components. Local; needs memory
    /// for the region only: raw data are read row by row, gzip data are streamed up to the end of
    /// the region, and only the compressed blocks that overlap the region are read.
    ///
    /// # Errors
    /// `T` is not the type of the file; the region leaves the volume; the data are truncated,
    /// corrupt or too many.
    pub fn read_region<T: FileScalar>(&self, region: &Region) -> Result<Vec<T>, IoError> {
        read_one_region(|done| self.read_regions(std::slice::from_ref(region), done))
    }

    /// Reads the voxels of `region` as the nearest f32, from any stored type; otherwise as
    /// [`Self::read_region`].
    ///
    /// # Errors
    /// The region leaves the volume; the data are truncated, corrupt or too many.
    pub fn read_region_f32(&self, region: &Region) -> Result<Vec<f32>, IoError> {
        read_one_region(|done| self.read_regions_f32(std::slice::from_ref(region), done))
    }

    /// Reads the voxels of several non-overlapping regions in one pass through the file, for a rank
    /// with several chunks. `done` receives the index and the voxels of a region after its last
    /// voxel has been read, in the order of the file. Local; needs memory for the regions in
    /// progress.
    ///
    /// # Errors
    /// As [`Self::read_region`]; regions that overlap; an error from `done`.
    pub fn read_regions<T: FileScalar, E: From<IoError>>(
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

    /// [`Self::read_regions`] as the nearest f32, from any stored type.
    ///
    /// # Errors
    /// As [`Self::read_region_f32`]; regions that overlap; an error from `done`.
    pub fn read_regions_f32<E: From<IoError>>(
        &self,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read::<u8, E>(regions, |number, bytes| done(number, super::scalar::to_f32(self.kind(), &bytes)))
    }

    /// [`Self::read_regions_f32`] with the file's slope and intercept ([`Self::rescale`]), if any.
    ///
    /// # Errors
    /// As [`Self::read_regions_f32`].
    pub fn read_regions_scaled<E: From<IoError>>(
        &self,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((slope, intercept)) = self.rescale() else { return self.read_regions_f32(regions, done) };
        self.read::<u8, E>(regions, |number, bytes| {
            done(number, super::scalar::to_scaled_f32(self.kind(), &bytes, slope, intercept))
        })
    }

    /// [`Self::read_regions_scaled`] as f64.
    ///
    /// # Errors
    /// As [`Self::read_regions_scaled`].
    pub fn read_regions_scaled_f64<E: From<IoError>>(
        &self,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let scale = self.rescale();
        self.read::<u8, E>(regions, |number, bytes| done(number, super::scalar::to_f64(self.kind(), &bytes, scale)))
    }

    fn read<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        regions: &[Region],
        done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.description.read_boxes(&self.path, regions, done)
    }
}

fn read_one_region<T>(
    read: impl FnOnce(&mut dyn FnMut(usize, Vec<T>) -> Result<(), IoError>) -> Result<(), IoError>,
) -> Result<Vec<T>, IoError> {
    let mut voxels = Vec::new();
    read(&mut |_, all| {
        voxels = all;
        Ok(())
    })?;
    Ok(voxels)
}
