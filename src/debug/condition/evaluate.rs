//! Whether a condition is true of the arrays that there are.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Condition, Function, Path, Relation, Test};
use crate::World;
use crate::algorithms::reduce::Number;
use crate::array::{ArrayCore, ArrayId};
use crate::debug::compare::{compare, unlike};
use crate::debug::measure::{Measure, of_type};
use crate::debug::named::meant;
use crate::debug::protocol::{ElementType, Numbers};
use crate::error::Result;
use crate::history::GhostState;
use crate::world::hash;

/// So many names are listed.
const MOST_NAMES: usize = 12;

impl Condition {
    /// Whether it is true now. Every rank calls, inside an operation that was compared, and all have the same answer. What is
    /// asked for is found once for each array, where its cells are, and only as long as the answer is open.
    ///
    /// # Errors
    /// A failure of this or of another rank; within, why it cannot be told: there is no such array or member, arrays that
    /// cannot be compared, ghost cells of which nothing is known.
    pub(crate) fn holds(&self, world: &World) -> Result<Result<bool, String>> {
        let arrays: Vec<_> = world.home().registry.borrow().alive().collect();
        let tests = |all: &Vec<Test>| all.iter().map(|test| resolved(test, &arrays)).collect();
        let any: Result<Vec<Vec<Resolved>>, String> = self.any.iter().map(tests).collect();
        let ids = any.as_ref().map(|any| any.iter().flatten().map(Resolved::ids).collect::<Vec<_>>());
        if !alike(world, hash(ids))? {
            let text = format!("`{self}` names an array that is alive on some ranks only: let go of it on all of them");
            return Ok(Err(text));
        }
        let any = match any {
            Ok(any) => any,
            Err(text) => return Ok(Err(text)),
        };
        let mut known = Known { world, values: HashMap::new(), sums: HashMap::new(), same: HashMap::new() };
        for all in &any {
            let mut holds = true;
            for test in all.iter() {
                match known.holds(test)? {
                    Ok(true) => {}
                    Ok(false) => {
                        holds = false;
                        break;
                    }
                    Err(text) => return Ok(Err(text)),
                }
            }
            if holds {
                return Ok(Ok(true));
            }
        }
        Ok(Ok(false))
    }
}

/// A test with its arrays.
enum Resolved {
    Found { function: Function, abs: bool, array: Rc<ArrayCore>, parts: Vec<Part>, relation: Relation, number: f64 },
    Same { arrays: [Rc<ArrayCore>; 2], same: bool },
}

