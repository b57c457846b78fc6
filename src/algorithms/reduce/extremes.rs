//! Smallest and largest cells.

use bytemuck::{Pod, Zeroable};

use super::number::{Number, Reducible};
use super::operand::{Operand, collective};
use super::source::EXTREMES;
use crate::World;
use crate::error::Result;
use crate::world::Section;

/// The smallest and the largest of some numbers, and what has no place in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extremes<S> {
    /// The smallest number that is not a NaN.
    pub min: S,
    /// The largest number that is not a NaN.
    pub max: S,
    /// NaNs that were left out.
    pub nans: u64,
}

/// What ranks exchange: keys of numbers, and counts.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Found {
    pub min: u64,
    pub max: u64,
    pub nans: u64,
    pub numbers: u64,
}

const NOTHING: Found = Found { min: u64::MAX, max: 0, nans: 0, numbers: 0 };

impl Found {
    /// Takes in what another rank has found.
    pub fn merge(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.nans += other.nans;
        self.numbers += other.numbers;
    }
}

impl World {
    /// The smallest and the largest cell of a section, component by component; NaNs are left out and counted. `None` where
    /// no number is left. −0 is smaller than +0. The same on every rank, for every decomposition. Collective.
    ///
    /// Every rank names the same global section, or a local section of its own; ghost cells count only where a local
    /// section names them. Cost: as [`sum`](Self::sum), with a smaller message.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
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
    pub fn extremes<T: Reducible, const D: usize>(
        &self,
        section: impl Into<Section<T, D>>,
    ) -> Result<T::Each<Option<Extremes<T::Scalar>>>> {
        let found = self.found("extremes", section.into())?;
        Ok(T::each(|component| {
            let Found { min, max, nans, numbers } = found[component];
            (numbers > 0).then(|| Extremes { min: T::Scalar::from_key(min), max: T::Scalar::from_key(max), nans })
        }))
    }

    /// The smallest cell of a section, component by component: a NaN where one is among the cells, `None` where there are no
    /// cells. −0 is smaller than +0. Collective; see [`extremes`](Self::extremes), which leaves NaNs out.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
    pub fn min<T: Reducible, const D: usize>(
        &self,
        section: impl Into<Section<T, D>>,
    ) -> Result<T::Each<Option<T::Scalar>>> {
        let found = self.found("min", section.into())?;
        Ok(T::each(|component| found[component].or_nan(found[component].min)))
    }

    /// The largest cell of a section, component by component: a NaN where one is among the cells, `None` where there are no
    /// cells. +0 is larger than −0. Collective; see [`extremes`](Self::extremes), which leaves NaNs out.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
    pub fn max<T: Reducible, const D: usize>(
        &self,
        section: impl Into<Section<T, D>>,
    ) -> Result<T::Each<Option<T::Scalar>>> {
        let found = self.found("max", section.into())?;
        Ok(T::each(|component| found[component].or_nan(found[component].max)))
    }

    fn found<T: Reducible, const D: usize>(&self, verb: &'static str, section: Section<T, D>) -> Result<Vec<Found>> {
        collective(self, verb, &[section], 0, |operand| {
            let mut found = local::<T>(operand)?;
            self.inner().all_reduce(&mut found, Found::merge)?;
            Ok(found)
        })
    }
}

impl Found {
    fn or_nan<S: Number>(&self, key: u64) -> Option<S> {
        match (self.nans, self.numbers) {
            (0, 0) => None,
            (0, _) => Some(S::from_key(key)),
            _ => S::nan(),
        }
    }
}

/// What this rank has, a component each.
pub fn local<T: Reducible>(operand: &Operand<1>) -> Result<Vec<Found>> {
    let mut found = vec![NOTHING; T::COMPONENTS];
    let Some(format) = operand.format::<T>() else {
        operand.read::<T>(|component, [number]| {
            let found = &mut found[component];
            match number.key() {
                Some(key) => (found.min, found.max) = (found.min.min(key), found.max.max(key)),
                None => found.nans += 1,
            }
        })?;
        found.iter_mut().for_each(|found| found.numbers = operand.cells() - found.nans);
        return Ok(found);
    };
    for (component, found) in found.iter_mut().enumerate() {
        let (mut min, mut max, mut nans) = (u32::MAX, 0, 0);
        let each = |words: &[u32]| {
            (min, max) = (min.min(words[0]), max.max(words[1]));
            nans += u64::from(words[2]);
        };
        operand.fold::<T>(format, (&EXTREMES, &[]), component, each)?;
        let numbers = operand.cells() - nans;
        let key = |key: u32| T::Scalar::from_device_key(key).key().unwrap_or_default();
        *found = if numbers == 0 {
            Found { nans, ..NOTHING }
        } else {
            Found { min: key(min), max: key(max), nans, numbers }
        };
    }
    Ok(found)
}
