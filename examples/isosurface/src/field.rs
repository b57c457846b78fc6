//! The samples of a file as the device holds them.

use std::cell::RefCell;

use half::f16;
use zippy::region::Region;
use zippy::{GlobalArray, Result, World};
use zippy_io::said;
use zippy_io::volume::{ScalarKind, VolumeFile};
use zippy_render::volume::Rescale;

use crate::options::Options;
use crate::say::complain;
use crate::source::{self, Kept, Padding, Source, Taker};
use crate::units::{Found, Number, held};

/// Fewer numbers of a file's type in the range of its values are a reason for a note.
const FEW: f64 = 4096.0;

/// A field and the meaning of its samples.
pub struct Field<T> {
    pub array: GlobalArray<T, 3>,
    /// From samples to values: floats of 32 bits keep samples distinct.
    pub units: Rescale,
    /// True if no sample is rounded to a 32-bit float.
    pub is_exact: bool,
}

impl<T> Field<T> {
    /// The smallest sample of values of at least `bound`.
    ///
    /// Exact samples on the other side of the bound stay there: the bound is rounded up. Rounded
    /// samples are compared with the nearest float, so that equal values stay on the same side.
    pub fn at_least(&self, bound: f64) -> f32 {
        if self.is_exact { rounded_up(&self.units, bound) } else { sample(&self.units, bound) }
    }

    /// The largest sample of values of at most `bound`, as [`at_least`](Self::at_least) rounds it.
    pub fn at_most(&self, bound: f64) -> f32 {
        let (nearest, exact) = (sample(&self.units, bound), self.units.stored(bound));
        if self.is_exact && f64::from(nearest) > exact { -next_up(-nearest) } else { nearest }
    }
}

/// The smallest float from which samples have values of at least `bound`.
fn rounded_up(units: &Rescale, bound: f64) -> f32 {
    let nearest = sample(units, bound);
    if f64::from(nearest) < units.stored(bound) { next_up(nearest) } else { nearest }
}

/// The next larger float, without subnormal ones: GPUs may take these for 0.
fn next_up(number: f32) -> f32 {
    match number.next_up() {
        next if next.is_normal() || next == 0.0 => next.min(f32::MAX),
        next if next > 0.0 => f32::MIN_POSITIVE,
        _ if number < -f32::MIN_POSITIVE => number.next_up(),
        _ => 0.0,
    }
}

/// Operation on a field of any sample type.
pub trait Act {
    /// Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    fn act<T: Kept>(&self, field: Field<T>) -> Result<()>;
}

/// Makes the field of a source and acts on it. Collective.
///
/// # Errors
/// The data of the file are truncated, corrupt or too many; errors of the operation.
pub fn with(world: &World, options: &Options, source: &Source, act: &impl Act) -> Result<()> {
    let shape = source.shape();
    match source {
        Source::Formula(formula, n) => {
            let read = |boxes: &[Region], done: Taker<f32>| {
                boxes.iter().enumerate().try_for_each(|(number, one)| {
                    let at = |point: zippy::extents::Index| std::array::from_fn(|axis| point[axis]);
                    done(number, one.points().map(|point| formula.value(*n, at(point))).collect())
                })
            };
            let padding = padding(options, &Rescale::default(), rounded_up);
            let array = source::array(world, "field", shape, padding, read)?;
            act.act(Field { array, units: Rescale::default(), is_exact: true })
        }
        Source::File(file) => {
            let reading = Reading { world, options, file, shape };
            macro_rules! of_label {
                ($type:ty) => {
                    act.act(reading.label::<$type>(options.label.unwrap_or_default())?)
                };
            }
            macro_rules! small {
                ($type:ty) => {
                    act.act(reading.small::<$type>()?)
                };
            }
            macro_rules! large {
                ($type:ty) => {
                    act.act(reading.large::<$type>()?)
                };
            }
            macro_rules! each {
                ($do:ident) => {
                    match file.kind() {
                        ScalarKind::U8 => $do!(u8),
                        ScalarKind::I8 => $do!(i8),
                        ScalarKind::U16 => $do!(u16),
                        ScalarKind::I16 => $do!(i16),
                        ScalarKind::U32 => $do!(u32),
                        ScalarKind::I32 => $do!(i32),
                        ScalarKind::U64 => $do!(u64),
                        ScalarKind::I64 => $do!(i64),
                        ScalarKind::F16 => $do!(f16),
                        ScalarKind::F32 => $do!(f32),
                        ScalarKind::F64 => $do!(f64),
                    }
                };
            }
            match file.kind() {
                _ if options.label.is_some() => each!(of_label),
                ScalarKind::U8 if reading.is_plain() => small!(u8),
                ScalarKind::I8 if reading.is_plain() => small!(i8),
                ScalarKind::U16 if reading.is_plain() => small!(u16),
                ScalarKind::I16 if reading.is_plain() => small!(i16),
                _ => each!(large),
            }
        }
    }
}

/// The layer that `--pad` adds, of samples in units.
fn padding(options: &Options, units: &Rescale, round: impl Fn(&Rescale, f64) -> f32) -> Option<Padding> {
    let below = match options.filters.any_given() {
        true => f32::INFINITY,
        false => options.isovalues().iter().map(|&isovalue| round(units, isovalue)).fold(f32::INFINITY, f32::min),
    };
    options.pad.then_some(Padding { below })
}

