//! Minimum and maximum of cells.

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

use super::host::extrema_within;
use super::number::{Number, Reducible};
use super::operand::{Stride, collective};
use super::reduced::Reduced;
use super::source::EXTREMES;
use crate::World;
use crate::error::{CallSite, Result};
use crate::world::{CollectiveWorld, IntoSection, Section, hash};

/// Minimum and maximum of numbers, and the number of NaNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extremes<S> {
    /// The smallest number that is not a NaN.
    pub min: S,
    /// The largest number that is not a NaN.
    pub max: S,
    /// Number of NaNs, which are ignored.
    pub nans: u64,
}

/// Minimum and maximum key and counts of some numbers, for exchange between ranks. `nans` includes
/// numbers outside of the searched range.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PartialExtremes {
    pub min: u64,
    pub max: u64,
    pub nans: u64,
    pub numbers: u64,
}

/// Inclusive range of numbers, as bounds of [`Number::key`] and [`Number::device_key`].
pub(crate) struct KeyRange {
    host: (u64, u64),
    device: (u32, u32),
}

impl KeyRange {
    /// Range of all numbers.
    pub(crate) const ALL: Self = Self { host: (0, u64::MAX), device: (0, u32::MAX) };

    /// The range in the ordered integers of a number type; `None` if no number is in the range.
    pub(crate) fn ordered<S: Number>(&self) -> Option<RangeInclusive<S::Ordered>> {
        let key = |number: S| number.key().unwrap_or_default();
        let (low, high) = (self.host.0.max(key(S::LEAST)), self.host.1.min(key(S::MOST)));
        (low <= high).then(|| S::from_key(low).ordered()..=S::from_key(high).ordered())
    }

    /// Range between two numbers, both included.
    pub(crate) fn of<S: Number>((low, high): (S, S)) -> Self {
        let (from, to) = (Self::from(low), Self::up_to(high));
        Self { host: (from.host.0, to.host.1), device: (from.device.0, to.device.1) }
    }

    /// The range of all numbers that are not smaller.
    pub(crate) fn from<S: Number>(low: S) -> Self {
        Self { host: (low.key().unwrap_or(u64::MAX), u64::MAX), device: (low.device_key(), u32::MAX) }
    }

    /// The range of all numbers that are not larger.
    pub(crate) fn up_to<S: Number>(high: S) -> Self {
        Self { host: (0, high.key().unwrap_or(0)), device: (0, high.device_key()) }
    }
}

pub(super) const NO_NUMBERS: PartialExtremes = PartialExtremes { min: u64::MAX, max: 0, nans: 0, numbers: 0 };

impl PartialExtremes {
    /// Partial result of a block of numbers; others than those in a range count as NaNs.
    pub(crate) fn of<S: Number>(numbers: &[S], range: &RangeInclusive<S::Ordered>) -> Self {
        let ends = extrema_within(numbers, range);
        let nans = (numbers.len() - ends.numbers) as u64;
        if ends.numbers == 0 {
            return Self { nans, ..NO_NUMBERS };
        }
        Self { min: S::key_of(ends.min), max: S::key_of(ends.max), nans, numbers: ends.numbers as u64 }
    }

    /// Partial result of a block without a number in the range.
    fn without_numbers<S>(numbers: &[S]) -> Self {
        Self { nans: numbers.len() as u64, ..NO_NUMBERS }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.nans += other.nans;
        self.numbers += other.numbers;
    }
}

/// [`World::extremes`] of the cells of a stride, restricted to numbers in an inclusive range; other
/// numbers are ignored and counted like NaNs. Collective.
///
/// # Errors
/// As [`World::extremes`].
#[track_caller]
pub fn strided_extremes<T: Reducible, const D: usize>(
    world: &World,
    section: impl IntoSection<T, D>,
    stride: Stride,
    range: (T::Scalar, T::Scalar),
) -> Result<T::Each<Option<Extremes<T::Scalar>>>> {
    let _call = CallSite::enter();
    let found = world.reduce_extremes("extremes", section.into(), stride, &KeyRange::of(range))?;
    Ok(T::each(|component| found[component].extremes()))
}

