//! Positions of the minimum and maximum.

use std::cmp::Ordering;

use super::cell_position::CellPosition;
use super::extremes::{KeyRange, NO_NUMBERS, PartialExtremes, local_extremes};
use super::number::{Number, Reducible};
use super::operand::{LocalOperand, collective};
use crate::World;
use crate::array::{GlobalSection, IntoGlobalSection};
use crate::error::{CallSite, Result};
use crate::region::Region;
use crate::world::CollectiveWorld;
use crate::world::Section;

/// Cell and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<S, const D: usize> {
    /// Position in global coordinates.
    pub position: [i64; D],
    /// Number in the cell.
    pub value: S,
}

/// The extreme to search for: minimum or maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extreme {
    Smallest,
    Largest,
}

impl Extreme {
    /// Key of the extreme in a partial result.
    fn key(self, found: &PartialExtremes) -> u64 {
        match self {
            Self::Smallest => found.min,
            Self::Largest => found.max,
        }
    }

    /// Order of two partial results, the more extreme one first; results without numbers come last.
    fn compare(self, one: &PartialExtremes, other: &PartialExtremes) -> Ordering {
        let keys = [one, other].map(|found| (found.numbers == 0, self.key(found)));
        match self {
            Self::Smallest => keys[0].cmp(&keys[1]),
            Self::Largest => keys[0].0.cmp(&keys[1].0).then(keys[1].1.cmp(&keys[0].1)),
        }
    }
}

/// Partial result of some cells, and the position of the first cell with the extreme.
#[derive(Debug, Clone, Copy)]
struct BestCell {
    found: PartialExtremes,
    position: CellPosition,
    /// Index of the box that contains the cell.
    index: usize,
}

impl BestCell {
    const NONE: Self = Self { found: NO_NUMBERS, position: CellPosition::NOWHERE, index: usize::MAX };

    /// Adds the partial result of other cells. Calls `position` to find their first cell with the
    /// extreme, if that cell may precede the present one.
    fn merge(&mut self, end: Extreme, found: &PartialExtremes, index: usize, position: impl FnOnce() -> CellPosition) {
        match end.compare(found, &self.found) {
            // Cells of one box are visited in order.
            Ordering::Equal if index != self.index && found.numbers > 0 => {
                let position = position();
                if position < self.position {
                    (self.position, self.index) = (position, index);
                }
            }
            Ordering::Less => (self.position, self.index) = (position(), index),
            _ => {}
        }
        self.found.merge(found);
    }
}

impl World {
    /// Finds the first cell, axis 0 fastest, with the minimum of a section, component by component;
    /// NaNs are ignored, and −0 is smaller than +0. `None` if there is no number. Collective; every
    /// rank passes the same section.
    ///
    /// Cost: as [`extremes`](Self::extremes). If kernels do the reduction, the ranks that hold the
    /// minimum then locate it by bisection of the region: about log₂(cells) more dispatches, over
    /// as many cells as one more pass.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    ///
    /// # Examples
    /// ```
    /// # use zippy::{Layout, Split};
    /// zippy::run(|world| {
    ///     let a = world.array::<f32, 2>("a", &Layout::new([9, 7]).split([Split::Even(2), Split::Even(3)]))?;
    ///     a.fill_with(|[x, y]| ((x - 6).pow(2) + (y - 2).pow(2)) as f32)?;
    ///     let least = world.argmin(a.at(..))?.unwrap();
    ///     assert_eq!((least.position, least.value), ([6, 2], 0.0));
    ///     let most = world.argmax(a.at((.., 1..4)))?.unwrap();
    ///     assert_eq!((most.position, most.value), ([0, 1], 37.0), "(0, 3) has the same number, but comes later");
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn argmin<T: Reducible, const D: usize>(
        &self,
        section: impl IntoGlobalSection<T, D>,
    ) -> Result<T::Each<Option<Located<T::Scalar, D>>>> {
        let _call = CallSite::enter();
        self.located("argmin", section.into(), Extreme::Smallest)
    }

