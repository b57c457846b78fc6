//! The samples of a file as the device holds them.

use std::cell::RefCell;

use half::f16;
use zippy::region::Region;
use zippy::{GlobalArray, Result, World};
use zippy_io::said;
use zippy_io::volume::{ScalarKind, VolumeFile};
use zippy_render::volume::Rescale;

use crate::levels::{Differences, Levels, NAME, next_up};
use crate::options::Options;
use crate::say::complain;
use crate::source::{self, Kept, Padding, Source, Taker};
use crate::units::{Found, Level, Number};

/// Fewer numbers of a file's type in the range of its values are a reason for a note.
const FEW: f64 = 4096.0;

/// A field and the meaning of its samples.
pub struct Field<T> {
    pub array: GlobalArray<T, 3>,
    /// From samples to values: floats of 32 bits keep samples distinct.
    pub units: Rescale,
    /// The samples of the [levels](Options::levels): numbers of the file are on the same side of a
    /// level as their samples.
    pub levels: Vec<f32>,
    /// The least and the greatest finite number of the file, where samples round them.
    range: Option<[f64; 2]>,
    /// True if floats do not tell the numbers of the file apart.
    pub is_coarse: bool,
}

impl<T: Kept> Field<T> {
    /// Of samples that are the values.
    fn plain(array: GlobalArray<T, 3>, options: &Options) -> Self {
        let levels = plain_levels(options);
        Self { array, units: Rescale::default(), levels, range: None, is_coarse: false }
    }

    /// The least and the greatest value; `None` where all are NaN. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn extremes(&self, world: &World) -> Result<Option<[f64; 2]>> {
        let samples = source::extremes(world, &self.array)?;
        Ok(self.range.or(samples.map(|samples| samples.map(|sample| value(&self.units, sample)))))
    }
}

