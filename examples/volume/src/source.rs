//! Source of the voxels: a file or a formula.

use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Grid, Result};
use zippy_io::IoError;
use zippy_io::volume::{self, OpenOptions, ScalarKind, VolumeFile};
use zippy_render::volume::{FAR, Phantom, Rescale, TransferFunction, View};

use super::arrays::other_arrays;
use super::options::VolumeOptions;
use super::picture_setup;
use super::units::{Number, NumberStatistics, Value, float, to_units};

/// Source of the voxels of a volume. Every rank can read every box.
pub enum Source {
    /// A volume file.
    File(VolumeFile),
    /// A computed phantom.
    Phantom(Phantom),
}

impl Source {
    /// Opens the file and reads its header. Local.
    ///
    /// # Errors
    /// The file cannot be read or is malformed; it has another number of components than the
    /// options say; a side has one voxel.
    pub fn open(options: &VolumeOptions) -> Result<Self, IoError> {
        let Some(path) = options.file() else { return Ok(Self::Phantom(Phantom { shape: options.phantom_size })) };
        let wanted = options.components;
        let file = match options.raw.layout(wanted.unwrap_or(1)) {
            Some(layout) => VolumeFile::raw(path, layout)?,
            None => {
                let has_components = wanted.is_some_and(|count| count > 1);
                let opened = volume::open_with(
                    path,
                    &OpenOptions { components: has_components, axes: options.axes, array: options.array.clone() },
                );
                opened.map_err(|error| match error {
                    IoError::UnknownFormat { path } => {
                        let known = "is not an NRRD, NIfTI, VTI, MetaImage or NumPy file";
                        IoError::request(
                            &path,
                            format!("{known}; for numbers without a header give --raw-shape and --raw-type"),
                        )
                    }
                    other => other,
                })?
            }
        };
        let components = file.components();
        if !matches!(components, 1 | 2 | 4) {
            let others = other_arrays(&file);
            let message =
                format!("has {components} numbers in each voxel; volumes of 1, 2 and 4 numbers are supported{others}");
            return Err(IoError::request(path, message));
        }
        if let Some(wanted) = wanted.filter(|&wanted| wanted != components) {
            let message = format!("has {components} numbers in each voxel, not {wanted}; leave out --components");
            return Err(IoError::request(path, message));
        }
        let source = Self::File(file);
        let [x, y, z] = source.shape();
        if [x, y, z].contains(&1) {
            let message = format!("has {x} x {y} x {z} voxels; rendering needs at least 2 voxels along each axis");
            return Err(IoError::request(path, message));
        }
        let checked = View::check_volume(source.shape(), source.grid());
        checked.map_err(|error| IoError::request(path, error.to_string()))?;
        Ok(source)
    }

    /// Path of the file, or `phantom`.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => file.path().display().to_string(),
            Self::Phantom(_) => "phantom".into(),
        }
    }

    /// Voxels along each axis; 1 for axes that the file does not have.
    pub fn shape(&self) -> [i64; 3] {
        match self {
            Self::File(file) => std::array::from_fn(|axis| file.shape().get(axis).copied().unwrap_or(1)),
            Self::Phantom(phantom) => phantom.shape,
        }
    }

    /// Number of components of each voxel.
    pub fn components(&self) -> usize {
        if let Self::File(file) = self { file.components() } else { 1 }
    }

    /// Grid with the positions of the voxels in space.
    pub fn grid(&self) -> Grid {
        match self {
            Self::File(file) => file.grid(),
            Self::Phantom(_) => Grid::default(),
        }
    }

    /// Slope and intercept of the file.
    pub fn rescale(&self) -> Rescale {
        let rescale = if let Self::File(file) = self { file.rescale() } else { None };
        rescale.map_or_else(Rescale::default, |(slope, intercept)| Rescale { slope, intercept })
    }

    /// Notes from reading the header.
    pub fn notes(&self) -> Vec<String> {
        if let Self::File(file) = self { file.notes() } else { Vec::new() }
    }

    /// Note about surplus data at the end of the file, on the rank that read the last voxel.
    pub fn late_note(&self) -> Option<String> {
        if let Self::File(file) = self { file.late_note() } else { None }
    }

    /// Type of a number in the file.
    pub fn kind(&self) -> ScalarKind {
        match self {
            Self::File(file) => file.kind(),
            Self::Phantom(_) => ScalarKind::U16,
        }
    }

    /// Transfer function of the phantom; `None` for files.
    pub fn colours(&self) -> Option<TransferFunction> {
        if let Self::Phantom(phantom) = self { Some(picture_setup::phantom(phantom.shape)) } else { None }
    }
}

