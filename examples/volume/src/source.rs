//! Where the voxels come from: a file or a formula.

use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Grid, Result};
use zippy_io::IoError;
use zippy_io::volume::{self, OpenOptions, ScalarKind, VolumeFile};
use zippy_render::volume::{FAR, Phantom, Rescale, TransferFunction, View};

use super::arrays::other_arrays;
use super::look;
use super::options::VolumeOptions;
use super::units::{Found, Number, Value, float, held};

/// A volume that any rank can have any box of.
pub enum Source {
    /// Read.
    File(VolumeFile),
    /// Computed.
    Phantom(Phantom),
}

impl Source {
    /// Opens the file and reads its header. Local.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, or has other components than the options say.
    pub fn open(options: &VolumeOptions) -> Result<Self, IoError> {
        let Some(path) = options.file() else { return Ok(Self::Phantom(Phantom { shape: options.phantom_size })) };
        let wanted = options.components;
        let file = match options.raw.layout(wanted.unwrap_or(1)) {
            Some(layout) => VolumeFile::raw(path, layout)?,
            None => {
                let components = wanted.is_some_and(|count| count > 1);
                let opened = volume::open_with(
                    path,
                    &OpenOptions { components, axes: options.axes, array: options.array.clone() },
                );
                opened.map_err(|error| match error {
                    IoError::UnknownFormat { path } => {
                        let known = "is none of NRRD, NIfTI, VTI, MetaImage and NumPy";
                        IoError::request(
                            &path,
                            format!("{known}; for numbers without a header give --raw-shape and --raw-type"),
                        )
                    }
                    other => other,
                })?
            }
        };
        let found = file.components();
        if !matches!(found, 1 | 2 | 4) {
            let others = other_arrays(&file);
            let message = format!("has {found} numbers in each voxel; volumes of 1, 2 and 4 are drawn{others}");
            return Err(IoError::request(path, message));
        }
        if let Some(wanted) = wanted.filter(|&wanted| wanted != found) {
            let message = format!("has {found} numbers in each voxel, not {wanted}; leave out --components");
            return Err(IoError::request(path, message));
        }
        let source = Self::File(file);
        let [x, y, z] = source.shape();
        if [x, y, z].contains(&1) {
            let message = format!(
                "has {x} x {y} x {z} voxels: a volume is drawn between voxels along three axes; take a file with 2 slices or more"
            );
            return Err(IoError::request(path, message));
        }
        let sound = View::check_volume(source.shape(), source.grid());
        sound.map_err(|error| IoError::request(path, error.to_string()))?;
        Ok(source)
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

    /// Numbers in each voxel.
    pub fn components(&self) -> usize {
        if let Self::File(file) = self { file.components() } else { 1 }
    }

    /// Positions of the voxels.
    pub fn grid(&self) -> Grid {
        match self {
            Self::File(file) => file.grid(),
            Self::Phantom(_) => Grid::default(),
        }
    }

    /// What the numbers stand for.
    pub fn rescale(&self) -> Rescale {
        let given = if let Self::File(file) = self { file.rescale() } else { None };
        given.map_or_else(Rescale::default, |(slope, intercept)| Rescale { slope, intercept })
    }

    /// Notes of the file's reader.
    pub fn notes(&self) -> Vec<String> {
        if let Self::File(file) = self { file.notes() } else { Vec::new() }
    }

    /// Note about the end of the file, on the rank that has read the last voxel.
    pub fn late_note(&self) -> Option<String> {
        if let Self::File(file) = self { file.late_note() } else { None }
    }

    /// The type of a number.
    pub fn kind(&self) -> ScalarKind {
        match self {
            Self::File(file) => file.kind(),
            Self::Phantom(_) => ScalarKind::U16,
        }
    }

    /// Its own colours, if it has any.
    pub fn colours(&self) -> Option<TransferFunction> {
        if let Self::Phantom(phantom) = self { Some(look::phantom(phantom.shape)) } else { None }
    }
}

/// Takes the number of a box of voxels and the numbers in it, as the device holds them.
pub type Taker<'a, T> = &'a mut dyn FnMut(usize, Vec<T>) -> Result<()>;
/// Reads boxes of a volume in units; what numbers there are.
pub type Reader<'a, T> = &'a dyn Fn(&Rescale, &[Region], Taker<T>) -> Result<Found>;

/// A number of a volume on the device, in a file as well.
pub trait Kept: Number + Value {}
impl<T: Number + Value> Kept for T {}

/// The voxels of boxes of a file in their own type. Local.
///
/// # Errors
/// The data are truncated, corrupt or too many; what `done` returns.
pub fn plain<T: Kept>(file: &VolumeFile, units: &Rescale, boxes: &[Region], done: Taker<T>) -> Result<Found> {
    let mut found = Found::default();
    file.read_regions::<T, _>(&in_file(file, boxes), |number, mut values| {
        for value in &mut values {
            if *units != Rescale::default() {
                *value = T::from_number(held(*value, units));
            }
            found.add(value.real());
        }
        done(number, values)
    })?;
    Ok(found)
}

/// The voxels of boxes of a file as f32; what is not finite becomes [`FAR`], NaN on the side
/// of the smallest value. Local.
///
/// # Errors
/// As [`plain`].
pub fn floats<N: Number>(file: &VolumeFile, units: &Rescale, boxes: &[Region], done: Taker<f32>) -> Result<Found> {
    let mut found = Found::default();
    let falls = file.rescale().is_some_and(|(slope, _)| slope < 0.0);
    let none = if falls { FAR } else { -FAR };
    file.read_regions::<N, _>(&in_file(file, boxes), |number, values| {
        let hold = |value: N| {
            let value = held(value, units);
            found.add(value);
            float(value, none)
        };
        done(number, values.into_iter().map(hold).collect())
    })?;
    Ok(found)
}

/// The voxels of boxes of the phantom. Local.
///
/// # Errors
/// What `done` returns.
pub fn computed(phantom: &Phantom, boxes: &[Region], done: Taker<u16>) -> Result<Found> {
    let mut found = Found::default();
    for (number, region) in boxes.iter().enumerate() {
        let values: Vec<u16> = region.points().map(|p| phantom.value([p[0], p[1], p[2]])).collect();
        values.iter().for_each(|&value| found.add(value.into()));
        done(number, values)?;
    }
    Ok(found)
}

/// Boxes of the 3-D volume in the axes that the file has.
fn in_file(file: &VolumeFile, boxes: &[Region]) -> Vec<Region> {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    boxes.iter().map(|region| Region { start: cut(&region.start), end: cut(&region.end) }).collect()
}
