//! Minimum and maximum of cells.

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

use super::host::ends;
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

/// Partial result for exchange between ranks: keys of numbers, and counts.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Found {
    pub min: u64,
    pub max: u64,
    pub nans: u64,
    pub numbers: u64,
}

/// An inclusive range of keys, in the order of the host and of the device.
pub(crate) struct KeyRange {
    host: (u64, u64),
    device: (u32, u32),
}

impl KeyRange {
    /// All numbers.
    pub(crate) const ALL: Self = Self { host: (0, u64::MAX), device: (0, u32::MAX) };

    /// The range in the order of a number type; `None` if no number is in the range.
    pub(crate) fn ordered<S: Number>(&self) -> Option<RangeInclusive<S::Ordered>> {
        let key = |number: S| number.key().unwrap_or_default();
        let (low, high) = (self.host.0.max(key(S::LEAST)), self.host.1.min(key(S::MOST)));
        (low <= high).then(|| S::from_key(low).ordered()..=S::from_key(high).ordered())
    }

    /// The range from one number to another.
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

pub(super) const NOTHING: Found = Found { min: u64::MAX, max: 0, nans: 0, numbers: 0 };

impl Found {
    /// Partial result of a block of numbers, restricted to a range.
    pub(crate) fn of<S: Number>(numbers: &[S], range: &RangeInclusive<S::Ordered>) -> Self {
        let ends = ends(numbers, range);
        let nans = (numbers.len() - ends.numbers) as u64;
        if ends.numbers == 0 {
            return Self { nans, ..NOTHING };
        }
        Self { min: S::key_of(ends.min), max: S::key_of(ends.max), nans, numbers: ends.numbers as u64 }
    }

    /// Partial result without a number in the range.
    fn left_out<S>(numbers: &[S]) -> Self {
        Self { nans: numbers.len() as u64, ..NOTHING }
    }

    /// Adds the partial result of another rank.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.nans += other.nans;
        self.numbers += other.numbers;
    }
}

/// [`World::extremes`] of cells with a stride and of numbers in an inclusive range; other numbers
/// are ignored and counted like NaNs. Collective.
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
    let found = world.found("extremes", section.into(), stride, &KeyRange::of(range))?;
    Ok(T::each(|component| found[component].extremes()))
}

impl World {
    /// The minimum and maximum of a section, component by component; NaNs are ignored and counted.
    /// `None` if there are no other numbers. −0 is smaller than +0. The same on every rank and for
    /// every decomposition. Collective.
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
        let found = self.found("extremes", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].extremes()))
    }

    /// The minimum of a section, component by component: a NaN if any cell is a NaN, `None` without
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
        let found = self.found("min", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].or_nan(found[component].min)))
    }

    /// The maximum of a section, component by component: a NaN if any cell is a NaN, `None` without
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
        let found = self.found("max", section.into(), Stride::ALL, &KeyRange::ALL)?;
        Ok(T::each(|component| found[component].or_nan(found[component].max)))
    }

    fn found<T: Reducible, const D: usize>(
        &self,
        verb: &'static str,
        section: Section<T, D>,
        stride: Stride,
        within: &KeyRange,
    ) -> Result<Vec<Found>> {
        collective(self, verb, &[section], hash((stride, within.host)), |operand| {
            let mut found = local(&operand.strided(stride), within)?;
            self.inner_group().all_reduce(&mut found, Found::merge)?;
            Ok(found)
        })
    }
}

impl Found {
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

/// Partial results of this rank, one per component; numbers outside of the range are counted like
/// NaNs.
pub(crate) fn local<R: Reduced>(operand: &R, within: &KeyRange) -> Result<Vec<Found>> {
    let mut found = vec![NOTHING; operand.components()];
    let Some(format) = operand.format() else {
        let range = within.ordered::<R::Of>();
        let components = operand.components();
        let start = || vec![NOTHING; components];
        let all = operand.fold_on_host(0, start, |found, component, numbers| {
            let of_block = range.as_ref().map_or(Found::left_out(numbers), |range| Found::of(numbers, range));
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
            Found { nans, ..NOTHING }
        } else {
            Found { min: key(min), max: key(max), nans, numbers }
        };
    }
    Ok(found)
}
