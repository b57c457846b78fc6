//! Evaluation of conditions.

use std::collections::HashMap;

use super::resolve::{NumberSelection, ResolvedCondition, ResolvedTest};
use super::{Condition, Facts, Function, Values};
use crate::GhostState;

impl Condition {
    /// Evaluates the condition. Each fact about an array is queried at most once, and only while
    /// the result is open.
    ///
    /// # Errors
    /// An array or member does not exist, arrays cannot be compared, or a fact is unknown; errors
    /// of `facts`.
    pub fn holds_in<F: Facts>(&self, facts: &mut F) -> Result<bool, F::Error> {
        self.resolve(facts)?.holds(facts)
    }
}

impl ResolvedCondition {
    /// Evaluates the condition. Each fact about an array is queried at most once, and only while
    /// the result is open.
    ///
    /// # Errors
    /// A fact is unknown; errors of `facts`.
    pub fn holds<F: Facts>(&self, facts: &mut F) -> Result<bool, F::Error> {
        let mut known = KnownFacts {
            facts,
            values: HashMap::new(),
            least_magnitudes: HashMap::new(),
            sums: HashMap::new(),
            same: HashMap::new(),
        };
        for tests in &self.alternatives {
            let mut holds = true;
            for test in tests {
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
}

/// Cache of the queried facts.
struct KnownFacts<'a, F> {
    facts: &'a mut F,
    /// Values of each component, by array and byte offset in the cell.
    values: HashMap<(u64, u32), Vec<Values>>,
    /// Smallest magnitudes, by array, byte offset and component.
    least_magnitudes: HashMap<(u64, u32, usize), Option<f64>>,
    sums: HashMap<(u64, u32, Option<usize>), f64>,
    same: HashMap<[u64; 2], bool>,
}

impl<F: Facts> KnownFacts<'_, F> {
    fn holds(&mut self, test: &ResolvedTest) -> Result<bool, F::Error> {
        let (function, abs, array, selections, relation, number) = match test {
            ResolvedTest::Same { arrays, same } => return Ok(self.are_same(*arrays)? == *same),
            ResolvedTest::Found { function, abs, array, selections, relation, number } => {
                (*function, *abs, *array, selections, *relation, *number)
            }
        };
        let found = match function {
            Function::Stale => Some(self.facts.sides(array, GhostState::Stale)? as f64),
            Function::Unfilled => Some(self.facts.sides(array, GhostState::NeverFilled)? as f64),
            Function::Sum => Some(self.sum(array, &selections[0])?),
            Function::Nan => Some(self.count_values(array, selections, |values| values.nans)?),
            Function::Inf => Some(self.count_values(array, selections, |values| values.infinities)?),
            Function::Min if abs => self.least_magnitude(array, &selections[0])?,
            Function::Min | Function::Max => self.extreme(array, &selections[0], function == Function::Min, abs)?,
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

    fn count_values(
        &mut self,
        array: u64,
        selections: &[NumberSelection],
        count: impl Fn(&Values) -> u64,
    ) -> Result<f64, F::Error> {
        let mut sum = 0;
        for selection in selections {
            sum += self.values(array, selection)?.iter().map(&count).sum::<u64>();
        }
        Ok(sum as f64)
    }

    fn extreme(
        &mut self,
        array: u64,
        selection: &NumberSelection,
        min: bool,
        abs: bool,
    ) -> Result<Option<f64>, F::Error> {
        let extreme = |values: &Values| {
            let (low, high) = values.extremes?;
            Some(if abs {
                low.abs().max(high.abs())
            } else if min {
                low
            } else {
                high
            })
        };
        Ok(self.values(array, selection)?.iter().filter_map(extreme).reduce(if min { f64::min } else { f64::max }))
    }

    fn values(&mut self, array: u64, selection: &NumberSelection) -> Result<&[Values], F::Error> {
        let key = (array, selection.numbers.offset);
        if !self.values.contains_key(&key) {
            let found = self.facts.values(array, &selection.numbers)?;
            self.values.insert(key, found);
        }
        Ok(self.values[&key].get(selection.components()).unwrap_or_default())
    }

    fn least_magnitude(&mut self, array: u64, selection: &NumberSelection) -> Result<Option<f64>, F::Error> {
        let mut least = None;
        for component in selection.components() {
            let key = (array, selection.numbers.offset, component);
            let found = match self.least_magnitudes.get(&key) {
                Some(known) => *known,
                None => self.facts.least(array, &selection.numbers, component)?,
            };
            self.least_magnitudes.insert(key, found);
            least = least.into_iter().chain(found).reduce(f64::min);
        }
        Ok(least)
    }

    fn sum(&mut self, array: u64, selection: &NumberSelection) -> Result<f64, F::Error> {
        let key = (array, selection.numbers.offset, selection.component);
        if let Some(sum) = self.sums.get(&key) {
            return Ok(*sum);
        }
        let sum = self.facts.sum(array, &selection.numbers, selection.component)?;
        self.sums.insert(key, sum);
        Ok(sum)
    }
}
