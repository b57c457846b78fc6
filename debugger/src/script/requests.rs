//! Requests of a script.

use serde::Deserialize;
use zippy_protocol::{Control, Rule, When};

use super::shot::Shot;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScriptRequest {
    Program(NoArguments),
    Point(NoArguments),
    Steps(NoArguments),
    Arrays(Filter),
    View(ViewRequestLine),
    Pick(Pick),
    Summary(SummaryRequestLine),
    Ghosts(Ghosts),
    Compare([ArrayName; 2]),
    Moves(NoArguments),
    Timeline(TimelineStart),
    Control(ControlLine),
    Step(u64),
    GoTo(u64),
    Rules(Vec<RuleLine>),
    Wait(Wait),
    Shot(Box<Shot>),
}

/// The empty object `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

/// Filter of the list of arrays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    pub name: Option<String>,
}

/// Name of an array, with a rank if necessary.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an array is a name, or {\"name\": …, \"rank\": …}")]
pub(super) enum ArrayName {
    Name(String),
    OfRank { name: String, rank: Option<u32> },
}

impl ArrayName {
    pub(super) fn parts(&self) -> (&str, Option<u32>) {
        match self {
            Self::Name(name) => (name, None),
            Self::OfRank { name, rank } => (name, *rank),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewRequestLine {
    pub array: ArrayName,
    /// First index and end (exclusive) along each axis.
    #[serde(rename = "box")]
    pub region: Vec<[i64; 2]>,
    pub stride: Option<Vec<i64>>,
    pub component: Option<String>,
    pub chunk: Option<u64>,
}

/// Request for a single cell.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pick {
    pub array: ArrayName,
    pub at: Vec<i64>,
    /// Chunk that provides the cell, possibly as a ghost cell.
    pub chunk: Option<u64>,
}

/// Request for statistics.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SummaryRequestLine {
    pub array: ArrayName,
    pub component: Option<String>,
    #[serde(default)]
    pub bins: u16,
    #[serde(default)]
    pub percentiles: Vec<f64>,
    pub range: Option<[f64; 2]>,
}

/// Request for the states of ghost cells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ghosts {
    pub array: ArrayName,
}

/// Start time of a timeline.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimelineStart {
    /// Microseconds since the start of the run.
    #[serde(default)]
    pub since: u64,
}

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

/// A breakpoint: debug points of a name, every n-th debug point, or debug points where a condition
/// is true.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleLine {
    name: Option<String>,
    every: Option<u64>,
    condition: Option<String>,
}

/// Converts a breakpoint.
///
/// # Errors
/// The line has no field, or two fields that exclude each other.
pub(super) fn rule(line: RuleLine) -> Result<Rule, String> {
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

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitFor {
    Paused,
    End,
    /// A program connects, after the end of an earlier one.
    Program,
}

/// Event to wait for, with a time limit in seconds.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "what is waited for is \"paused\", \"end\" or \"program\", or {\"for\": …, \"seconds\": …}"
)]
pub(super) enum Wait {
    Word(WaitFor),
    Long {
        #[serde(rename = "for")]
        event: WaitFor,
        seconds: Option<f64>,
    },
}

impl Wait {
    pub(super) fn parts(&self) -> (WaitFor, Option<f64>) {
        match self {
            Self::Word(event) => (*event, None),
            Self::Long { event, seconds } => (*event, *seconds),
        }
    }
}
