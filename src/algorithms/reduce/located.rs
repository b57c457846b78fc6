//! Where the smallest and the largest cells are.

use super::extremes::{Found, Within, local};
use super::number::{Number, Reducible};
use super::operand::{LocalOperand, collective};
use super::spot::Spot;
use crate::World;
use crate::array::{GlobalSection, IntoGlobalSection};
use crate::error::{CallSite, Result};
use crate::region::Region;
use crate::world::Section;

/// A cell and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<S, const D: usize> {
    /// The position, in global coordinates.
    pub position: [i64; D],
    /// The number there.
    pub value: S,
}

/// Which of the extremes is looked for.
type Pick = fn(&Found) -> u64;

impl World {
    /// The first cell, axis 0 fastest, that holds the smallest number of a section, component by component; NaNs are
    /// left out, and −0 is smaller than +0. `None` where there is no number. Collective; every rank names the same
    /// section.
    ///
    /// Cost: as [`extremes`](Self::extremes), then one more look at the cells of ranks that hold the number, halving
    /// where it is: about as many dispatches as the number of cells has bits.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
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
        self.located("argmin", section.into(), |found| found.min)
    }

    /// The first cell, axis 0 fastest, that holds the largest number of a section; see [`argmin`](Self::argmin).
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
    #[track_caller]
    pub fn argmax<T: Reducible, const D: usize>(
        &self,
        section: impl IntoGlobalSection<T, D>,
    ) -> Result<T::Each<Option<Located<T::Scalar, D>>>> {
        let _call = CallSite::enter();
        self.located("argmax", section.into(), |found| found.max)
    }

    fn located<T: Reducible, const D: usize>(
        &self,
        verb: &'static str,
        section: GlobalSection<T, D>,
        pick: Pick,
    ) -> Result<T::Each<Option<Located<T::Scalar, D>>>> {
        collective(self, verb, &[Section::Global(section)], 0, |operand| {
            let mine = local(operand, &Within::ALL)?;
            let mut all = mine.clone();
            self.inner().all_reduce(&mut all, Found::merge)?;
            let mut spots = vec![Spot::NOWHERE; T::COMPONENTS];
            for (component, spot) in spots.iter_mut().enumerate() {
                let wanted = pick(&all[component]);
                if mine[component].numbers > 0 && pick(&mine[component]) == wanted {
                    *spot = first(operand, component, &|found| found.numbers > 0 && pick(found) == wanted)?;
                }
            }
            self.inner().all_reduce(&mut spots, |least, other| *least = (*least).min(*other))?;
            Ok(T::each(|component| {
                let position = spots[component].position();
                let value = T::Scalar::from_key(pick(&all[component]));
                (all[component].numbers > 0).then_some(Located { position, value })
            }))
        })
    }
}

/// The first cell of this rank that has the number.
fn first<S: Number>(operand: &LocalOperand<S, 1>, component: usize, has: &dyn Fn(&Found) -> bool) -> Result<Spot> {
    let mut least = Spot::NOWHERE;
    for boxes in operand.aligned() {
        let (chunk, region) = boxes.0[0];
        let there = |region: Region| Ok(has(&local(&operand.only(chunk, region), &Within::ALL)?[component]));
        if Spot::new(&region.start) > least || !there(region)? {
            continue;
        }
        least = least.min(Spot::first(region, there)?);
    }
    Ok(least)
}