/// Receives the index of a box and its numbers in the representation of the device.
pub type BoxConsumer<'a, T> = &'a mut dyn FnMut(usize, Vec<T>) -> Result<()>;
/// Reads boxes of a volume, converted to units, and returns statistics of the numbers.
pub type BoxReader<'a, T> = &'a dyn Fn(&Rescale, &[Region], BoxConsumer<'_, T>) -> Result<NumberStatistics>;

/// Number type that files and device arrays share.
pub trait SharedNumber: Number + Value {}
impl<T: Number + Value> SharedNumber for T {}

/// Reads boxes of a file in the number type of the file. Local.
///
/// # Errors
/// Truncated, corrupt or superfluous data; errors of `done`.
pub fn read_in_file_type<T: SharedNumber>(
    file: &VolumeFile,
    units: &Rescale,
    boxes: &[Region],
    done: BoxConsumer<'_, T>,
) -> Result<NumberStatistics> {
    let mut statistics = NumberStatistics::default();
    file.read_regions::<T, _>(&file_regions(file, boxes), |index, mut values| {
        for value in &mut values {
            if *units != Rescale::default() {
                *value = T::from_number(to_units(*value, units));
            }
            statistics.add(value.real());
        }
        done(index, values)
    })?;
    Ok(statistics)
}

/// Reads boxes of a file as `f32`. Infinite numbers become ±[`FAR`]; NaN becomes the end that
/// stands for the smallest value. Local.
///
/// # Errors
/// Errors of [`read_in_file_type`].
pub fn read_as_f32<N: Number>(
    file: &VolumeFile,
    units: &Rescale,
    boxes: &[Region],
    done: BoxConsumer<'_, f32>,
) -> Result<NumberStatistics> {
    let mut statistics = NumberStatistics::default();
    let is_decreasing = file.rescale().is_some_and(|(slope, _)| slope < 0.0);
    let nan_value = if is_decreasing { FAR } else { -FAR };
    file.read_regions::<N, _>(&file_regions(file, boxes), |index, values| {
        let convert = |value: N| {
            let value = to_units(value, units);
            statistics.add(value);
            float(value, nan_value)
        };
        done(index, values.into_iter().map(convert).collect())
    })?;
    Ok(statistics)
}

/// Computes boxes of the phantom. Local.
///
/// # Errors
/// Errors of `done`.
pub fn compute_phantom(phantom: &Phantom, boxes: &[Region], done: BoxConsumer<'_, u16>) -> Result<NumberStatistics> {
    let mut statistics = NumberStatistics::default();
    for (index, region) in boxes.iter().enumerate() {
        let values: Vec<u16> = region.points().map(|p| phantom.value([p[0], p[1], p[2]])).collect();
        values.iter().for_each(|&value| statistics.add(value.into()));
        done(index, values)?;
    }
    Ok(statistics)
}

/// Converts boxes of the 3-D volume to the axes of the file.
fn file_regions(file: &VolumeFile, boxes: &[Region]) -> Vec<Region> {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    boxes.iter().map(|region| Region { start: cut(&region.start), end: cut(&region.end) }).collect()
}
