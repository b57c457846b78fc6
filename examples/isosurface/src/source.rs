//! Source of the samples: a file or a formula.

use std::path::Path;

use zippy::algorithms::reduce::{Extremes, Number, Reducible};
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Error, GlobalArray, Layout, Result, Split, World};
use zippy_io::IoError;
use zippy_io::volume::{self, OpenOptions, VolumeFile};
use zippy_isosurface::{Grid, Sample};
use zippy_render::volume::Voxel;

use crate::arrays::other_arrays;
use crate::levels::next_up;
use crate::options::{Formula, Options};
use crate::say::complain;

/// Field with boxes that every rank can read.
pub(crate) enum Source {
    File(VolumeFile),
    /// Formula, with its number of samples along each axis.
    Formula(Formula, i64),
}

impl Source {
    /// Opens the file and reads its header. Local.
    pub(crate) fn open(options: &Options) -> Result<Self> {
        let Some(path) = options.file() else { return Ok(Self::Formula(options.field, options.n)) };
        let file = match options.raw.layout(1) {
            Some(layout) => VolumeFile::raw(path, layout)?,
            None => open(path, options, options.array.clone())?,
        };
        if file.components() != 1 {
            let text = format!(
                "{} has {} numbers in each voxel; a surface needs one{}",
                path.display(),
                file.components(),
                other_arrays(&file)
            );
            return Err(Error::program(text));
        }
        let source = Self::File(file);
        let checked = source.grid().check();
        checked.map_err(|error| Error::program(format!("{}: {error}", path.display())))?;
        let shape = source.shape();
        if !options.pad && shape.contains(&1) {
            let [x, y, z] = shape;
            let text = format!(
                "{} has {x} x {y} x {z} samples: surfaces, cells and sections need 2 samples or more along three axes. Use a \
                 file with more slices, or --pad, which adds samples on every side",
                path.display()
            );
            return Err(Error::program(text));
        }
        Ok(source)
    }

    /// Samples along each axis; 1 for axes that the file does not have.
    pub(crate) fn shape(&self) -> [i64; 3] {
        match self {
            Self::File(file) => file_shape(file),
            Self::Formula(_, n) => [*n; 3],
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        match self {
            Self::File(file) => file.grid(),
            Self::Formula(formula, n) => formula.grid(*n),
        }
    }
}

/// Samples of a file along each axis; 1 for axes that the file does not have.
fn file_shape(file: &VolumeFile) -> [i64; 3] {
    std::array::from_fn(|axis| file.shape().get(axis).copied().unwrap_or(1))
}

/// Converts boxes of the field to the axes of the file.
pub(crate) fn file_regions(file: &VolumeFile, boxes: &[Region]) -> Vec<Region> {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    boxes.iter().map(|region| Region { start: cut(&region.start), end: cut(&region.end) }).collect()
}

/// Opens a volume file; a NumPy array has the axes of the options. Local.
fn open(path: &Path, options: &Options, array: Option<String>) -> std::result::Result<VolumeFile, IoError> {
    let plain = OpenOptions { array, ..OpenOptions::default() };
    let with_hint = |error: IoError| match error {
        IoError::UnknownFormat { path } => IoError::request(
            &path,
            "is not an NRRD, NIfTI, VTI, MetaImage or NumPy file; for numbers without a header give --raw-shape and --raw-type",
        ),
        other => other,
    };
    let file = volume::open_with(path, &plain).map_err(with_hint)?;
    // The volume of colours may have another format than the field.
    if file.format() != "NumPy" {
        return Ok(file);
    }
    volume::open_with(path, &OpenOptions { axes: options.axes, ..plain })
}

/// Sample type of a field on the device.
pub(crate) trait FieldSample:
    Sample
    + Voxel
    + Reducible<Scalar = Self, Each<Option<Self>> = Option<Self>, Each<Option<Extremes<Self>>> = Option<Extremes<Self>>>
    + Number
{
    /// Sample nearest to `wanted` on its side of `level`; `None` if the type has no such number.
    fn layer(wanted: f32, level: f32) -> Option<Self>;
}

macro_rules! whole {
    ($($type:ty),*) => { $(impl FieldSample for $type {
        fn layer(wanted: f32, level: f32) -> Option<Self> {
            let number = if wanted < level { wanted.round().min(level.ceil() - 1.0) } else { wanted.ceil() };
            // The conversion saturates at the bounds of the type.
            (f32::from(number as $type) == number).then_some(number as $type)
        }
    })* };
}
whole!(u8, i8, u16, i16);

impl FieldSample for f32 {
    fn layer(wanted: f32, _: f32) -> Option<Self> {
        Some(wanted)
    }
}

/// Smallest and largest sample of a field; `None` if all samples are NaN. Collective.
pub(crate) fn extremes<T: FieldSample>(world: &World, field: &GlobalArray<T, 3>) -> Result<Option<[f32; 2]>> {
    Ok(world.extremes(field)?.map(|Extremes { min, max, .. }| [min.value(), max.value()]))
}

/// Reads the field that colours surfaces, if requested. Collective.
pub(crate) fn colours(
    world: &World,
    options: &Options,
    source: &Source,
    shape: [i64; 3],
) -> Result<Option<GlobalArray<f32, 3>>> {
    let Some(path) = &options.picture.colour_by else { return Ok(None) };
    let opened = open(path, options, None).map_err(Error::from).and_then(|file| {
        let (found, layer) = (file_shape(&file), 2 * i64::from(options.pad));
        let wanted = shape.map(|n| n - layer);
        if found != wanted || file.components() != 1 {
            let text = format!(
                "{} has {found:?} samples of {} numbers; the field of the surfaces has {wanted:?} samples of 1 number",
                path.display(),
                file.components()
            );
            return Err(Error::program(text));
        }
        Ok((file, found))
    });
    let (file, found) = world.agree("opening the volume of colours", opened)?;
    if let Source::File(field) = source
        && world.rank() == 0
        && !has_same_positions(&file.grid(), &field.grid(), found)
    {
        complain(format_args!(
            "warning: the samples of {} have other positions than the field of the surfaces ({:?}, not {:?}); each \
             sample of the field has the colour of the same index",
            path.display(),
            file.grid(),
            field.grid()
        ));
    }
    let read =
        |boxes: &[Region], done: BoxConsumer<'_, f32>| file.read_regions_scaled(&file_regions(&file, boxes), done);
    array(world, "colours", found, options.pad.then_some(Padding::LEAST), read).map(|(array, _)| Some(array))
}

/// Tolerance of positions, relative to the smallest spacing.
const POSITION_TOLERANCE: f64 = 0.1;

/// True if the corners of an array have the same positions on two grids, within
/// [`POSITION_TOLERANCE`].
fn has_same_positions(first: &Grid, second: &Grid, shape: [i64; 3]) -> bool {
    let tolerance = POSITION_TOLERANCE * second.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
    (0..8).all(|corner: usize| {
        let index = |axis: usize| if corner >> axis & 1 == 1 { (shape[axis] - 1) as f64 } else { 0.0 };
        let [a, b] = [first, second].map(|grid| grid.position(std::array::from_fn(index)));
        (0..3).all(|row| (a[row] - b[row]).abs() <= tolerance)
    })
}

/// Receiver of the index and the samples of a box.
pub(crate) type BoxConsumer<'a, T> = &'a mut dyn FnMut(usize, Vec<T>) -> Result<()>;

/// Layer of samples around a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Padding {
    /// Level that the layer must be below (or above, see `is_above`).
    pub level: Option<f32>,
    /// True if the layer must not be below the level.
    pub is_above: bool,
}

