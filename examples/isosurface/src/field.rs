//! Samples of a file in their representation on the device.

use std::cell::RefCell;

use half::f16;
use zippy::region::Region;
use zippy::{GlobalArray, Result, World};
use zippy_files::said;
use zippy_io::volume::{ScalarKind, VolumeFile};
use zippy_render::volume::Rescale;

use crate::levels::{Differences, Levels, NAME, next_up};
use crate::options::Options;
use crate::say::complain;
use crate::source::{self, BoxConsumer, FieldSample, Padding, Source};
use crate::units::{Level, Number, NumberStatistics};

/// Number of distinct values below which a note is printed.
const FEW_VALUES: f64 = 4096.0;

/// Field, and the mapping of its samples to values.
pub(crate) struct Field<T> {
    pub array: GlobalArray<T, 3>,
    /// Mapping from samples to values, injective in 32-bit floats.
    pub units: Rescale,
    /// Samples of the [levels](Options::levels). A number of the file and its sample are on the
    /// same side of each level.
    pub levels: Vec<f32>,
    /// Smallest and largest finite number of the file, if samples round numbers.
    range: Option<[f64; 2]>,
    /// True if floats do not distinguish the numbers of the file.
    pub is_coarse: bool,
}

impl<T: FieldSample> Field<T> {
    fn plain(array: GlobalArray<T, 3>, options: &Options) -> Self {
        let levels = plain_levels(options);
        Self { array, units: Rescale::default(), levels, range: None, is_coarse: false }
    }

    /// Smallest and largest value; `None` if all values are NaN. Collective.
    pub(crate) fn extremes(&self, world: &World) -> Result<Option<[f64; 2]>> {
        let samples = source::extremes(world, &self.array)?;
        Ok(self.range.or(samples.map(|samples| samples.map(|sample| value(&self.units, sample)))))
    }
}

/// Samples of levels if samples are the values, rounded to the side with the same order in floats.
fn plain_levels(options: &Options) -> Vec<f32> {
    let up = |level: f64| match sample(&Rescale::default(), level) {
        nearest if f64::from(nearest) < level => next_up(nearest),
        nearest => nearest,
    };
    let is_upper_end = |index| options.filters.is_range() && index == 1;
    let levels = options.levels().into_iter().map(|level| level.nearest).enumerate();
    levels.map(|(index, level)| if is_upper_end(index) { -up(-level) } else { up(level) }).collect()
}

/// Operation on a field of any sample type.
pub(crate) trait FieldOperation {
    /// Performs the operation. Collective.
    fn run<T: FieldSample>(&self, field: Field<T>) -> Result<()>;
}

/// Reads the field of a source and performs an operation on it. Collective.
pub(crate) fn with_field(
    world: &World,
    options: &Options,
    source: &Source,
    operation: &impl FieldOperation,
) -> Result<()> {
    let shape = source.shape();
    match source {
        Source::Formula(formula, n) => {
            let read = |boxes: &[Region], done: BoxConsumer<'_, f32>| {
                boxes.iter().enumerate().try_for_each(|(index, region)| {
                    let at = |point: zippy::extents::Index| std::array::from_fn(|axis| point[axis]);
                    done(index, region.points().map(|point| formula.value(*n, at(point))).collect())
                })
            };
            let padding = padding(options, &plain_levels(options));
            let (array, _) = source::array(world, NAME, shape, padding, read)?;
            operation.run(Field::plain(array, options))
        }
        Source::File(file) => {
            let reader = FileReader { world, options, file, shape };
            macro_rules! label {
                ($type:ty) => {
                    operation.run(reader.label::<$type>(options.label.unwrap_or_default())?)
                };
            }
            macro_rules! small {
                ($type:ty) => {
                    match reader.small::<$type>()? {
                        Some(field) => operation.run(field),
                        None => operation.run(reader.large::<$type>()?),
                    }
                };
            }
            macro_rules! large {
                ($type:ty) => {
                    operation.run(reader.large::<$type>()?)
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
                _ if options.label.is_some() => each!(label),
                ScalarKind::U8 if reader.is_plain() => small!(u8),
                ScalarKind::I8 if reader.is_plain() => small!(i8),
                ScalarKind::U16 if reader.is_plain() => small!(u16),
                ScalarKind::I16 if reader.is_plain() => small!(i16),
                _ => each!(large),
            }
        }
    }
}

