//! Resolution of names in conditions to arrays and numbers.

use super::{Condition, ConditionTest, Facts, Function, NumberPath, Relation};
use crate::name_lookup::meant;
use crate::{ElementType, Numbers};

const MAX_NAMES: usize = 12;

/// Condition whose arrays are identified by number, from [`Condition::resolve`].
pub struct ResolvedCondition {
    /// Alternatives; each is a list of tests that must all hold.
    pub(super) alternatives: Vec<Vec<ResolvedTest>>,
}

impl ResolvedCondition {
    /// Numbers of the arrays of each test: one array twice, or the two arrays of a comparison.
    pub fn arrays(&self) -> Vec<[u64; 2]> {
        self.alternatives.iter().flatten().map(ResolvedTest::arrays).collect()
    }
}

/// Test whose arrays are identified by number.
pub(super) enum ResolvedTest {
    Found {
        function: Function,
        abs: bool,
        array: u64,
        selections: Vec<NumberSelection>,
        relation: Relation,
        number: f64,
    },
    Same {
        arrays: [u64; 2],
        same: bool,
    },
}

/// Selected numbers of a cell: all components, or one.
#[derive(Clone)]
pub(super) struct NumberSelection {
    pub numbers: Numbers,
    pub component: Option<usize>,
}

impl NumberSelection {
    pub(super) fn components(&self) -> std::ops::Range<usize> {
        self.component.map_or(0..self.numbers.components.into(), |component| component..component + 1)
    }
}

impl ResolvedTest {
    fn arrays(&self) -> [u64; 2] {
        match self {
            Self::Found { array, .. } => [*array; 2],
            Self::Same { arrays, .. } => *arrays,
        }
    }
}

impl Condition {
    /// Resolves the names of arrays and members to numbers.
    ///
    /// # Errors
    /// An array or member does not exist, two arrays cannot be compared, or a fact is unknown in
    /// this run.
    pub fn resolve<F: Facts>(&self, facts: &F) -> Result<ResolvedCondition, String> {
        let resolve_all = |tests: &Vec<ConditionTest>| tests.iter().map(|test| resolve_test(test, facts)).collect();
        let alternatives = self.alternatives.iter().map(resolve_all).collect::<Result<_, String>>()?;
        Ok(ResolvedCondition { alternatives })
    }
}

fn resolve_test<F: Facts>(test: &ConditionTest, facts: &F) -> Result<ResolvedTest, String> {
    let arrays = facts.arrays();
    match test {
        ConditionTest::Same { arrays: [first, second], same } => {
            let pair = [array(first, &arrays)?.0, array(second, &arrays)?.0];
            match facts.unlike(pair) {
                Some(text) => Err(text),
                None => Ok(ResolvedTest::Same { arrays: pair, same: *same }),
            }
        }
        ConditionTest::Found { function, abs, path, relation, number } => {
            let (array, name) = array(&path.array, &arrays)?;
            let is_about_ghosts = function.is_about_ghosts();
            let selections = if is_about_ghosts {
                Vec::new()
            } else {
                select_numbers(*function, name, &facts.element(array)?, path)?
            };
            if is_about_ghosts && !facts.is_checked() {
                let function = function.name();
                return Err(format!("{function}({name}) is known in checked runs only: set ZIPPY_CHECK=1"));
            }
            Ok(ResolvedTest::Found {
                function: *function,
                abs: *abs,
                array,
                selections,
                relation: *relation,
                number: *number,
            })
        }
    }
}

/// Global array with a name; the newest one if several handles of the same chunks have it.
fn array<'a>(name: &str, arrays: &[(u64, &'a str)]) -> Result<(u64, &'a str), String> {
    let full_name = meant(arrays.iter().map(|(_, name)| *name), name).ok().flatten();
    let found = full_name.and_then(|full_name| arrays.iter().rev().find(|(_, name)| *name == full_name));
    found.copied().ok_or_else(|| {
        let mut names: Vec<&str> = arrays.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let there =
            if names.is_empty() { "there is none".to_string() } else { format!("there are {}", quoted_list(&names)) };
        format!("there is no global array {name:?} at this point; {there}")
    })
}

/// Numbers that a path selects.
fn select_numbers(
    function: Function,
    name: &str,
    element: &ElementType,
    path: &NumberPath,
) -> Result<Vec<NumberSelection>, String> {
    let all = &element.numbers;
    let numbers_below = |members: &[String]| -> Vec<NumberSelection> {
        let prefix = members.join(".");
        let inside =
            |name: &str| prefix.is_empty() || name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with('.'));
        let matching = all.iter().filter(|numbers| numbers.name == prefix || inside(&numbers.name));
        matching.map(|numbers| NumberSelection { numbers: numbers.clone(), component: None }).collect()
    };
    let mut found = numbers_below(&path.members);
    if let (true, Some((last, members))) = (found.is_empty(), path.members.split_last())
        && let [NumberSelection { numbers, .. }] = &numbers_below(members)[..]
        && numbers.name == members.join(".")
    {
        let components = usize::from(numbers.components);
        let component = component(last).filter(|&component| components > 1 && component < components);
        found.extend(component.map(|_| NumberSelection { numbers: numbers.clone(), component }));
    }
    let element = &element.name;
    let members: Vec<&str> = all.iter().map(|numbers| numbers.name.as_str()).collect();
    match &found[..] {
        [] if members == [""] => Err(match usize::from(all[0].components) {
            1 => {
                format!("array {name:?} is of {element}, which has neither members nor components: use the name alone")
            }
            count => {
                format!(
                    "array {name:?} is of {element}, which has the components {}",
                    quoted_list(&["x", "y", "z", "w"][..count.min(4)])
                )
            }
        }),
        [] => Err(format!(
            "array {name:?} is of {element}, which has no {:?}; it has {}, and vectors have components, as in {}.x",
            path.members.join("."),
            quoted_list(&members),
            members.first().unwrap_or(&"a")
        )),
        [_, _, ..] if !matches!(function, Function::Nan | Function::Inf) => Err(format!(
            "{}({path}) needs one of the members of its records: {}",
            function.name(),
            quoted_list(&found.iter().map(|selection| selection.numbers.name.as_str()).collect::<Vec<_>>())
        )),
        _ => Ok(found),
    }
}

/// Index of a component by its name.
fn component(name: &str) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|letter| *letter == name).or_else(|| name.parse().ok())
}

fn quoted_list(names: &[&str]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMES { format!("{shown} and {} more", names.len() - MAX_NAMES) } else { shown }
}