/// The samples of levels where samples are the values: rounded to the side on which floats have the
/// same order.
fn plain_levels(options: &Options) -> Vec<f32> {
    let up = |level: f64| match sample(&Rescale::default(), level) {
        nearest if f64::from(nearest) < level => next_up(nearest),
        nearest => nearest,
    };
    let is_last = |number| options.filters.is_range() && number == 1;
    let levels = options.levels().into_iter().map(|level| level.nearest).enumerate();
    levels.map(|(number, level)| if is_last(number) { -up(-level) } else { up(level) }).collect()
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
            let padding = padding(options, &plain_levels(options));
            let (array, _) = source::array(world, NAME, shape, padding, read)?;
            act.act(Field::plain(array, options))
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
                    match reading.small::<$type>()? {
                        Some(field) => act.act(field),
                        None => act.act(reading.large::<$type>()?),
                    }
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

/// The layer that `--pad` adds around samples with these levels.
fn padding(options: &Options, levels: &[f32]) -> Option<Padding> {
    let is_above = options.filters.keeps_below();
    let level = match options.filters.is_cut() {
        true => None,
        false => levels.iter().copied().reduce(f32::min),
    };
    options.pad.then_some(Padding { level, is_above })
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
    /// True if the numbers of the file are its values.
    fn is_plain(&self) -> bool {
        self.file.rescale().is_none()
    }

    /// Samples of 8 or 16 bits as they are; `None` where these have no number for the layer of
    /// `--pad`.
    fn small<T: Kept + Number>(&self) -> Result<Option<Field<T>>> {
        let read =
            |boxes: &[Region], done: Taker<T>| self.file.read_regions::<T, _>(&source::in_file(self.file, boxes), done);
        let padding = padding(self.options, &plain_levels(self.options));
        let (array, is_padded) = source::array(self.world, NAME, self.shape, padding, read)?;
        if !is_padded {
            return Ok(None);
        }
        self.tell_late_note();
        Ok(Some(Field::plain(array, self.options)))
    }

    /// Values as floats of 32 bits, as differences to a level.
    fn large<N: Number>(&self) -> Result<Field<f32>> {
        match self.file.rescale() {
            None => self.held(|number: N| number),
            Some((slope, intercept)) => self.held(|number: N| slope * number.real() + intercept),
        }
    }

    /// Values of any type as floats of 32 bits: themselves, if these hold all of them.
    fn held<N: Number, V: Number>(&self, exact: impl Fn(N) -> V) -> Result<Field<f32>> {
        let given = self.options.levels();
        let is_whole = self.is_plain() && self.file.kind().range().is_some();
        let first = Levels::new(&given, self.first_origin(&given), 1.0);
        let make = |levels: Option<&Levels>| -> Result<(GlobalArray<f32, 3>, Found, Differences)> {
            let counted = levels.unwrap_or(&first);
            let all = RefCell::new((Found::default(), Differences::new(counted)));
            let read = |boxes: &[Region], done: Taker<f32>| {
                self.file.read_regions::<N, _>(&source::in_file(self.file, boxes), |number, samples| {
                    let (found, differences) = &mut *all.borrow_mut();
                    let hold = |sample: N| {
                        let value = exact(sample);
                        found.add(value.real());
                        differences.add(counted, value);
                        levels.map_or(value.real() as f32, |levels| levels.hold(value))
                    };
                    done(number, samples.into_iter().map(hold).collect())
                })
            };
            let padding = padding(self.options, &self.samples(levels));
            let name = levels.map_or(NAME.to_owned(), Levels::name);
            let (array, _) = source::array(self.world, &name, self.shape, padding, read)?;
            let (found, differences) = all.into_inner();
            Ok((array, found.over_ranks(self.world)?, differences.over_ranks(self.world)?))
        };
        // Most files of these types hold numbers that floats have, and need no other reading.
        let is_likely_exact = self.is_plain() && self.file.kind() != ScalarKind::F64;
        let mut levels = if is_likely_exact { None } else { Some(Levels::new(&given, first.origin(), 1.0)) };
        let (mut array, found, mut differences) = make(levels.as_ref())?;
        let coarse = differences.coarse(&first);
        let units = found.units(is_whole);
        let wanted = match coarse.first() {
            _ if found.rounded == 0 && units == Rescale::default() && !(is_whole && found.is_beyond_f64()) => None,
            _ if self.options.filters.is_cut() => Some((Level::from(units.intercept), units.slope)),
            Some(level) if 2 * coarse.len() > given.len() => Some((*level, differences.unit())),
            _ => Some((first.origin(), differences.unit())),
        };
        if wanted != levels.as_ref().map(|levels| (levels.origin(), levels.units().slope)) {
            // Not two arrays at the same time.
            drop(array);
            levels = wanted.map(|(origin, unit)| Levels::new(&given, origin, unit));
            (array, _, differences) = make(levels.as_ref())?;
        }
        self.note_few(&found);
        let coarse = levels.as_ref().map(|levels| differences.coarse(levels)).unwrap_or_default();
        self.note_values(&found, &coarse);
        self.tell_late_note();
        let is_coarse = found.range().is_some_and(|(least, most)| {
            let size = least.abs().max(most.abs()) as f32;
            found.rounded > 0 && (most - least) < FEW * f64::from(size.next_up() - size)
        });
        let range = found.finite().map(|(least, most)| [least, most]);
        let units = levels.as_ref().map(Levels::units).unwrap_or_default();
        Ok(Field { array, units, levels: self.samples(levels.as_ref()), range, is_coarse })
    }

    /// The samples of the levels; without any the values are the samples.
    fn samples(&self, levels: Option<&Levels>) -> Vec<f32> {
        let Some(levels) = levels else { return plain_levels(self.options) };
        self.options.levels().into_iter().map(|level| levels.sample(level)).collect()
    }

    /// The level from which samples count at first.
    ///
    /// It is the one farthest from 0: near it values of 64 bits have most digits that floats lack.
    /// Ends of a range are compared with only, and differences to 0 keep the other values.
    fn first_origin(&self, levels: &[Level]) -> Level {
        match levels {
            _ if self.options.filters.is_range() => Level::from(0.0),
            levels => {
                let farthest = levels.iter().max_by(|a, b| a.nearest.abs().total_cmp(&b.nearest.abs()));
                farthest.copied().unwrap_or(Level::from(0.0))
            }
        }
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
        let padding = padding(self.options, &plain_levels(self.options));
        let (array, _) = source::array(self.world, NAME, self.shape, padding, read)?;
        self.tell_late_note();
        Ok(Field::plain(array, self.options))
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

    /// Notes on samples that no surface reaches, and on levels near which floats round samples.
    fn note_values(&self, found: &Found, coarse: &[Level]) {
        if self.world.rank() > 0 {
            return;
        }
        if found.nan > 0 && found.nan < found.all {
            complain(format_args!(
                "note: {} of {} samples are NaN; they count as below every isovalue",
                found.nan, found.all
            ));
        }
        for level in coarse {
            complain(format_args!(
                "note: 32-bit floats round the samples near {level} where they keep those near the other isovalues; the surface \
                 is on the right side of every sample, and exact if {level} is the only isovalue"
            ));
        }
    }

    /// On the rank that has read the last sample.
    fn tell_late_note(&self) {
        self.file.late_note().into_iter().for_each(|note| complain(format_args!("note: {}", said(&note))));
    }
}
