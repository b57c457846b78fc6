//! Where the voxels come from: a file or a formula.

use zippy::algorithms::volume::Phantom;
use zippy::error::IoError;
use zippy::extents::Index;
use zippy::io::volume::{self, ScalarKind, VolumeFile, Voxel};
use zippy::region::Region;

use crate::options::Options;

/// A volume that any rank can have any box of.
pub enum Source {
    /// Read.
    File(VolumeFile),
    /// Computed.
    Phantom(Phantom),
}

/// What is drawn for NaN and for infinite values: below or above every useful value.
pub const FAR: f32 = 1e30;

impl Source {
    /// Opens the file and reads its header. Local.
    ///
    /// # Errors
    /// The file cannot be read or is malformed.
    pub fn open(options: &Options) -> Result<Self, IoError> {
        Ok(match &options.input {
            Some(path) => Self::File(volume::open(path)?),
            None => Self::Phantom(Phantom { shape: options.phantom_size }),
        })
    }

    /// For people and for the report.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => file.path().display().to_string(),
            Self::Phantom(_) => "phantom".into(),
        }
    }

    /// Voxels along each axis; axes that a file lacks have one.
    pub fn shape(&self) -> [i64; 3] {
        match self {
            Self::File(file) => std::array::from_fn(|axis| file.shape().get(axis).copied().unwrap_or(1)),
            Self::Phantom(phantom) => phantom.shape,
        }
    }

    /// Distance of voxels along each axis.
    pub fn spacing(&self) -> [f64; 3] {
        match self {
            Self::File(file) => std::array::from_fn(|axis| file.spacing().get(axis).copied().unwrap_or(1.0)),
            Self::Phantom(_) => [1.0; 3],
        }
    }

    /// The type of a voxel.
    pub fn kind(&self) -> ScalarKind {
        match self {
            Self::File(file) => file.kind(),
            Self::Phantom(_) => ScalarKind::U16,
        }
    }
}

/// Reads boxes of a volume as voxels of one type.
pub type Reader<'a, T> = &'a dyn Fn(&Region) -> Result<Vec<T>, IoError>;

/// The voxels of a box of a file as they are. Local.
///
/// # Errors
/// The data are truncated, corrupt or too many.
pub fn plain<T: Voxel>(file: &VolumeFile, region: &Region) -> Result<Vec<T>, IoError> {
    file.read_region(&in_file(file, region))
}

/// The voxels of a box of a file as f32, from any type; what is not finite becomes [`FAR`], NaN on the lower side. Local.
///
/// # Errors
/// As [`plain`].
pub fn floats(file: &VolumeFile, region: &Region) -> Result<Vec<f32>, IoError> {
    let mut values = file.read_region_f32(&in_file(file, region))?;
    for value in &mut values {
        *value = if value.is_nan() { -FAR } else { value.clamp(-FAR, FAR) };
    }
    Ok(values)
}

/// The voxels of a box of the phantom. Local.
pub fn computed(phantom: &Phantom, region: &Region) -> Vec<u16> {
    region.points().map(|p| phantom.value([p[0], p[1], p[2]])).collect()
}

/// A box of the 3-D volume in the axes that the file has.
fn in_file(file: &VolumeFile, region: &Region) -> Region {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    Region { start: cut(&region.start), end: cut(&region.end) }
}