impl Padding {
    /// Layer with the smallest sample of the field.
    pub(crate) const LEAST: Self = Self { level: None, is_above: false };

    /// Sample of a layer around samples with these extremes: the extreme on the required side of
    /// the level, else the mirror image of the nearest extreme. `None` if the type has no such
    /// number.
    fn sample<T: FieldSample>(self, least: T, greatest: T) -> Option<T> {
        let (found, other) = if self.is_above { (greatest, least) } else { (least, greatest) };
        let Some(level) = self.level.filter(|level| level.is_finite()) else { return Some(found) };
        let (nearest, farthest) = (found.value(), other.value());
        if (nearest >= level) == self.is_above {
            return Some(found);
        }
        // Mirrored, so that the surface is half-way between samples and layer.
        let gaps = [(nearest - level).abs(), (farthest - nearest).abs(), (0.5 * level.abs()).max(1.0)];
        let gap = gaps.into_iter().find(|gap| *gap > 0.0 && gap.is_finite()).unwrap_or(1.0);
        T::layer(if self.is_above { level + gap } else { (level - gap).min(-next_up(-level)) }, level)
    }
}

/// Reads samples into a global array over all ranks, with a layer around them if requested. Returns
/// false if the sample type has no number for the layer. Collective.
pub(crate) fn array<T: FieldSample>(
    world: &World,
    name: &str,
    shape: [i64; 3],
    padding: Option<Padding>,
    read: impl Fn(&[Region], BoxConsumer<'_, T>) -> Result<()>,
) -> Result<(GlobalArray<T, 3>, bool)> {
    let layer = i64::from(padding.is_some());
    let padded = shape.map(|n| n + 2 * layer);
    let layout = Layout::new(padded).split_all(Split::Auto).ghost_sides([(1, 2); 3]);
    let field = world.array::<T, 3>(name, &layout)?;
    let inner = field.at(shape.map(|n| layer..n + layer));
    let parts = inner.local_parts()?;
    let offset = Index::from_fn(3, |_| -layer);
    let boxes = parts.iter().map(|part| Ok(part.region()?.translate(&offset))).collect::<Result<Vec<_>>>()?;
    let mut write = |index: usize, samples: Vec<T>| parts[index].write(&samples);
    world.agree("reading the volume", read(&boxes, &mut write))?;
    if let Some(padding) = padding {
        // If all samples are NaN, so is the layer.
        let layer_sample = match world.extremes(inner)? {
            Some(Extremes { min, max, .. }) => match padding.sample(min, max) {
                None => return Ok((field, false)),
                sample => sample,
            },
            None => world.min(field.at(shape.map(|n| layer..n + layer)))?,
        };
        let whole = Region::whole(Index::from_fn(3, |axis| padded[axis]));
        let one = Index::from_fn(3, |_| 1);
        for side in whole.shell(&one, &one) {
            let ranges: [_; 3] = std::array::from_fn(|axis| side.start[axis]..side.end[axis]);
            field.at(ranges).fill(layer_sample.unwrap_or(T::zeroed()))?;
        }
    }
    Ok((field, true))
}
