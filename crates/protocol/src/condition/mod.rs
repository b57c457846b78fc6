//! [`Condition`]: condition on arrays at which a program pauses.

mod evaluate;
mod facts;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

pub use facts::{Facts, Values};
pub use resolve::ResolvedCondition;

use std::fmt::{self, Display, Formatter};

/// A condition on arrays, such as `max(abs(u)) > 0.3 or nan(f) > 0`. [`str::parse`] creates it from
/// text, and its `Display` text parses to the same condition.
///
/// ```text
/// condition = all { "or" all }                    true if one of them is
/// all       = test { "and" test }                 true if all of them are; binds closer than "or"
/// test      = function "(" numbers ")" relation number
///           | function "(" "abs" "(" numbers ")" ")" relation number
///           | array ( "==" | "!=" ) array
/// relation  = ">" | ">=" | "<" | "<=" | "==" | "!="
/// numbers   = array { "." member } [ "." component ]
/// ```
///
/// `array` is the name of a global array, or words that only this array's name contains. `member`
/// is a member of its record. The component of a vector is `x`, `y`, `z` or `w`, or its index from
/// 0. Double quotes enclose names with other characters than letters, digits and underscores, and
/// the names `and` and `or`; within quotes, `\"` and `\\` stand for a quote and a backslash.
/// Numbers are written as in Rust, also `inf`.
///
/// | function | result |
/// |---|---|
/// | `nan(x)` | number of NaNs |
/// | `inf(x)` | number of infinities |
/// | `min(x)`, `max(x)` | smallest and largest number that is not NaN |
/// | `sum(x)` | exact sum, rounded once; without `abs` |
/// | `stale(a)` | number of chunk sides with stale ghost cells |
/// | `unfilled(a)` | number of chunk sides with ghost cells that were never filled |
///
/// `stale` and `unfilled` are known only in checked runs (`ZIPPY_CHECK=1`).
///
/// A function covers all numbers that its argument selects, every component of a vector:
/// `max(abs(u)) > 0.3` is true if some component of some cell is larger. For records, `nan` and
/// `inf` cover all members, and the other functions require one. Ghost cells do not count. Results
/// are compared as `f64`. If there is no smallest or largest number, as in an array without cells,
/// every comparison is false. `a == b` is true if all cells of two arrays have the same bits, and
/// `a != b` if some differ.
///
/// ```
/// use zippy_protocol::Condition;
///
/// let condition: Condition = "max(abs(u)) > 0.3 or nan(f) > 0".parse()?;
/// assert_eq!(condition.to_string(), "max(abs(u)) > 0.3 or nan(f) > 0.0");
/// let error = "max(abs(u)) > fast".parse::<Condition>().unwrap_err();
/// assert_eq!(error, "column 15: expected a number, such as 0.3 or -1e-6, found \"fast\"");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Alternatives; each is a list of tests that must all be true.
    alternatives: Vec<Vec<ConditionTest>>,
}

/// Comparison of a function of an array, or of two arrays.
#[derive(Debug, Clone, PartialEq)]
enum ConditionTest {
    /// Function of an array, compared with a number.
    Found { function: Function, abs: bool, path: NumberPath, relation: Relation, number: f64 },
    /// Equality (`same`) or inequality of two arrays.
    Same { arrays: [String; 2], same: bool },
}

/// Path of an array, or of numbers in its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NumberPath {
    array: String,
    /// Names of nested members, then at most one component.
    members: Vec<String>,
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

    /// True for functions of ghost cells, whose argument is a whole array.
    fn is_about_ghosts(self) -> bool {
        matches!(self, Self::Stale | Self::Unfilled)
    }
}

impl Relation {
    /// Longer signs first, because some signs are the start of others.
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
        for (index, all) in self.alternatives.iter().enumerate() {
            f.write_str(if index > 0 { " or " } else { "" })?;
            for (index, test) in all.iter().enumerate() {
                f.write_str(if index > 0 { " and " } else { "" })?;
                test.fmt(f)?;
            }
        }
        Ok(())
    }
}

impl Display for ConditionTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { function, abs, path, relation, number } => {
                let (name, sign) = (function.name(), relation.sign());
                if *abs {
                    write!(f, "{name}(abs({path})) {sign} {number:?}")
                } else {
                    write!(f, "{name}({path}) {sign} {number:?}")
                }
            }
            Self::Same { arrays: [first, second], same } => {
                let sign = if *same { Relation::Equal } else { Relation::Different }.sign();
                write!(f, "{} {sign} {}", Name(first), Name(second))
            }
        }
    }
}

impl Display for NumberPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(&self.array))?;
        self.members.iter().try_for_each(|name| write!(f, ".{}", Name(name)))
    }
}

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

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_char) && !matches!(name, "and" | "or")
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
