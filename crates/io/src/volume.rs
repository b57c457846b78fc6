//! Scanned volumes: what is in a file, and any box of it.
//!
//! [`open`] tells formats apart by their first bytes; names help with MetaImage (.mha, .mhd) and with NIfTI's pairs only.
//!
//! | format | read | refused, with a message that says what to do |
//! |---|---|---|
//! | NRRD (.nrrd, .nhdr) | attached and detached; data in one file, a list or a numbered pattern of slices or slabs; raw, gzip, text; components on axis 0 (by `kinds` or a direction of `none`) | bzip2, hex, blocks, components on another axis, more than 3 axes of voxels |
//! | raw ([`VolumeFile::raw`]) | any type, byte order, offset and number of components, gzip | |
//! | NIfTI-1, NIfTI-2 (.nii, .hdr + .img, either with .gz) | integers of 8 to 64 bits, floats of 32 and 64 bits, RGB24, RGBA32 | complex and 128-bit numbers, time steps, vectors (they lie apart), Analyze 7.5 |
//! | VTI (VTK XML ImageData) | text, base64 and raw, in the element or appended, lengths of 32 and 64 bits, zlib, LZ4; pieces; an array of point data by name ([`OpenOptions::array`]), the active scalars or the first | cell data, LZMA, parallel files (.pvti), document types |
//! | NumPy (.npy, versions 1 to 3) | integers of 8 to 64 bits, booleans, floats of 16 to 64 bits; C and Fortran order; a fourth axis, NumPy's last one, holds components ([`OpenOptions::components`] for fewer axes) | complex numbers, records, objects |
//! | MetaImage (.mha, .mhd) | attached and detached; a list or a numbered pattern of slices or slabs; raw, text, zlib and gzip; channels | compressed data in several files, objects other than images |
//!
//! Axis 0 is the fastest one in memory everywhere. Axis 0 of a NumPy array of shape (z, y, x) is x,
//! in C order and in Fortran order, of one of shape (x, y, z) with [`NumpyAxes::Xyz`]. All types
//! come in both byte orders. Regions are counted in voxels; what is read has the components of a
//! voxel side by side. Only [`VolumeFile::read_regions_scaled`] and
//! [`VolumeFile::read_regions_scaled_f64`] scale stored numbers, and voxels are read in their
//! stored order, whatever the directions of the axes: [`VolumeFile::grid`] gives the positions of
//! voxels in space. A NIfTI header may have two transforms. The matrix (`sform`) decides if its
//! code is above 0, else the quaternion (`qform`). nibabel and FSL choose in the same order.
//!
//! Files are taken for hostile: a header that is wrong, contradicts itself or does not fit the
//! length of its data is an error that names file and byte (in a compressed header the uncompressed
//! byte), and nothing is allocated that the length of the file does not account for. Files that
//! ITK, nibabel or Teem accept are read, and [`VolumeFile::notes`] says how: spacings below 0 or of
//! 0, a time axis of size 0, bytes that follow the data, two transforms that differ. A header may
//! name files anywhere that the user can read; they must be regular ones, and errors name them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zippy::Grid;
use zippy::extents::Index;
use zippy::region::Region;

use super::files::Head;
pub use super::npy::NumpyAxes;
pub use super::raw::RawLayout;
pub use super::scalar::{Endian, FileScalar, ScalarKind};
use super::store::Description;
use super::{metaimage, nifti, npy, nrrd, placing, raw, vti};
use crate::{IoError, quoted};

/// A volume in a file: 1 to 3 axes, axis 0 fastest, one or several numbers per voxel. Cheap to clone; holds no voxels.
#[derive(Debug, Clone)]
pub struct VolumeFile {
    path: PathBuf,
    found: Arc<Description>,
}

/// What a file leaves open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenOptions {
    /// The array of point data to read from a VTI file, by name; else the active scalars or the first array. Other
    /// formats have none: an error.
    pub array: Option<String>,
    /// NumPy's last axis counts components in an array of 2 or 3 axes.
    pub components: bool,
    /// How the indices of a NumPy array are called. Other formats say themselves where x is: an error with
    /// [`NumpyAxes::Xyz`].
    pub axes: NumpyAxes,
}

/// Opens a volume and reads what its header says. Local to the calling rank; every rank opens the file itself.
///
/// # Errors
/// The file cannot be opened, is of no known format, its header is malformed, or its length does not fit the header;
/// file and byte are named.
pub fn open(path: impl AsRef<Path>) -> Result<VolumeFile, IoError> {
    open_with(path, &OpenOptions::default())
}

/// [`open`] with options.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<VolumeFile, IoError> {
    // Of a pair, either file may be named.
    let path = nifti::header_of(path.as_ref()).unwrap_or_else(|| path.as_ref().to_path_buf());
    let head = Head::read(&path)?;
    let found = match &head.bytes[..] {
        bytes if bytes.starts_with(b"NRRD") => nrrd::open(&head)?,
        bytes if bytes.starts_with(npy::MAGIC) => npy::open(&head, options.components, options.axes)?,
        _ if vti::recognises(&head) => vti::open(&head, options.array.as_deref())?,
        _ if metaimage::recognises(&head) => metaimage::open(&head)?,
        _ => nifti::open(&head)?.ok_or_else(|| IoError::UnknownFormat { path: path.clone() })?,
    };
    if let Some(name) = &options.array
        && found.format != vti::FORMAT
    {
        let message = format!("is {}, which has no arrays to choose {} from; VTI has", found.format, quoted(name));
        return Err(IoError::request(&path, message));
    }
    if options.axes != NumpyAxes::default() && found.format != npy::FORMAT {
        let message = format!(
            "is {}, which says itself where x is; the axes of NumPy arrays can be {}",
            found.format, options.axes
        );
        return Err(IoError::request(&path, message));
    }
    Ok(VolumeFile { path, found: Arc::new(found) })
}

