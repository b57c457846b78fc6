//! Positions of the minimum and maximum.

use std::cmp::Ordering;

use super::cell_position::CellPosition;
use super::extremes::{Found, KeyRange, NOTHING, local};
use super::number::{Number, Reducible};
use super::operand::{LocalOperand, collective};
use crate::World;
use crate::array::{GlobalSection, IntoGlobalSection};
use crate::error::{CallSite, Result};
use crate::region::Region;
use crate::world::CollectiveWorld;
use crate::world::Section;

/// A cell and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<S, const D: usize> {
    /// The position, in global coordinates.
    pub position: [i64; D],
    /// The number there.
    pub value: S,
}

/// The extreme to search for: minimum or maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extreme {
    Smallest,
    Largest,
}

impl Extreme {
    /// The key of the extreme.
    fn of(self, found: &Found) -> u64 {
        match self {
            Self::Smallest => found.min,
            Self::Largest => found.max,
        }
    }

    /// Order of two partial results, the better one first; results without numbers come last.
    fn order(self, one: &Found, other: &Found) -> Ordering {
        let keys = [one, other].map(|found| (found.numbers == 0, self.of(found)));
        match self {
            Self::Smallest => keys[0].cmp(&keys[1]),
            Self::Largest => keys[0].0.cmp(&keys[1].0).then(keys[1].1.cmp(&keys[0].1)),
        }
    }
}

/// Partial result of some cells, and the first cell with the extreme.
#[derive(Debug, Clone, Copy)]
struct BestCell {
    found: Found,
    spot: CellPosition,
    /// Index of the box that contains the cell.
    index: usize,
}

impl BestCell {
    const NONE: Self = Self { found: NOTHING, spot: CellPosition::NOWHERE, index: usize::MAX };

    /// Adds the partial result of other cells; calls `spot` if one of them may be the first cell
    /// with the extreme.
    fn merge(&mut self, end: Extreme, found: &Found, index: usize, spot: impl FnOnce() -> CellPosition) {
        match end.order(found, &self.found) {
            // Cells of one box are visited in order.
            Ordering::Equal if index != self.index && found.numbers > 0 => {
                let spot = spot();
                if spot < self.spot {
                    (self.spot, self.index) = (spot, index);
                }
            }
            Ordering::Less => (self.spot, self.index) = (spot(), index),
            _ => {}
        }
        self.found.merge(found);
    }
}

impl World {
    /// The first cell, axis 0 fastest, with the minimum of a section, component by component; NaNs
    /// are ignored, and −0 is smaller than +0. `None` if there is no number. Collective; every rank
    /// passes the same section.
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

    /// The first cell, axis 0 fastest, with the maximum of a section; see [`argmin`](Self::argmin).
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
                None => local(operand, &KeyRange::ALL)?,
            };
            let mut all = mine.clone();
            self.inner_group().all_reduce(&mut all, Found::merge)?;
            let mut spots = vec![CellPosition::NOWHERE; T::COMPONENTS];
            for (component, spot) in spots.iter_mut().enumerate() {
                let wanted = end.of(&all[component]);
                if mine[component].numbers > 0 && end.of(&mine[component]) == wanted {
                    *spot = match &on_host {
                        Some(best) => best[component].spot,
                        None => first(operand, component, &|found| found.numbers > 0 && end.of(found) == wanted)?,
                    };
                }
            }
            self.inner_group().all_reduce(&mut spots, |least, other| *least = (*least).min(*other))?;
            Ok(T::each(|component| {
                let position = spots[component].position();
                let value = T::Scalar::from_key(end.of(&all[component]));
                (all[component].numbers > 0).then_some(Located { position, value })
            }))
        })
    }
}

/// Partial results of this rank on the host, one per component.
fn best_on_host<S: Number>(operand: &LocalOperand<S, 1>, end: Extreme) -> Result<Vec<BestCell>> {
    let regions: Vec<Region> = operand.aligned().iter().map(|boxes| boxes.0[0].1).collect();
    let components = operand.components();
    let Some(range) = KeyRange::ALL.ordered::<S>() else { return Ok(vec![BestCell::NONE; components]) };
    let start = || vec![BestCell::NONE; components];
    let all = operand.fold_on_host(0, start, |best, block| {
        let numbers = block.numbers[0];
        let found = Found::of(numbers, &range);
        best[block.component].merge(end, &found, block.index, || {
            let wanted = S::from_key(end.of(&found)).ordered();
            let before = numbers.iter().position(|number| number.ordered() == wanted).unwrap_or_default();
            CellPosition::of_cell(&regions[block.index], block.first + before as u64)
        });
    })?;
    let mut best = start();
    for some in all {
        for (best, some) in best.iter_mut().zip(some) {
            best.merge(end, &some.found, some.index, || some.spot);
        }
    }
    Ok(best)
}

/// The first cell of this rank with the number, found on the device.
fn first<S: Number>(
    operand: &LocalOperand<S, 1>,
    component: usize,
    has: &dyn Fn(&Found) -> bool,
) -> Result<CellPosition> {
    let mut least = CellPosition::NOWHERE;
    for boxes in operand.aligned() {
        let (chunk, region) = boxes.0[0];
        let there = |region: Region| Ok(has(&local(&operand.only(chunk, region), &KeyRange::ALL)?[component]));
        if CellPosition::new(&region.start) > least || !there(region)? {
            continue;
        }
        least = least.min(CellPosition::first(region, there)?);
    }
    Ok(least)
}
