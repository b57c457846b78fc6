//! Where the voxels come from: a file or a formula.

use zippy::Result;
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

/// Takes the number of a box and its voxels.
pub type Taker<'a, T> = &'a mut dyn FnMut(usize, Vec<T>) -> Result<()>;
/// Reads boxes of a volume as voxels of one type.
pub type Reader<'a, T> = &'a dyn Fn(&[Region], Taker<T>) -> Result<()>;

/// The voxels of boxes of a file as they are. Local.
///
/// # Errors
/// The data are truncated, corrupt or too many; what `done` returns.
pub fn plain<T: Voxel>(file: &VolumeFile, boxes: &[Region], done: Taker<T>) -> Result<()> {
    file.read_regions(&in_file(file, boxes), done)
}

/// The voxels of boxes of a file as f32, from any type; what is not finite becomes [`FAR`], NaN on the lower side. Local.
///
/// # Errors
/// As [`plain`].
pub fn floats(file: &VolumeFile, boxes: &[Region], done: Taker<f32>) -> Result<()> {
    file.read_regions_f32(&in_file(file, boxes), |number, mut values| {
        for value in &mut values {
            *value = if value.is_nan() { -FAR } else { value.clamp(-FAR, FAR) };
        }
        done(number, values)
    })
}

/// The voxels of boxes of the phantom. Local.
///
/// # Errors
/// What `done` returns.
pub fn computed(phantom: &Phantom, boxes: &[Region], done: Taker<u16>) -> Result<()> {
    boxes.iter().enumerate().try_for_each(|(number, region)| {
        done(number, region.points().map(|p| phantom.value([p[0], p[1], p[2]])).collect())
    })
}

/// Boxes of the 3-D volume in the axes that the file has.
fn in_file(file: &VolumeFile, boxes: &[Region]) -> Vec<Region> {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    boxes.iter().map(|region| Region { start: cut(&region.start), end: cut(&region.end) }).collect()
}