impl Resolved {
    /// The numbers of its arrays.
    fn ids(&self) -> [ArrayId; 2] {
        match self {
            Self::Found { array, .. } => [array.id(); 2],
            Self::Same { arrays: [one, other], .. } => [one.id(), other.id()],
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

/// Numbers of a cell, all their components or one.
#[derive(Clone)]
struct Part {
    numbers: Numbers,
    component: Option<usize>,
}

fn resolved(test: &Test, arrays: &[Rc<ArrayCore>]) -> Result<Resolved, String> {
    match test {
        Test::Same { arrays: [one, other], same } => {
            let arrays = [array(one, arrays)?, array(other, arrays)?];
            match unlike([&arrays[0], &arrays[1]]) {
                Some(text) => Err(text),
                None => Ok(Resolved::Same { arrays, same: *same }),
            }
        }
        Test::Found { function, abs, of, relation, number } => {
            let array = array(&of.array, arrays)?;
            let parts = if function.of_ghosts() { Vec::new() } else { parts(*function, &array, of)? };
            if function.of_ghosts() && !array.home().ledger.watches() {
                let (name, array) = (function.name(), array.name());
                return Err(format!("{name}({array}) is known in checked runs only: set ZIPPY_CHECK=1"));
            }
            Ok(Resolved::Found { function: *function, abs: *abs, array, parts, relation: *relation, number: *number })
        }
    }
}

/// The global array of this name: of several handles of the same chunks the one made last.
fn array(name: &str, arrays: &[Rc<ArrayCore>]) -> Result<Rc<ArrayCore>, String> {
    let wanted = meant(arrays.iter().map(|array| array.name()), name).ok().flatten();
    let found = wanted.and_then(|wanted| arrays.iter().rev().find(|array| array.name() == wanted));
    found.cloned().ok_or_else(|| {
        let mut names: Vec<&str> = arrays.iter().map(|array| array.name()).collect();
        names.sort_unstable();
        names.dedup();
        let there =
            if names.is_empty() { "there is none".to_string() } else { format!("there are {}", listed(&names)) };
        format!("there is no global array {name:?} at this point; {there}")
    })
}

/// The numbers that a path names.
fn parts(function: Function, array: &ArrayCore, of: &Path) -> Result<Vec<Part>, String> {
    let all = ElementType::from(array.element()).numbers;
    let under = |members: &[String]| -> Vec<Part> {
        let path = members.join(".");
        let inside = |name: &str| path.is_empty() || name.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'));
        let named = all.iter().filter(|one| one.name == path || inside(&one.name));
        named.map(|numbers| Part { numbers: numbers.clone(), component: None }).collect()
    };
    let mut found = under(&of.within);
    if let (true, Some((last, members))) = (found.is_empty(), of.within.split_last())
        && let [Part { numbers, .. }] = &under(members)[..]
        && numbers.name == members.join(".")
    {
        let components = usize::from(numbers.components);
        let component = component(last).filter(|&component| components > 1 && component < components);
        found.extend(component.map(|_| Part { numbers: numbers.clone(), component }));
    }
    let (name, element) = (array.name(), array.element().name);
    let members: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    match &found[..] {
        [] if members == [""] => Err(match all[0].components {
            1 => format!(
                "array {name:?} is of {element}, which has neither members nor components: leave out what follows it"
            ),
            count => {
                format!(
                    "array {name:?} is of {element}, which has the components {}",
                    listed(&["x", "y", "z", "w"][..count.into()])
                )
            }
        }),
        [] => Err(format!(
            "array {name:?} is of {element}, which has no {:?}; it has {}, and vectors have components, as in {}.x",
            of.within.join("."),
            listed(&members),
            members[0]
        )),
        [_, _, ..] if !matches!(function, Function::Nan | Function::Inf) => Err(format!(
            "{}({of}) needs one of the members of its records: {}",
            function.name(),
            listed(&found.iter().map(|part| part.numbers.name.as_str()).collect::<Vec<_>>())
        )),
        _ => Ok(found),
    }
}

/// The number of a component that is called so.
fn component(name: &str) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|letter| *letter == name).or_else(|| name.parse().ok())
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMES { format!("{shown} and {} more", names.len() - MOST_NAMES) } else { shown }
}

/// What has been found out so far.
struct Known<'a> {
    world: &'a World,
    /// Of each component, by array and first byte in the cell.
    values: HashMap<(ArrayId, u32), Vec<Values>>,
    sums: HashMap<(ArrayId, u32, Option<usize>), f64>,
    same: HashMap<[ArrayId; 2], bool>,
}

/// A component's [`Spread`](crate::debug::measure::Spread) as `f64`.
#[derive(Clone, Copy)]
struct Values {
    nans: u64,
    infinities: u64,
    extremes: Option<(f64, f64)>,
    /// The smallest magnitude, once it was asked for.
    least: Option<Option<f64>>,
}

