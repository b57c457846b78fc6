//! Evaluation of conditions on the arrays of a running program.

use std::rc::Rc;

use zippy_base::GhostState;
use zippy_protocol::{Condition, ElementType, Facts, Numbers, ResolvedCondition, Values};

use super::compare::{compare, reason_not_comparable};
use super::measure::{Scalars, of_type};
use crate::World;
use crate::algorithms::reduce::Number;
use crate::array::ArrayCore;
use crate::error::{Error, Result};
use crate::world::CollectiveWorld;
use crate::world::hash;

/// Evaluates a condition on the present values of arrays. Collective, inside an operation that all
/// ranks have compared; all ranks return the same. Each rank reduces its own cells.
///
/// # Errors
/// A failure of this or of another rank. The inner error has the errors of [`Condition::holds_in`].
pub(super) fn evaluate_condition(condition: &Condition, world: &World) -> Result<Result<bool, String>> {
    let mut facts = WorldFacts { world, arrays: world.alive_arrays().0 };
    let resolved = condition.resolve(&facts);
    if !is_same_on_all_ranks(world, hash(resolved.as_ref().map(ResolvedCondition::arrays)))? {
        let text =
            format!("`{condition}` names an array that is alive on some ranks only: let go of it on all of them");
        return Ok(Err(text));
    }
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(text) => return Ok(Err(text)),
    };
    match resolved.holds(&mut facts) {
        Ok(holds) => Ok(Ok(holds)),
        Err(FactError::Unknown(text)) => Ok(Err(text)),
        Err(FactError::Broken(error)) => Err(error),
    }
}

fn is_same_on_all_ranks(world: &World, value: u64) -> Result<bool> {
    let mut ends = [[value; 2]];
    world.inner_group().all_reduce(&mut ends, |[least, most], [less, more]| {
        (*least, *most) = ((*least).min(*less), (*most).max(*more));
    })?;
    Ok(ends[0][0] == ends[0][1])
}

/// [`Facts`] of the arrays of a program, by collective reductions. All ranks must make the same
/// queries.
struct WorldFacts<'a> {
    world: &'a World,
    arrays: Vec<Rc<ArrayCore>>,
}

enum FactError {
    /// The fact is unknown; the same on every rank.
    Unknown(String),
    /// Failure of this or of another rank.
    Broken(Error),
}

impl From<String> for FactError {
    fn from(text: String) -> Self {
        Self::Unknown(text)
    }
}

impl From<Error> for FactError {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl WorldFacts<'_> {
    fn array(&self, number: u64) -> Result<&Rc<ArrayCore>, String> {
        let found = self.arrays.iter().find(|array| array.id().0 == number);
        found.ok_or_else(|| format!("there is no array {number}"))
    }

    fn pair(&self, [first, second]: [u64; 2]) -> Result<[&Rc<ArrayCore>; 2], String> {
        Ok([self.array(first)?, self.array(second)?])
    }
}

impl Facts for WorldFacts<'_> {
    type Error = FactError;

    fn arrays(&self) -> Vec<(u64, &str)> {
        self.arrays.iter().map(|array| (array.id().0, array.name())).collect()
    }

    fn element(&self, array: u64) -> Result<ElementType, String> {
        Ok(ElementType::from(self.array(array)?.element()))
    }

    fn unlike(&self, pair: [u64; 2]) -> Option<String> {
        self.pair(pair).map_or_else(Some, reason_not_comparable)
    }

    fn is_checked(&self) -> bool {
        self.world.is_checked()
    }

    fn values(&mut self, array: u64, numbers: &Numbers) -> Result<Vec<Values>, FactError> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, values, self.world, array, numbers)?)
    }

    fn least(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Option<f64>, FactError> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, least, self.world, array, numbers, component)?)
    }

    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, FactError> {
        let array = self.array(array)?;
        Ok(of_type!(numbers.scalar, sum, self.world, array, numbers, component)?)
    }

    fn same(&mut self, pair: [u64; 2]) -> Result<bool, FactError> {
        Ok(compare(self.world, self.pair(pair)?)??.cells == 0)
    }

    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, FactError> {
        let array = self.array(array)?;
        let mut counts = [0_u64, 0];
        if let Some(ghosts) = array.ghosts() {
            match ghosts.states() {
                Some(states) => counts[0] = states.iter().filter(|(.., found)| *found == state).count() as u64,
                None => counts[1] = 1,
            }
        }
        self.world.inner_group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        match counts {
            [count, 0] => Ok(count),
            _ => Err(FactError::Unknown(format!(
                "the chunks of array {:?} have other neighbours in another handle, so nothing is known of its ghost cells",
                array.name()
            ))),
        }
    }
}

fn values<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers) -> Result<Vec<Values>> {
    let stats = Scalars::<S>::new(world, array, numbers)?.stats(false)?;
    let values = stats.into_iter().map(|component| Values {
        nans: component.nans,
        infinities: component.infinities,
        extremes: component.extremes.map(|(low, high)| (low.to_f64(), high.to_f64())),
    });
    Ok(values.collect())
}

fn least<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers, component: usize) -> Result<Option<f64>> {
    Scalars::<S>::new(world, array, numbers)?.single_component(component).least_magnitude()
}

fn sum<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers, component: Option<usize>) -> Result<f64> {
    let all = Scalars::<S>::new(world, array, numbers)?;
    component.map_or(all.sum(), |component| all.single_component(component).sum())
}