/// Layer that `--pad` adds around samples with these levels.
fn padding(options: &Options, levels: &[f32]) -> Option<Padding> {
    let is_above = options.filters.keeps_below();
    let level = if options.filters.is_cut() { None } else { levels.iter().copied().reduce(f32::min) };
    options.pad.then_some(Padding { level, is_above })
}

/// Sample of a value, limited to the range of 32-bit floats.
pub(crate) fn sample(units: &Rescale, value: f64) -> f32 {
    let most = f64::from(f32::MAX);
    units.stored(value).clamp(-most, most) as f32
}

pub(crate) fn value(units: &Rescale, sample: f32) -> f64 {
    units.slope * f64::from(sample) + units.intercept
}

struct FileReader<'a> {
    world: &'a World,
    options: &'a Options,
    file: &'a VolumeFile,
    shape: [i64; 3],
}

impl FileReader<'_> {
    /// True if the numbers of the file are its values.
    fn is_plain(&self) -> bool {
        self.file.rescale().is_none()
    }

    /// Reads samples of 8 or 16 bits unchanged; `None` if their type has no number for the layer of
    /// `--pad`.
    fn small<T: FieldSample + Number>(&self) -> Result<Option<Field<T>>> {
        let read = |boxes: &[Region], done: BoxConsumer<'_, T>| {
            self.file.read_regions::<T, _>(&source::file_regions(self.file, boxes), done)
        };
        let padding = padding(self.options, &plain_levels(self.options));
        let (array, is_padded) = source::array(self.world, NAME, self.shape, padding, read)?;
        if !is_padded {
            return Ok(None);
        }
        self.print_late_note();
        Ok(Some(Field::plain(array, self.options)))
    }

    /// Reads values as 32-bit floats, possibly as differences to a level.
    fn large<N: Number>(&self) -> Result<Field<f32>> {
        match self.file.rescale() {
            None => self.read_as_floats(|number: N| number),
            Some((slope, intercept)) => self.read_as_floats(|number: N| slope * number.real() + intercept),
        }
    }

    /// Reads values of any type as 32-bit floats: unchanged if floats hold all of them, else as
    /// differences to an origin.
    fn read_as_floats<N: Number, V: Number>(&self, to_value: impl Fn(N) -> V) -> Result<Field<f32>> {
        let requested = self.options.levels();
        let is_whole = self.is_plain() && self.file.kind().range().is_some();
        let first = Levels::new(&requested, self.first_origin(&requested), 1.0);
        let read_array = |levels: Option<&Levels>| -> Result<(GlobalArray<f32, 3>, NumberStatistics, Differences)> {
            let counted = levels.unwrap_or(&first);
            let all = RefCell::new((NumberStatistics::default(), Differences::new(counted)));
            let read = |boxes: &[Region], done: BoxConsumer<'_, f32>| {
                self.file.read_regions::<N, _>(&source::file_regions(self.file, boxes), |index, samples| {
                    let (statistics, differences) = &mut *all.borrow_mut();
                    let convert = |sample: N| {
                        let value = to_value(sample);
                        statistics.add(value.real());
                        differences.add(counted, value);
                        levels.map_or(value.real() as f32, |levels| levels.to_sample(value))
                    };
                    done(index, samples.into_iter().map(convert).collect())
                })
            };
            let padding = padding(self.options, &self.samples(levels));
            let name = levels.map_or(NAME.to_owned(), Levels::name);
            let (array, _) = source::array(self.world, &name, self.shape, padding, read)?;
            let (statistics, differences) = all.into_inner();
            Ok((array, statistics.over_ranks(self.world)?, differences.over_ranks(self.world)?))
        };
        // Floats hold the values of most files of these types: one pass is enough.
        let is_likely_exact = self.is_plain() && self.file.kind() != ScalarKind::F64;
        let mut levels = if is_likely_exact { None } else { Some(Levels::new(&requested, first.origin(), 1.0)) };
        let (mut array, statistics, mut differences) = read_array(levels.as_ref())?;
        let coarse = differences.coarse(&first);
        let units = statistics.units(is_whole);
        let wanted = match coarse.first() {
            _ if statistics.rounded == 0
                && units == Rescale::default()
                && !(is_whole && statistics.is_beyond_f64()) =>
            {
                None
            }
            _ if self.options.filters.is_cut() => Some((Level::from(units.intercept), units.slope)),
            Some(level) if 2 * coarse.len() > requested.len() => Some((*level, differences.unit())),
            _ => Some((first.origin(), differences.unit())),
        };
        if wanted != levels.as_ref().map(|levels| (levels.origin(), levels.units().slope)) {
            // Freed first, so that there are not two arrays at the same time.
            drop(array);
            levels = wanted.map(|(origin, unit)| Levels::new(&requested, origin, unit));
            (array, _, differences) = read_array(levels.as_ref())?;
        }
        self.note_few_values(&statistics);
        let coarse = levels.as_ref().map(|levels| differences.coarse(levels)).unwrap_or_default();
        self.note_values(&statistics, &coarse);
        self.print_late_note();
        let is_coarse = statistics.range().is_some_and(|(least, most)| {
            let size = least.abs().max(most.abs()) as f32;
            statistics.rounded > 0 && (most - least) < FEW_VALUES * f64::from(size.next_up() - size)
        });
        let range = statistics.finite().map(|(least, most)| [least, most]);
        let units = levels.as_ref().map(Levels::units).unwrap_or_default();
        Ok(Field { array, units, levels: self.samples(levels.as_ref()), range, is_coarse })
    }

    /// Samples of the levels; without `levels`, samples are the values.
    fn samples(&self, levels: Option<&Levels>) -> Vec<f32> {
        let Some(levels) = levels else { return plain_levels(self.options) };
        self.options.levels().into_iter().map(|level| levels.sample(level)).collect()
    }

    /// Origin of the first mapping of samples: the level farthest from 0, where 64-bit values lose
    /// most digits as floats. Range ends only serve comparisons, which differences to 0 preserve.
    fn first_origin(&self, levels: &[Level]) -> Level {
        match levels {
            _ if self.options.filters.is_range() => Level::from(0.0),
            levels => {
                let farthest = levels.iter().max_by(|a, b| a.nearest.abs().total_cmp(&b.nearest.abs()));
                farthest.copied().unwrap_or(Level::from(0.0))
            }
        }
    }

    /// Reads a field that is 1 in a label and 0 elsewhere.
    fn label<N: Number>(&self, label: i64) -> Result<Field<u8>> {
        let scale = self.file.rescale();
        let is_label = |number: N| match scale {
            None => number.is_whole(label),
            Some((slope, intercept)) => slope * number.real() + intercept == label as f64,
        };
        let read = |boxes: &[Region], done: BoxConsumer<'_, u8>| {
            self.file.read_regions::<N, _>(&source::file_regions(self.file, boxes), |index, samples| {
                done(index, samples.into_iter().map(|sample| u8::from(is_label(sample))).collect())
            })
        };
        let padding = padding(self.options, &plain_levels(self.options));
        let (array, _) = source::array(self.world, NAME, self.shape, padding, read)?;
        self.print_late_note();
        Ok(Field::plain(array, self.options))
    }

    /// Prints a note if the number type of the file is too coarse for its range of values.
    fn note_few_values(&self, statistics: &NumberStatistics) {
        let bits = match self.file.kind() {
            ScalarKind::F16 => 10,
            ScalarKind::F32 => 23,
            ScalarKind::F64 => 52,
            _ => return,
        };
        let Some((least, most)) = statistics.range().filter(|(least, most)| least < most) else { return };
        if self.file.rescale().is_some() || self.world.rank() > 0 {
            return;
        }
        let size = least.abs().max(most.abs());
        let count = (most - least) / (size.log2().floor() - f64::from(bits)).exp2();
        if count < FEW_VALUES {
            complain(format_args!(
                "note: the values of the file go from {least} to {most}; its type {} has only {} numbers in this range, and surfaces \
                 have steps",
                self.file.kind(),
                count.floor() + 1.0
            ));
        }
    }

    /// Prints notes about NaN, and about levels near which floats round samples.
    fn note_values(&self, statistics: &NumberStatistics, coarse: &[Level]) {
        if self.world.rank() > 0 {
            return;
        }
        if statistics.nan > 0 && statistics.nan < statistics.all {
            complain(format_args!(
                "note: {} of {} samples are NaN and count as below every isovalue",
                statistics.nan, statistics.all
            ));
        }
        for level in coarse {
            complain(format_args!(
                "note: 32-bit floats round the samples near {level}, because they are exact near the other isovalues; the surface \
                 of {level} is on the right side of every sample, and exact if {level} is the only isovalue"
            ));
        }
    }

    /// Prints the note about the end of the file, on the rank that read the last sample.
    fn print_late_note(&self) {
        self.file.late_note().into_iter().for_each(|note| complain(format_args!("note: {}", said(&note))));
    }
}
