//! What a line of a script can be.

use serde::Deserialize;
use zippy::debug::protocol::{Control, Rule, When};

use crate::shot::Shot;

/// A line.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    Program(Nothing),
    Point(Nothing),
    Steps(Nothing),
    Arrays(Filter),
    View(Seen),
    Pick(Pick),
    Summary(Summed),
    Ghosts(Ghosts),
    Compare([ArrayName; 2]),
    Moves(Nothing),
    Timeline(Since),
    Control(ControlLine),
    Step(u64),
    GoTo(u64),
    Rules(Vec<RuleLine>),
    Wait(Wait),
    Shot(Box<Shot>),
}

/// `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Which arrays are listed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// A part of the name.
    pub name: Option<String>,
}

/// An array.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an array is a name, or {\"name\": …, \"rank\": …}")]
pub enum ArrayName {
    Name(String),
    OfRank { name: String, rank: Option<u32> },
}

impl ArrayName {
    /// Its name, and its rank.
    pub fn parts(&self) -> (&str, Option<u32>) {
        match self {
            Self::Name(name) => (name, None),
            Self::OfRank { name, rank } => (name, *rank),
        }
    }
}

/// Some cells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub array: ArrayName,
    /// Start and end along each axis.
    #[serde(rename = "box")]
    pub region: Vec<[i64; 2]>,
    pub stride: Option<Vec<i64>>,
    pub component: Option<String>,
    pub chunk: Option<u64>,
}

/// A cell.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pick {
    pub array: ArrayName,
    pub at: Vec<i64>,
    /// The chunk whose ghost cell it may be.
    pub chunk: Option<u64>,
}

/// What numbers are like.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summed {
    pub array: ArrayName,
    pub component: Option<String>,
    #[serde(default)]
    pub bins: u16,
    #[serde(default)]
    pub percentiles: Vec<f64>,
    pub range: Option<[f64; 2]>,
}

/// Ghost cells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ghosts {
    pub array: ArrayName,
}

/// From when on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// Microseconds since the run began.
    #[serde(default)]
    pub since: u64,
}

/// What the program does next.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlLine {
    Pause,
    Continue,
    Step(u64),
    RunTo(String),
    Detach,
    Stop,
}

impl From<ControlLine> for Control {
    fn from(line: ControlLine) -> Self {
        match line {
            ControlLine::Pause => Self::Pause,
            ControlLine::Continue => Self::Continue,
            ControlLine::Step(count) => Self::Step(count),
            ControlLine::RunTo(name) => Self::RunTo(name),
            ControlLine::Detach => Self::Detach,
            ControlLine::Stop => Self::Stop,
        }
    }
}

/// A rule: at debug points of a name, every so many, where a condition is true.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleLine {
    name: Option<String>,
    every: Option<u64>,
    condition: Option<String>,
}

/// The rule that a line means.
///
/// # Errors
/// It says nothing, or two things.
pub fn rule(line: RuleLine) -> Result<Rule, String> {
    let when = match (line.every, line.condition) {
        (Some(_), Some(_)) => return Err("a rule has `every` or `condition`: make two of it".into()),
        (Some(0), None) => return Err("every 0 debug points is never: it must be at least 1".into()),
        (Some(every), None) => When::Every(every),
        (None, Some(condition)) => When::Condition(condition),
        (None, None) if line.name.is_none() => return Err("a rule has a `name`, `every` or a `condition`".into()),
        (None, None) => When::Always,
    };
    Ok(Rule { name: line.name, when })
}

/// What is waited for.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// A pause.
    Paused,
    /// The end of the program.
    End,
    /// A program, where there was none any more.
    Program,
}

/// What is waited for, and how long.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "what is waited for is \"paused\", \"end\" or \"program\", or {\"for\": …, \"seconds\": …}"
)]
pub enum Wait {
    Word(WaitFor),
    Long {
        #[serde(rename = "for")]
        what: WaitFor,
        seconds: Option<f64>,
    },
}

impl Wait {
    /// What, and how many seconds.
    pub fn parts(&self) -> (WaitFor, Option<f64>) {
        match self {
            Self::Word(what) => (*what, None),
            Self::Long { what, seconds } => (*what, *seconds),
        }
    }
}
