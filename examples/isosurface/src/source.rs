//! Where the samples come from.

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

/// A field that any rank can have any box of.
pub enum Source {
    /// Read.
    File(VolumeFile),
    /// Computed, with so many samples along each axis.
    Formula(Formula, i64),
}

impl Source {
    /// Opens the file and reads its header. Local.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, has several numbers in a voxel, or a single sample
    /// along an axis.
    pub fn open(options: &Options) -> Result<Self> {
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
        let sound = source.grid().check();
        sound.map_err(|error| Error::program(format!("{}: {error}", path.display())))?;
        let shape = source.shape();
        if !options.pad && shape.contains(&1) {
            let [x, y, z] = shape;
            let text = format!(
                "{} has {x} x {y} x {z} samples: surfaces, cells and sections lie between samples along three axes. Take a \
                 file with 2 slices or more, or --pad, which adds samples on every side",
                path.display()
            );
            return Err(Error::program(text));
        }
        Ok(source)
    }

    /// Samples along each axis; axes that a file lacks have one.
    pub fn shape(&self) -> [i64; 3] {
        match self {
            Self::File(file) => shape_of(file),
            Self::Formula(_, n) => [*n; 3],
        }
    }

    /// Positions of the samples: those of the file or of the formula.
    pub fn grid(&self) -> Grid {
        match self {
            Self::File(file) => file.grid(),
            Self::Formula(formula, n) => formula.grid(*n),
        }
    }
}

/// Samples of a file along each axis; axes that it lacks have one.
fn shape_of(file: &VolumeFile) -> [i64; 3] {
    std::array::from_fn(|axis| file.shape().get(axis).copied().unwrap_or(1))
}

/// Boxes of a field in the axes that its file has.
pub fn in_file(file: &VolumeFile, boxes: &[Region]) -> Vec<Region> {
    let axes = file.shape().axes();
    let cut = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    boxes.iter().map(|region| Region { start: cut(&region.start), end: cut(&region.end) }).collect()
}

/// Opens a volume, of a NumPy array with the axes of the options. Local.
///
/// # Errors
/// As [`volume::open`].
fn open(path: &Path, options: &Options, array: Option<String>) -> std::result::Result<VolumeFile, IoError> {
    let plain = OpenOptions { array, ..OpenOptions::default() };
    let known = |error: IoError| match error {
        IoError::UnknownFormat { path } => IoError::request(
            &path,
            "is none of NRRD, NIfTI, VTI, MetaImage and NumPy; for numbers without a header give --raw-shape and --raw-type",
        ),
        other => other,
    };
    let file = volume::open_with(path, &plain).map_err(known)?;
    // The volume of colours may have another format than the field.
    if file.format() != "NumPy" {
        return Ok(file);
    }
    volume::open_with(path, &OpenOptions { axes: options.axes, ..plain })
}

/// A type of samples.
pub trait Kept:
    Sample
    + Voxel
    + Reducible<Scalar = Self, Each<Option<Self>> = Option<Self>, Each<Option<Extremes<Self>>> = Option<Extremes<Self>>>
    + Number
{
    /// The sample nearest to a number below a level, or above it; `None` if the type has none
    /// there.
    fn layer(wanted: f32, level: f32) -> Option<Self>;
}

macro_rules! whole {
    ($($type:ty),*) => { $(impl Kept for $type {
        fn layer(wanted: f32, level: f32) -> Option<Self> {
            let number = if wanted < level { wanted.round().min(level.ceil() - 1.0) } else { wanted.ceil() };
            // The conversion ends at the bounds of the type.
            (f32::from(number as $type) == number).then_some(number as $type)
        }
    })* };
}
whole!(u8, i8, u16, i16);

impl Kept for f32 {
    fn layer(wanted: f32, _: f32) -> Option<Self> {
        Some(wanted)
    }
}

/// The least and the greatest sample of a field; none where all are no numbers. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub fn extremes<T: Kept>(world: &World, field: &GlobalArray<T, 3>) -> Result<Option<[f32; 2]>> {
    Ok(world.extremes(field)?.map(|Extremes { min, max, .. }| [min.value(), max.value()]))
}