/// The sample that stands for a value, within the range of 32-bit floats.
pub fn sample(units: &Rescale, value: f64) -> f32 {
    let most = f64::from(f32::MAX);
    units.stored(value).clamp(-most, most) as f32
}

/// The value of a sample.
pub fn value(units: &Rescale, sample: f32) -> f64 {
    units.slope * f64::from(sample) + units.intercept
}

/// A file that is read.
struct Reading<'a> {
    world: &'a World,
    options: &'a Options,
    file: &'a VolumeFile,
    shape: [i64; 3],
}

impl Reading<'_> {
    /// True if samples of the file's own type will do: its values are those that it stores, and the
    /// layer of `--pad` has a number below all isovalues.
    fn is_plain(&self) -> bool {
        let least = self.file.kind().range().map_or(0.0, |(least, _)| least);
        let isovalues = self.options.isovalues();
        let has_room = !self.options.pad || isovalues.iter().all(|isovalue| isovalue.ceil() > least);
        self.file.rescale().is_none() && has_room
    }

    /// Samples of 8 or 16 bits as they are.
    fn small<T: Kept + Number>(&self) -> Result<Field<T>> {
        let read =
            |boxes: &[Region], done: Taker<T>| self.file.read_regions::<T, _>(&source::in_file(self.file, boxes), done);
        let units = Rescale::default();
        let array = source::array(self.world, "field", self.shape, padding(self.options, &units, rounded_up), read)?;
        self.tell_late_note();
        Ok(Field { array, units, is_exact: true })
    }

    /// Values as floats of 32 bits: less an offset and in a unit, where these would be equal
    /// without.
    fn large<N: Number>(&self) -> Result<Field<f32>> {
        let scale = self.file.rescale();
        let exact = |number: N, units: &Rescale| match scale {
            None => held(number, units),
            Some((slope, intercept)) => (slope * number.real() + intercept - units.intercept) / units.slope,
        };
        let found = RefCell::new(Found::default());
        let make = |units: Rescale| -> Result<Field<f32>> {
            *found.borrow_mut() = Found::default();
            let read = |boxes: &[Region], done: Taker<f32>| {
                self.file.read_regions::<N, _>(&source::in_file(self.file, boxes), |number, samples| {
                    let mut found = found.borrow_mut();
                    let hold = |sample: N| {
                        let sample = exact(sample, &units);
                        found.add(sample);
                        sample as f32
                    };
                    done(number, samples.into_iter().map(hold).collect())
                })
            };
            let array = source::array(self.world, "field", self.shape, padding(self.options, &units, sample), read)?;
            Ok(Field { array, units, is_exact: true })
        };
        let field = make(Rescale::default())?;
        let all = found.take().over_ranks(self.world)?;
        self.note_few(&all);
        let is_whole = scale.is_none() && self.file.kind().range().is_some();
        let units = all.units(is_whole);
        let (field, rounded) = match units == Rescale::default() {
            true => (field, all.rounded),
            false => {
                // Not two at the same time.
                drop(field);
                (make(units)?, found.take().over_ranks(self.world)?.rounded)
            }
        };
        self.tell_late_note();
        Ok(Field { is_exact: rounded == 0, ..field })
    }

    /// 1 where a file has a label, 0 elsewhere.
    fn label<N: Number>(&self, label: i64) -> Result<Field<u8>> {
        let scale = self.file.rescale();
        let is_label = |number: N| match scale {
            None => number.is_whole(label),
            Some((slope, intercept)) => slope * number.real() + intercept == label as f64,
        };
        let read = |boxes: &[Region], done: Taker<u8>| {
            self.file.read_regions::<N, _>(&source::in_file(self.file, boxes), |number, samples| {
                done(number, samples.into_iter().map(|sample| u8::from(is_label(sample))).collect())
            })
        };
        let units = Rescale::default();
        let array = source::array(self.world, "field", self.shape, padding(self.options, &units, rounded_up), read)?;
        self.tell_late_note();
        Ok(Field { array, units, is_exact: true })
    }

    /// A note where the file's own numbers are too coarse for its values.
    fn note_few(&self, found: &Found) {
        let bits = match self.file.kind() {
            ScalarKind::F16 => 10,
            ScalarKind::F32 => 23,
            ScalarKind::F64 => 52,
            _ => return,
        };
        let Some((least, most)) = found.range().filter(|(least, most)| least < most) else { return };
        if self.file.rescale().is_some() || self.world.rank() > 0 {
            return;
        }
        let size = least.abs().max(most.abs());
        let count = (most - least) / (size.log2().floor() - f64::from(bits)).exp2();
        if count < FEW {
            complain(format_args!(
                "note: the values of the file go from {least} to {most}; its type, {}, has only {} numbers there, and surfaces \
                 have steps",
                self.file.kind(),
                count.floor() + 1.0
            ));
        }
    }

    /// On the rank that has read the last sample.
    fn tell_late_note(&self) {
        self.file.late_note().into_iter().for_each(|note| complain(format_args!("note: {}", said(&note))));
    }
}