impl World {
    /// Minimum and maximum of a section, component by component; NaNs are ignored and counted.
    /// `None` if there are no other numbers. −0 is smaller than +0. The result is the same on every
    /// rank and for every decomposition. Collective.
    ///
    /// Every rank passes the same global section, or a local section of its own; ghost cells are
    /// included only if a local section contains them. Cost: as [`sum`](Self::sum), with a smaller
    /// message.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    ///
    /// # Examples
    /// ```
    /// # use zippy::Layout;
    /// zippy::run(|world| {
    ///     let a = world.array::<i16, 1>("a", &Layout::new([100]))?;
    ///     a.fill_with(|[x]| (x as i16 - 30).pow(2))?;
    ///     let found = world.extremes(a.at(10..))?.unwrap();
    ///     assert_eq!((found.min, found.max), (0, 69 * 69));
    ///     assert_eq!(world.extremes(a.at(5..5))?, None);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn extremes<T: Reducible, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
    ) -> Result<T::Each<Option<Extremes<T::Scalar>>>> {
        let _call = CallSite::enter();
        let found = self.reduce_extremes("extremes", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].extremes()))
    }

    /// Minimum of a section, component by component: a NaN if any cell is a NaN, `None` without
    /// cells. −0 is smaller than +0. Collective; [`extremes`](Self::extremes) ignores NaNs.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    #[track_caller]
    pub fn min<T: Reducible, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
    ) -> Result<T::Each<Option<T::Scalar>>> {
        let _call = CallSite::enter();
        let found = self.reduce_extremes("min", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].or_nan(found[component].min)))
    }

    /// Maximum of a section, component by component: a NaN if any cell is a NaN, `None` without
    /// cells. +0 is larger than −0. Collective; [`extremes`](Self::extremes) ignores NaNs.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    #[track_caller]
    pub fn max<T: Reducible, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
    ) -> Result<T::Each<Option<T::Scalar>>> {
        let _call = CallSite::enter();
        let found = self.reduce_extremes("max", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].or_nan(found[component].max)))
    }

    fn reduce_extremes<T: Reducible, const D: usize>(
        &self,
        verb: &'static str,
        section: Section<T, D>,
        stride: Stride,
        within: &KeyRange,
    ) -> Result<Vec<PartialExtremes>> {
        collective(self, verb, &[section], hash((stride, within.host)), |operand| {
            let mut found = local_extremes(&operand.strided(stride), within)?;
            self.inner_group().all_reduce(&mut found, PartialExtremes::merge)?;
            Ok(found)
        })
    }
}

impl PartialExtremes {
    fn extremes<S: Number>(&self) -> Option<Extremes<S>> {
        let Self { min, max, nans, numbers } = *self;
        (numbers > 0).then(|| Extremes { min: S::from_key(min), max: S::from_key(max), nans })
    }

    fn or_nan<S: Number>(&self, key: u64) -> Option<S> {
        match (self.nans, self.numbers) {
            (0, 0) => None,
            (0, _) => Some(S::from_key(key)),
            _ => S::nan(),
        }
    }
}

/// Minima and maxima of this rank's cells, one per component; numbers outside of the range count as
/// NaNs.
pub(crate) fn local_extremes<R: Reduced>(operand: &R, within: &KeyRange) -> Result<Vec<PartialExtremes>> {
    let mut found = vec![NO_NUMBERS; operand.components()];
    let Some(format) = operand.format() else {
        let range = within.ordered::<R::Of>();
        let components = operand.components();
        let start = || vec![NO_NUMBERS; components];
        let all = operand.fold_on_host(0, start, |found, component, numbers| {
            let of_block = range
                .as_ref()
                .map_or(PartialExtremes::without_numbers(numbers), |range| PartialExtremes::of(numbers, range));
            found[component].merge(&of_block);
        })?;
        all.iter().for_each(|some| found.iter_mut().zip(some).for_each(|(found, some)| found.merge(some)));
        return Ok(found);
    };
    for (component, found) in found.iter_mut().enumerate() {
        let (mut min, mut max, mut nans) = (u32::MAX, 0, 0);
        let mut each = |words: &[u32]| {
            (min, max) = (min.min(words[0]), max.max(words[1]));
            nans += u64::from(words[2]);
        };
        operand.fold(format, (&EXTREMES, &[within.device.0, within.device.1]), component, &mut each)?;
        let numbers = operand.cells() - nans;
        let key = |key: u32| R::Of::from_device_key(key).key().unwrap_or_default();
        *found = if numbers == 0 {
            PartialExtremes { nans, ..NO_NUMBERS }
        } else {
            PartialExtremes { min: key(min), max: key(max), nans, numbers }
        };
    }
    Ok(found)
}