impl Known<'_> {
    fn holds(&mut self, test: &Resolved) -> Result<Result<bool, String>> {
        let (function, abs, array, parts, relation, number) = match test {
            Resolved::Same { arrays, same } => return Ok(self.are_same(arrays)?.map(|found| found == *same)),
            Resolved::Found { function, abs, array, parts, relation, number } => {
                (*function, *abs, array, parts, *relation, *number)
            }
        };
        let found = match function {
            Function::Stale | Function::Unfilled => match sides(self.world, array, function)? {
                Ok(count) => Some(count as f64),
                Err(text) => return Ok(Err(text)),
            },
            Function::Sum => Some(self.sum(array, &parts[0])?),
            Function::Nan => Some(self.counted(array, parts, |values| values.nans)?),
            Function::Inf => Some(self.counted(array, parts, |values| values.infinities)?),
            Function::Min | Function::Max => self.extreme(array, &parts[0], function == Function::Min, abs)?,
        };
        Ok(Ok(found.is_some_and(|found| relation.holds(found, number))))
    }

    fn are_same(&mut self, [one, other]: &[Rc<ArrayCore>; 2]) -> Result<Result<bool, String>> {
        let key = [one.id(), other.id()];
        if let Some(known) = self.same.get(&key) {
            return Ok(Ok(*known));
        }
        let found = compare(self.world, [one, other])?.map(|difference| difference.cells == 0);
        if let Ok(same) = found {
            self.same.insert(key, same);
        }
        Ok(found)
    }

    fn counted(&mut self, array: &Rc<ArrayCore>, parts: &[Part], count: impl Fn(&Values) -> u64) -> Result<f64> {
        let mut sum = 0;
        for part in parts {
            sum += self.values(array, part)?.iter().map(&count).sum::<u64>();
        }
        Ok(sum as f64)
    }

    fn extreme(&mut self, array: &Rc<ArrayCore>, part: &Part, min: bool, abs: bool) -> Result<Option<f64>> {
        if abs && min {
            self.find_least(array, part)?;
        }
        let magnitude = |(low, high): (f64, f64)| low.abs().max(high.abs());
        let of = |values: &Values| match (abs, min) {
            (true, true) => values.least.flatten(),
            (true, false) => values.extremes.map(magnitude),
            (false, true) => values.extremes.map(|(low, _)| low),
            (false, false) => values.extremes.map(|(_, high)| high),
        };
        Ok(self.values(array, part)?.iter().filter_map(of).reduce(if min { f64::min } else { f64::max }))
    }

    /// What the components of a part are like.
    fn values(&mut self, array: &Rc<ArrayCore>, part: &Part) -> Result<&[Values]> {
        let key = (array.id(), part.numbers.offset);
        if !self.values.contains_key(&key) {
            let found = of_type!(part.numbers.scalar, values, self.world, array, &part.numbers)?;
            self.values.insert(key, found);
        }
        let all = &self.values[&key];
        Ok(part.component.map_or(&all[..], |component| &all[component..=component]))
    }

    /// Finds the smallest magnitudes of a part.
    fn find_least(&mut self, array: &Rc<ArrayCore>, part: &Part) -> Result<()> {
        let components = part.component.map_or(0..part.numbers.components.into(), |one| one..one + 1);
        let first = components.start;
        for component in components {
            if self.values(array, part)?[component - first].least.is_none() {
                let found = of_type!(part.numbers.scalar, least, self.world, array, &part.numbers, component)?;
                let known = self.values.get_mut(&(array.id(), part.numbers.offset));
                known.into_iter().for_each(|known| known[component].least = Some(found));
            }
        }
        Ok(())
    }

    fn sum(&mut self, array: &Rc<ArrayCore>, part: &Part) -> Result<f64> {
        let key = (array.id(), part.numbers.offset, part.component);
        if let Some(sum) = self.sums.get(&key) {
            return Ok(*sum);
        }
        let sum = of_type!(part.numbers.scalar, sum, self.world, array, part)?;
        self.sums.insert(key, sum);
        Ok(sum)
    }
}

fn values<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers) -> Result<Vec<Values>> {
    let spreads = Measure::<S>::new(world, array, numbers)?.spreads()?;
    let values = spreads.into_iter().map(|spread| Values {
        nans: spread.nans,
        infinities: spread.infinities,
        extremes: spread.extremes.map(|(low, high)| (low.to_f64(), high.to_f64())),
        least: None,
    });
    Ok(values.collect())
}

fn least<S: Number>(world: &World, array: &Rc<ArrayCore>, numbers: &Numbers, component: usize) -> Result<Option<f64>> {
    let measure = Measure::<S>::new(world, array, numbers)?.only(component);
    measure.least_magnitude()
}

fn sum<S: Number>(world: &World, array: &Rc<ArrayCore>, part: &Part) -> Result<f64> {
    let all = Measure::<S>::new(world, array, &part.numbers)?;
    part.component.map_or(all.sum(), |component| all.only(component).sum())
}

/// How many sides of chunks have ghost cells that are stale, or were never filled, on all ranks.
fn sides(world: &World, array: &ArrayCore, function: Function) -> Result<Result<u64, String>> {
    let wanted = if function == Function::Stale { GhostState::Stale } else { GhostState::NeverFilled };
    let mut counts = [0_u64, 0];
    if let Some(ghosts) = array.ghosts() {
        match ghosts.states() {
            Some(states) => counts[0] = states.iter().filter(|(.., state)| *state == wanted).count() as u64,
            None => counts[1] = 1,
        }
    }
    world.inner().all_reduce(&mut counts, |sum, more| *sum += more)?;
    let name = array.name();
    Ok(match counts {
        [count, 0] => Ok(count),
        _ => Err(format!(
            "the chunks of array {name:?} have other neighbours in another handle, so nothing is known of its ghost cells"
        )),
    })
}
