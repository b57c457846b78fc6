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
    /// The file cannot be read, is malformed, or has several numbers in a voxel.
    pub fn open(options: &Options) -> Result<Self> {
        let Some(path) = &options.input else { return Ok(Self::Formula(options.field, options.n)) };
        let file = open(path, options)?;
        if file.components() != 1 {
            let text =
                format!("{} has {} numbers in each voxel; a surface needs one", path.display(), file.components());
            return Err(Error::program(text));
        }
        Ok(Self::File(file))
    }

    /// Samples along each axis; axes that a file lacks have one.
    pub fn shape(&self) -> [i64; 3] {
        match self {
            Self::File(file) => std::array::from_fn(|axis| file.shape().get(axis).copied().unwrap_or(1)),
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

/// Opens a volume, of a NumPy array with the axes of the options. Local.
///
/// # Errors
/// As [`volume::open`].
fn open(path: &Path, options: &Options) -> std::result::Result<VolumeFile, IoError> {
    let file = volume::open(path)?;
    // The volume of colours may have another format than the field.
    if file.format() != "NumPy" {
        return Ok(file);
    }
    volume::open_with(path, &OpenOptions { axes: options.axes, ..OpenOptions::default() })
}

/// A type of samples.
pub trait Kept:
    Sample
    + Voxel
    + Reducible<Scalar = Self, Each<Option<Self>> = Option<Self>, Each<Option<Extremes<Self>>> = Option<Extremes<Self>>>
    + Number
{
}
impl Kept for u8 {}
impl Kept for i8 {}
impl Kept for u16 {}
impl Kept for i16 {}
impl Kept for u32 {}
impl Kept for i32 {}
impl Kept for f32 {}

/// The least and the greatest value of a field; none where all are no numbers. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub fn values<T: Kept>(world: &World, field: &GlobalArray<T, 3>) -> Result<Option<[f32; 2]>> {
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
    let opened = open(path, options).map_err(Error::from).and_then(|file| {
        let of = |axis: usize| file.shape().get(axis).copied().unwrap_or(1);
        let (found, layer) = (std::array::from_fn(of), 2 * i64::from(options.pad));
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
    let read = |boxes: &[Region], done: Taker<f32>| file.read_regions_scaled(boxes, done);
    array(world, "colours", found, options.pad, read).map(Some)
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

/// The samples as a global array, cut over all ranks, with a layer of the least one around them if `pad`. Collective.
pub fn array<T: Kept>(
    world: &World,
    name: &str,
    shape: [i64; 3],
    pad: bool,
    read: impl Fn(&[Region], Taker<T>) -> Result<()>,
) -> Result<GlobalArray<T, 3>> {
    let layer = i64::from(pad);
    let padded = shape.map(|n| n + 2 * layer);
    let layout = Layout::new(padded).split_all(Split::Auto).ghost_sides([(1, 2); 3]);
    let field = world.array::<T, 3>(name, &layout)?;
    let inner = field.at(shape.map(|n| layer..n + layer));
    let parts = inner.local_parts()?;
    let offset = Index::from_fn(3, |_| -layer);
    let boxes = parts.iter().map(|part| Ok(part.region()?.translate(&offset))).collect::<Result<Vec<_>>>()?;
    let mut write = |number: usize, samples: Vec<T>| parts[number].write(&samples);
    world.agree("reading the volume", read(&boxes, &mut write))?;
    if pad {
        // Of nothing but what is no number: that.
        let least = match world.extremes(inner)? {
            Some(found) => Some(found.min),
            None => world.min(field.at(shape.map(|n| layer..n + layer)))?,
        };
        let whole = Region::whole(Index::from_fn(3, |axis| padded[axis]));
        let one = Index::from_fn(3, |_| 1);
        for side in whole.shell(&one, &one) {
            let ranges: [_; 3] = std::array::from_fn(|axis| side.start[axis]..side.end[axis]);
            field.at(ranges).fill(least.unwrap_or(T::zeroed()))?;
        }
    }
    Ok(field)
}