    /// Finds the first cell, axis 0 fastest, with the maximum of a section; see
    /// [`argmin`](Self::argmin).
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    #[track_caller]
    pub fn argmax<T: Reducible, const D: usize>(
        &self,
        section: impl IntoGlobalSection<T, D>,
    ) -> Result<T::Each<Option<Located<T::Scalar, D>>>> {
        let _call = CallSite::enter();
        self.located("argmax", section.into(), Extreme::Largest)
    }

    fn located<T: Reducible, const D: usize>(
        &self,
        verb: &'static str,
        section: GlobalSection<T, D>,
        end: Extreme,
    ) -> Result<T::Each<Option<Located<T::Scalar, D>>>> {
        collective(self, verb, &[Section::Global(section)], 0, |operand| {
            let on_host = operand.format().is_none().then(|| best_on_host(operand, end)).transpose()?;
            let mine = match &on_host {
                Some(best) => best.iter().map(|best| best.found).collect(),
                None => local_extremes(operand, &KeyRange::ALL)?,
            };
            let mut all = mine.clone();
            self.inner_group().all_reduce(&mut all, PartialExtremes::merge)?;
            let mut spots = vec![CellPosition::NOWHERE; T::COMPONENTS];
            for (component, position) in spots.iter_mut().enumerate() {
                let wanted = end.key(&all[component]);
                if mine[component].numbers > 0 && end.key(&mine[component]) == wanted {
                    *position = match &on_host {
                        Some(best) => best[component].position,
                        None => bisect_on_device(operand, component, &|found| {
                            found.numbers > 0 && end.key(found) == wanted
                        })?,
                    };
                }
            }
            self.inner_group().all_reduce(&mut spots, |least, other| *least = (*least).min(*other))?;
            Ok(T::each(|component| {
                let position = spots[component].position();
                let value = T::Scalar::from_key(end.key(&all[component]));
                (all[component].numbers > 0).then_some(Located { position, value })
            }))
        })
    }
}

/// Partial results of this rank's cells on the host, one per component.
fn best_on_host<S: Number>(operand: &LocalOperand<S, 1>, end: Extreme) -> Result<Vec<BestCell>> {
    let regions: Vec<Region> = operand.aligned().iter().map(|boxes| boxes.0[0].1).collect();
    let components = operand.components();
    let Some(range) = KeyRange::ALL.ordered::<S>() else { return Ok(vec![BestCell::NONE; components]) };
    let start = || vec![BestCell::NONE; components];
    let all = operand.fold_on_host(0, start, |best, block| {
        let numbers = block.numbers[0];
        let found = PartialExtremes::of(numbers, &range);
        best[block.component].merge(end, &found, block.index, || {
            let wanted = S::from_key(end.key(&found)).ordered();
            let before = numbers.iter().position(|number| number.ordered() == wanted).unwrap_or_default();
            CellPosition::of_cell(&regions[block.index], block.first + before as u64)
        });
    })?;
    let mut best = start();
    for some in all {
        for (best, some) in best.iter_mut().zip(some) {
            best.merge(end, &some.found, some.index, || some.position);
        }
    }
    Ok(best)
}

/// Finds the first cell of this rank with the extreme, by bisection on the device.
fn bisect_on_device<S: Number>(
    operand: &LocalOperand<S, 1>,
    component: usize,
    has: &dyn Fn(&PartialExtremes) -> bool,
) -> Result<CellPosition> {
    let mut least = CellPosition::NOWHERE;
    for boxes in operand.aligned() {
        let (chunk, region) = boxes.0[0];
        let has_cell = |region: Region| {
            Ok(has(&local_extremes(&operand.restricted_to(chunk, region), &KeyRange::ALL)?[component]))
        };
        if CellPosition::new(&region.start) > least || !has_cell(region)? {
            continue;
        }
        least = least.min(CellPosition::bisect(region, has_cell)?);
    }
    Ok(least)
}
