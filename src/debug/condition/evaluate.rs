//! Whether a condition is true of what is known of arrays.

use std::collections::HashMap;

use super::resolve::{Any, Part, Resolved};
use super::{Condition, Facts, Function, Values};
use crate::history::GhostState;

impl Condition {
    /// Whether it is true. What is asked for is found once for each array, and only as long as the answer is open.
    ///
    /// # Errors
    /// Why it cannot be told: there is no such array or member, arrays that cannot be compared, what is not known; what the facts
    /// say.
    pub fn holds_in<F: Facts>(&self, facts: &mut F) -> Result<bool, F::Error> {
        let any = self.resolved(facts)?;
        holds(&any, facts)
    }
}

/// Whether all of one of the lists is true.
pub(super) fn holds<F: Facts>(any: &Any, facts: &mut F) -> Result<bool, F::Error> {
    let mut known =
        Known { facts, values: HashMap::new(), least: HashMap::new(), sums: HashMap::new(), same: HashMap::new() };
    for all in any {
        let mut holds = true;
        for test in all {
            holds = known.holds(test)?;
            if !holds {
                break;
            }
        }
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What has been found out so far.
struct Known<'a, F> {
    facts: &'a mut F,
    /// Of each component, by array and first byte in the cell.
    values: HashMap<(u64, u32), Vec<Values>>,
    /// Smallest magnitudes.
    least: HashMap<(u64, u32, usize), Option<f64>>,
    sums: HashMap<(u64, u32, Option<usize>), f64>,
    same: HashMap<[u64; 2], bool>,
}

impl<F: Facts> Known<'_, F> {
    fn holds(&mut self, test: &Resolved) -> Result<bool, F::Error> {
        let (function, abs, array, parts, relation, number) = match test {
            Resolved::Same { arrays, same } => return Ok(self.are_same(*arrays)? == *same),
            Resolved::Found { function, abs, array, parts, relation, number } => {
                (*function, *abs, *array, parts, *relation, *number)
            }
        };
        let found = match function {
            Function::Stale => Some(self.facts.sides(array, GhostState::Stale)? as f64),
            Function::Unfilled => Some(self.facts.sides(array, GhostState::NeverFilled)? as f64),
            Function::Sum => Some(self.sum(array, &parts[0])?),
            Function::Nan => Some(self.counted(array, parts, |values| values.nans)?),
            Function::Inf => Some(self.counted(array, parts, |values| values.infinities)?),
            Function::Min if abs => self.least(array, &parts[0])?,
            Function::Min | Function::Max => self.extreme(array, &parts[0], function == Function::Min, abs)?,
        };
        Ok(found.is_some_and(|found| relation.holds(found, number)))
    }

    fn are_same(&mut self, pair: [u64; 2]) -> Result<bool, F::Error> {
        if let Some(known) = self.same.get(&pair) {
            return Ok(*known);
        }
        let same = self.facts.same(pair)?;
        self.same.insert(pair, same);
        Ok(same)
    }

    fn counted(&mut self, array: u64, parts: &[Part], count: impl Fn(&Values) -> u64) -> Result<f64, F::Error> {
        let mut sum = 0;
        for part in parts {
            sum += self.values(array, part)?.iter().map(&count).sum::<u64>();
        }
        Ok(sum as f64)
    }

    fn extreme(&mut self, array: u64, part: &Part, min: bool, abs: bool) -> Result<Option<f64>, F::Error> {
        let of = |values: &Values| {
            let (low, high) = values.extremes?;
            Some(if abs {
                low.abs().max(high.abs())
            } else if min {
                low
            } else {
                high
            })
        };
        Ok(self.values(array, part)?.iter().filter_map(of).reduce(if min { f64::min } else { f64::max }))
    }

    /// What the components of a part are like.
    fn values(&mut self, array: u64, part: &Part) -> Result<&[Values], F::Error> {
        let key = (array, part.numbers.offset);
        if !self.values.contains_key(&key) {
            let found = self.facts.values(array, &part.numbers)?;
            self.values.insert(key, found);
        }
        Ok(self.values[&key].get(part.components()).unwrap_or_default())
    }

    /// The smallest magnitude in a part.
    fn least(&mut self, array: u64, part: &Part) -> Result<Option<f64>, F::Error> {
        let mut least = None;
        for component in part.components() {
            let key = (array, part.numbers.offset, component);
            let found = match self.least.get(&key) {
                Some(known) => *known,
                None => self.facts.least(array, &part.numbers, component)?,
            };
            self.least.insert(key, found);
            least = least.into_iter().chain(found).reduce(f64::min);
        }
        Ok(least)
    }

    fn sum(&mut self, array: u64, part: &Part) -> Result<f64, F::Error> {
        let key = (array, part.numbers.offset, part.component);
        if let Some(sum) = self.sums.get(&key) {
            return Ok(*sum);
        }
        let sum = self.facts.sum(array, &part.numbers, part.component)?;
        self.sums.insert(key, sum);
        Ok(sum)
    }
}
