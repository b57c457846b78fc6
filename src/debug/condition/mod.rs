//! [`Condition`]: what must be true of arrays for a program to pause.

mod evaluate;
#[cfg(test)]
mod evaluate_tests;
mod facts;
mod of_world;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

pub use facts::{Facts, Values};

use std::fmt::{self, Display, Formatter};

/// A condition on arrays, such as `max(abs(u)) > 0.3 or nan(f) > 0`. Had from text by [`str::parse`]; displays as text that
/// gives it back.
///
/// ```text
/// condition = all { "or" all }                    true where one of them is
/// all       = test { "and" test }                 true where all of them are; binds closer than "or"
/// test      = function "(" numbers ")" relation number
///           | function "(" "abs" "(" numbers ")" ")" relation number
///           | array ( "==" | "!=" ) array
/// relation  = ">" | ">=" | "<" | "<=" | "==" | "!="
/// numbers   = array { "." member } [ "." component ]
/// ```
///
/// `array` is the name of a global array, or words that stand in no other's name, and members are those of its records. A component of a vector is `x`, `y`, `z` or
/// `w`, or its number from 0 on. Names of other characters than letters, digits and underscores, and the names `and` and
/// `or`, stand in double quotes; `\"` and `\\` are a quote and a backslash there. Numbers are written as in Rust; `inf` is one.
///
/// | function | what it gives |
/// |---|---|
/// | `nan(x)` | how many NaNs there are |
/// | `inf(x)` | how many infinities |
/// | `min(x)`, `max(x)` | the smallest and the largest number that is no NaN |
/// | `sum(x)` | the exact sum, rounded once; `abs` cannot stand within |
/// | `stale(a)` | how many sides of chunks have ghost cells that are stale; in checked runs (`ZIPPY_CHECK=1`) only |
/// | `unfilled(a)` | on how many ghost cells were never filled; in checked runs only |
///
/// A function looks at all numbers that its name covers together: at every component of a vector, so that
/// `max(abs(u)) > 0.3` says that some component of some cell is as large. Of records `nan` and `inf` take all members, the
/// others need one. Ghost cells do not count. Results are compared as `f64`. A smallest number that there is not, as of an
/// array without cells, makes every comparison false. `a == b` says that all cells of two arrays have the same bits, `a != b`
/// that some have not.
///
/// ```
/// use zippy::debug::Condition;
///
/// let condition: Condition = "max(abs(u)) > 0.3 or nan(f) > 0".parse()?;
/// assert_eq!(condition.to_string(), "max(abs(u)) > 0.3 or nan(f) > 0.0");
/// let error = "max(abs(u)) > fast".parse::<Condition>().unwrap_err();
/// assert_eq!(error, "column 15: expected a number, such as 0.3 or -1e-6, found \"fast\"");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// One of these lists, all of it.
    any: Vec<Vec<Test>>,
}

/// What can be true by itself.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Of a number that is found out about an array.
    Found { function: Function, abs: bool, of: Path, relation: Relation, number: f64 },
    /// Whether two arrays are the same.
    Same { arrays: [String; 2], same: bool },
}

/// An array, or numbers within its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Path {
    array: String,
    /// Members, and at most one component.
    within: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Nan,
    Inf,
    Min,
    Max,
    Sum,
    Stale,
    Unfilled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Greater,
    AtLeast,
    Less,
    AtMost,
    Equal,
    Different,
}

impl Function {
    const ALL: [Self; 7] = [Self::Nan, Self::Inf, Self::Min, Self::Max, Self::Sum, Self::Stale, Self::Unfilled];

    fn name(self) -> &'static str {
        match self {
            Self::Nan => "nan",
            Self::Inf => "inf",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Stale => "stale",
            Self::Unfilled => "unfilled",
        }
    }

    /// Whether it is about ghost cells, and so about a whole array.
    fn of_ghosts(self) -> bool {
        matches!(self, Self::Stale | Self::Unfilled)
    }
}

impl Relation {
    /// Longer signs first, so that none is taken for the beginning of another.
    const ALL: [Self; 6] = [Self::AtLeast, Self::AtMost, Self::Equal, Self::Different, Self::Greater, Self::Less];

    fn sign(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "==",
            Self::Different => "!=",
        }
    }

    fn holds(self, found: f64, number: f64) -> bool {
        match self {
            Self::Greater => found > number,
            Self::AtLeast => found >= number,
            Self::Less => found < number,
            Self::AtMost => found <= number,
            Self::Equal => found == number,
            Self::Different => found != number,
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, all) in self.any.iter().enumerate() {
            f.write_str(if place > 0 { " or " } else { "" })?;
            for (place, test) in all.iter().enumerate() {
                f.write_str(if place > 0 { " and " } else { "" })?;
                test.fmt(f)?;
            }
        }
        Ok(())
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { function, abs, of, relation, number } => {
                let (name, sign) = (function.name(), relation.sign());
                match abs {
                    true => write!(f, "{name}(abs({of})) {sign} {number:?}"),
                    false => write!(f, "{name}({of}) {sign} {number:?}"),
                }
            }
            Self::Same { arrays: [one, other], same } => {
                let sign = if *same { Relation::Equal } else { Relation::Different }.sign();
                write!(f, "{} {sign} {}", Name(one), Name(other))
            }
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(&self.array))?;
        self.within.iter().try_for_each(|name| write!(f, ".{}", Name(name)))
    }
}

/// A name, in quotes where it needs them.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        if is_plain(name) {
            return f.write_str(name);
        }
        write!(f, "\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Whether a name can stand without quotes.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name) && !matches!(name, "and" | "or")
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
