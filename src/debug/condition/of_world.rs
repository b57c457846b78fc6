//! Conditions on the arrays of a running program.

use std::rc::Rc;

use super::resolve::Resolved;
use super::{Condition, Facts, Values, evaluate};
use crate::World;
use crate::algorithms::reduce::Number;
use crate::array::ArrayCore;
use crate::debug::compare::{compare, unlike};
use crate::debug::measure::{Scalars, of_type};
use crate::debug::protocol::{ElementType, Numbers};
use crate::error::{Error, Result};
use crate::history::GhostState;
use crate::world::hash;

impl Condition {
    /// Whether it is true now. Every rank calls, inside an operation that was compared, and all have the same answer. What is
    /// asked for is found where the cells are.
    ///
    /// # Errors
    /// A failure of this or of another rank; within, why it cannot be told, as [`holds_in`](Self::holds_in).
    pub(crate) fn holds(&self, world: &World) -> Result<Result<bool, String>> {
        let mut facts = OfWorld { world, arrays: world.alive_arrays().0 };
        let any = self.resolved(&facts);
        let named = any.as_ref().map(|any| any.iter().flatten().map(Resolved::arrays).collect::<Vec<_>>());
        if !alike(world, hash(named))? {
            let text = format!("`{self}` names an array that is alive on some ranks only: let go of it on all of them");
            return Ok(Err(text));
        }
        let any = match any {
            Ok(any) => any,
            Err(text) => return Ok(Err(text)),
        };
        match evaluate::holds(&any, &mut facts) {
            Ok(holds) => Ok(Ok(holds)),
            Err(Failed::Unknown(text)) => Ok(Err(text)),
            Err(Failed::Broken(error)) => Err(error),
        }
    }
}

/// Whether all ranks have the same number.
fn alike(world: &World, own: u64) -> Result<bool> {
    let mut ends = [[own; 2]];
    world.inner().all_reduce(&mut ends, |[least, most], [less, more]| {
        (*least, *most) = ((*least).min(*less), (*most).max(*more));
    })?;
    Ok(ends[0][0] == ends[0][1])
}

/// The global arrays of a program. Every rank asks the same.
struct OfWorld<'a> {
    world: &'a World,
    arrays: Vec<Rc<ArrayCore>>,
}

/// Why there is no answer.
enum Failed {
    /// The same on every rank.
    Unknown(String),
    /// This or another rank has failed.
    Broken(Error),
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self::Unknown(text)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl OfWorld<'_> {
    fn array(&self, number: u64) -> Result<&Rc<ArrayCore>, String> {
        let found = self.arrays.iter().find(|array| array.id().0 == number);
        found.ok_or_else(|| format!("there is no array {number}"))
    }

    fn pair(&self, [one, other]: [u64; 2]) -> Result<[&Rc<ArrayCore>; 2], String> {
        Ok([self.array(one)?, self.array(other)?])
    }
}

impl Facts for OfWorld<'_> {
    type Error = Failed;

    fn arrays(&self) -> Vec<(u64, &str)> {
        self.arrays.iter().map(|array| (array.id().0, array.name())).collect()
    }

    fn element(&self, array: u64) -> Result<ElementType, String> {
        Ok(ElementType::from(self.array(array)?.element()))
    }

    fn unlike(&self, pair: [u64; 2]) -> Option<String> {
        self.pair(pair).map_or_else(Some, unlike)
    }

    fn is_checked(&self) -> bool {
        self.world.is_checked()
    }

    fn values(&mut self, array: u64, numbers: &Numbers) -> Result<Vec<Values>, Failed> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, values, self.world, array, numbers)?)
    }

    fn least(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Option<f64>, Failed> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, least, self.world, array, numbers, component)?)
    }

    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, Failed> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, sum, self.world, array, numbers, component)?)
    }

    fn same(&mut self, pair: [u64; 2]) -> Result<bool, Failed> {
        Ok(compare(self.world, self.pair(pair)?)??.cells == 0)
    }

    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, Failed> {
        let array = self.array(array)?;
        let mut counts = [0_u64, 0];
        if let Some(ghosts) = array.ghosts() {
            match ghosts.states() {
                Some(states) => counts[0] = states.iter().filter(|(.., found)| *found == state).count() as u64,
                None => counts[1] = 1,
            }
        }
        self.world.inner().all_reduce(&mut counts, |sum, more| *sum += more)?;
        match counts {
            [count, 0] => Ok(count),
            _ => Err(Failed::Unknown(format!(
                "the chunks of array {:?} have other neighbours in another handle, so nothing is known of its ghost cells",
                array.name()
            ))),
        }
    }
}

fn values<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers) -> Result<Vec<Values>> {
    let spreads = Scalars::<S>::new(world, array, numbers)?.spreads(false)?;
    let values = spreads.into_iter().map(|spread| Values {
        nans: spread.nans,
        infinities: spread.infinities,
        extremes: spread.extremes.map(|(low, high)| (low.to_f64(), high.to_f64())),
    });
    Ok(values.collect())
}

fn least<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers, component: usize) -> Result<Option<f64>> {
    Scalars::<S>::new(world, array, numbers)?.only(component).least_magnitude()
}

fn sum<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers, component: Option<usize>) -> Result<f64> {
    let all = Scalars::<S>::new(world, array, numbers)?;
    component.map_or(all.sum(), |component| all.only(component).sum())
}