/// The field that colours surfaces, if there is one. Collective.
///
/// # Errors
/// The file cannot be read, or has another shape than the field, which `--pad` may have made larger.
pub fn colours(
    world: &World,
    options: &Options,
    source: &Source,
    shape: [i64; 3],
) -> Result<Option<GlobalArray<f32, 3>>> {
    let Some(path) = &options.picture.colour_by else { return Ok(None) };
    let opened = open(path, options, None).map_err(Error::from).and_then(|file| {
        let (found, layer) = (shape_of(&file), 2 * i64::from(options.pad));
        let wanted = shape.map(|n| n - layer);
        if found != wanted || file.components() != 1 {
            let text = format!(
                "{} has {found:?} samples of {} numbers, and the surfaces' field {wanted:?} of 1; they must be alike",
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
            "warning: the samples of {} have other positions than those of the surfaces' field ({:?}, not {:?}); each \
             sample of the field has the colour of the same index",
            path.display(),
            file.grid(),
            field.grid()
        ));
    }
    let read = |boxes: &[Region], done: Taker<f32>| file.read_regions_scaled(&in_file(&file, boxes), done);
    array(world, "colours", found, options.pad.then_some(Padding::LEAST), read).map(|(array, _)| Some(array))
}

/// Tolerance of positions, as a share of the least spacing.
const POSITION_TOLERANCE: f64 = 0.1;

/// Whether the corners of an array have the same positions on two grids, within
/// [`POSITION_TOLERANCE`].
fn has_same_positions(one: &Grid, other: &Grid, shape: [i64; 3]) -> bool {
    let tolerance = POSITION_TOLERANCE * other.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
    (0..8).all(|corner: usize| {
        let index = |axis: usize| if corner >> axis & 1 == 1 { (shape[axis] - 1) as f64 } else { 0.0 };
        let [a, b] = [one, other].map(|grid| grid.position(std::array::from_fn(index)));
        (0..3).all(|row| (a[row] - b[row]).abs() <= tolerance)
    })
}

/// Takes the number of a box and its samples.
pub type Taker<'a, T> = &'a mut dyn FnMut(usize, Vec<T>) -> Result<()>;

/// A layer of samples around those of a field.
#[derive(Debug, Clone, Copy)]
pub struct Padding {
    /// The layer is below this sample.
    pub level: Option<f32>,
    /// Or not below it.
    pub is_above: bool,
}

impl Padding {
    /// The least sample of the field.
    pub const LEAST: Self = Self { level: None, is_above: false };

    /// The sample of a layer around samples with these extremes: the extreme on the other side of
    /// the level, else its mirror image there. `None` where the type has no such sample.
    fn sample<T: Kept>(self, least: T, greatest: T) -> Option<T> {
        let (found, other) = if self.is_above { (greatest, least) } else { (least, greatest) };
        let Some(level) = self.level.filter(|level| level.is_finite()) else { return Some(found) };
        let (nearest, farthest) = (found.value(), other.value());
        if (nearest >= level) == self.is_above {
            return Some(found);
        }
        // The surface is half-way, where that is possible.
        let gaps = [(nearest - level).abs(), (farthest - nearest).abs(), (0.5 * level.abs()).max(1.0)];
        let gap = gaps.into_iter().find(|gap| *gap > 0.0 && gap.is_finite()).unwrap_or(1.0);
        T::layer(if self.is_above { level + gap } else { (level - gap).min(-next_up(-level)) }, level)
    }
}

/// The samples as a global array, cut over all ranks, with a layer around them if wanted; and false
/// if their type has no sample for the layer. Collective.
pub fn array<T: Kept>(
    world: &World,
    name: &str,
    shape: [i64; 3],
    padding: Option<Padding>,
    read: impl Fn(&[Region], Taker<T>) -> Result<()>,
) -> Result<(GlobalArray<T, 3>, bool)> {
    let layer = i64::from(padding.is_some());
    let padded = shape.map(|n| n + 2 * layer);
    let layout = Layout::new(padded).split_all(Split::Auto).ghost_sides([(1, 2); 3]);
    let field = world.array::<T, 3>(name, &layout)?;
    let inner = field.at(shape.map(|n| layer..n + layer));
    let parts = inner.local_parts()?;
    let offset = Index::from_fn(3, |_| -layer);
    let boxes = parts.iter().map(|part| Ok(part.region()?.translate(&offset))).collect::<Result<Vec<_>>>()?;
    let mut write = |number: usize, samples: Vec<T>| parts[number].write(&samples);
    world.agree("reading the volume", read(&boxes, &mut write))?;
    if let Some(padding) = padding {
        // Of nothing but what is no number: that.
        let least = match world.extremes(inner)? {
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
            field.at(ranges).fill(least.unwrap_or(T::zeroed()))?;
        }
    }
    Ok((field, true))
}