impl VolumeFile {
    /// A file without a header, whose layout the caller knows. Local to the calling rank.
    ///
    /// # Errors
    /// The layout is no volume; the file cannot be opened, or its length is not what the layout makes it.
    pub fn raw(path: impl AsRef<Path>, layout: RawLayout) -> Result<Self, IoError> {
        let found = raw::open(path.as_ref(), layout)?;
        Ok(Self { path: path.as_ref().to_path_buf(), found: Arc::new(found) })
    }

    /// The file that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of its format.
    pub fn format(&self) -> &'static str {
        self.found.format
    }

    /// Names of the arrays of point data that the file has; empty for formats without names.
    pub fn arrays(&self) -> &[String] {
        &self.found.arrays
    }

    /// Voxels along each axis.
    pub fn shape(&self) -> Index {
        self.found.grid.shape
    }

    /// Numbers of a voxel, at least 1. They stand side by side in what is read: a region of `[nx, ny, nz]` voxels is
    /// read as a dense box of `[components * nx, ny, nz]` numbers.
    pub fn components(&self) -> usize {
        self.found.grid.components as usize
    }

    /// Positions of the voxels in the file's space and unit: origin, spacing and directions of three axes, as isosurfaces
    /// and pictures take them. What the header leaves out is that of the default grid; an axis that the file lacks has a
    /// spacing of 1 and points across the others. The space is right-handed (of NIfTI: right, anterior, superior; of
    /// others as the header says). Directions that lie in a plane are those of the file: [`Grid::check`] refuses them.
    pub fn grid(&self) -> Grid {
        placing::grid(self.spacing(), self.origin().unwrap_or_default(), self.directions())
    }

    /// Distance of neighbouring voxels along each axis, in the file's unit; 1 where the file says nothing.
    pub fn spacing(&self) -> &[f64] {
        &self.found.grid.spacing
    }

    /// Where the first voxel is, in the file's unit and one number per dimension of its space; `None` where the file says
    /// nothing.
    pub fn origin(&self) -> Option<&[f64]> {
        self.found.grid.origin.as_deref()
    }

    /// Where each axis points, a vector of any length in the file's space (of NIfTI: right, anterior, superior), which is
    /// right-handed: of left-handed spaces, which NRRD has, the first component is negated. `None` where the file says
    /// nothing.
    pub fn directions(&self) -> Option<&[Vec<f64>]> {
        self.found.grid.directions.as_deref()
    }

    /// Slope and intercept by which a stored number becomes what it means, slope * number + intercept, where the file
    /// gives them. [`Self::read_regions_scaled`] applies them. All other methods return stored numbers.
    pub fn rescale(&self) -> Option<(f64, f64)> {
        self.found.grid.rescale
    }

    /// Notes for users of the file: contradictions of the header and how they are read, bytes that
    /// are left out. Some of it is known when the last voxel has been read, on the rank that has
    /// read it.
    pub fn notes(&self) -> Vec<String> {
        self.found.grid.notes.iter().chain(self.found.late_note.get()).cloned().collect()
    }

    /// The note that reading the last voxel has given, on the rank that has read it.
    pub fn late_note(&self) -> Option<String> {
        self.found.late_note.get().cloned()
    }

    /// Type of a number.
    pub fn kind(&self) -> ScalarKind {
        self.found.grid.kind
    }

    /// The voxels of `region`, axis 0 fastest, the components of a voxel side by side. Local to the calling rank, which
    /// needs memory for the region only: raw data are read row by row, gzip data are streamed up to the end of the
    /// region, of compressed blocks those are read that the region touches.
    ///
    /// # Errors
    /// `T` is not the type of the file; the region leaves the volume; the data are truncated, corrupt or too many.
    pub fn read_region<T: FileScalar>(&self, region: &Region) -> Result<Vec<T>, IoError> {
        one(|done| self.read_regions(std::slice::from_ref(region), done))
    }

    /// The voxels of `region` as the nearest f32, whatever the type of the file. As [`Self::read_region`] otherwise.
    ///
    /// # Errors
    /// The region leaves the volume; the data are truncated, corrupt or too many.
    pub fn read_region_f32(&self, region: &Region) -> Result<Vec<f32>, IoError> {
        one(|done| self.read_regions_f32(std::slice::from_ref(region), done))
    }

    /// The voxels of several regions in one pass through the file, as a rank with several chunks needs them: `done`
    /// gets a region's number and voxels when the last of them has been read, in the order of the file. The regions
    /// must not overlap. Local to the calling rank, which needs memory for the regions that are begun and not done.
    ///
    /// # Errors
    /// As [`Self::read_region`]; regions that overlap; what `done` returns.
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

    /// [`Self::read_regions_f32`] of the values that the file means: with its slope and intercept ([`Self::rescale`]), where
    /// it has them.
    ///
    /// # Errors
    /// As [`Self::read_regions_f32`].
    pub fn read_regions_scaled<E: From<IoError>>(
        &self,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(scale) = self.rescale() else { return self.read_regions_f32(regions, done) };
        self.read::<u8, E>(regions, |number, bytes| {
            done(number, super::scalar::to_scaled_f32(self.kind(), &bytes, scale))
        })
    }

    /// [`Self::read_regions_scaled`] as floats of 64 bits.
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
        self.found.read_boxes(&self.path, regions, done)
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
