//! A condition with the arrays that it names.

use super::{Condition, Facts, Function, Path, Relation, Test};
use crate::debug::named::meant;
use crate::debug::protocol::{ElementType, Numbers};

/// So many names are listed.
const MOST_NAMES: usize = 12;

/// One of these lists, all of it.
pub(super) type Any = Vec<Vec<Resolved>>;

/// A test with its arrays, by number.
pub(super) enum Resolved {
    Found { function: Function, abs: bool, array: u64, parts: Vec<Part>, relation: Relation, number: f64 },
    Same { arrays: [u64; 2], same: bool },
}

/// Numbers of a cell, all their components or one.
#[derive(Clone)]
pub(super) struct Part {
    pub numbers: Numbers,
    pub component: Option<usize>,
}

impl Part {
    /// Its components.
    pub fn components(&self) -> std::ops::Range<usize> {
        self.component.map_or(0..self.numbers.components.into(), |one| one..one + 1)
    }
}

impl Resolved {
    /// The numbers of its arrays.
    pub fn arrays(&self) -> [u64; 2] {
        match self {
            Self::Found { array, .. } => [*array; 2],
            Self::Same { arrays, .. } => *arrays,
        }
    }
}

impl Condition {
    /// Finds the arrays.
    ///
    /// # Errors
    /// There is none of a name, or it has no such numbers; two cannot be compared; it asks for what is not known.
    pub(super) fn resolved<F: Facts>(&self, facts: &F) -> Result<Any, String> {
        let tests = |all: &Vec<Test>| all.iter().map(|test| resolved(test, facts)).collect();
        self.any.iter().map(tests).collect()
    }
}

fn resolved<F: Facts>(test: &Test, facts: &F) -> Result<Resolved, String> {
    let arrays = facts.arrays();
    match test {
        Test::Same { arrays: [one, other], same } => {
            let pair = [array(one, &arrays)?.0, array(other, &arrays)?.0];
            match facts.unlike(pair) {
                Some(text) => Err(text),
                None => Ok(Resolved::Same { arrays: pair, same: *same }),
            }
        }
        Test::Found { function, abs, of, relation, number } => {
            let (array, name) = array(&of.array, &arrays)?;
            let of_ghosts = function.of_ghosts();
            let parts = if of_ghosts { Vec::new() } else { parts(*function, (name, &facts.element(array)?), of)? };
            if of_ghosts && !facts.is_checked() {
                let function = function.name();
                return Err(format!("{function}({name}) is known in checked runs only: set ZIPPY_CHECK=1"));
            }
            Ok(Resolved::Found { function: *function, abs: *abs, array, parts, relation: *relation, number: *number })
        }
    }
}

/// The global array of this name: of several handles of the same chunks the one made last.
fn array<'a>(name: &str, arrays: &[(u64, &'a str)]) -> Result<(u64, &'a str), String> {
    let wanted = meant(arrays.iter().map(|(_, name)| *name), name).ok().flatten();
    let found = wanted.and_then(|wanted| arrays.iter().rev().find(|(_, name)| *name == wanted));
    found.copied().ok_or_else(|| {
        let mut names: Vec<&str> = arrays.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let there =
            if names.is_empty() { "there is none".to_string() } else { format!("there are {}", listed(&names)) };
        format!("there is no global array {name:?} at this point; {there}")
    })
}

/// The numbers that a path names.
fn parts(function: Function, (name, element): (&str, &ElementType), of: &Path) -> Result<Vec<Part>, String> {
    let all = &element.numbers;
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
    let element = &element.name;
    let members: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    match &found[..] {
        [] if members == [""] => Err(match usize::from(all[0].components) {
            1 => format!(
                "array {name:?} is of {element}, which has neither members nor components: leave out what follows it"
            ),
            count => {
                format!(
                    "array {name:?} is of {element}, which has the components {}",
                    listed(&["x", "y", "z", "w"][..count.min(4)])
                )
            }
        }),
        [] => Err(format!(
            "array {name:?} is of {element}, which has no {:?}; it has {}, and vectors have components, as in {}.x",
            of.within.join("."),
            listed(&members),
            members.first().unwrap_or(&"a")
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
