//! Where a program is, and where it is to stop.

use serde::{Deserialize, Serialize};

/// What a program does next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// It pauses at its next debug point.
    Pause,
    /// It goes on until a rule pauses it.
    Continue,
    /// It goes on for so many debug points, at least 1, or until a rule pauses it.
    Step(u64),
    /// It goes on to the next debug point of this name, or until a rule pauses it.
    RunTo(String),
    /// It goes on and nobody looks at it any more.
    Detach,
    /// It ends: its debug point returns an error on every rank.
    Stop,
}

/// Pauses the program each time that it comes true at a debug point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Only at debug points of this name; at all where there is none.
    pub name: Option<String>,
    /// What must be true there.
    pub when: When,
}

/// What makes a rule come true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum When {
    /// Always.
    Always,
    /// Each so-manyth debug point of the run, counted from the first one.
    Every(u64),
    /// A condition on arrays, such as `max(abs(u)) > 0.3`.
    Condition(String),
}

/// A debug point that a program is at, or was at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Its number, from 1.
    pub step: u64,
    /// Its name.
    pub name: String,
    /// The file of the call.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Whether the program waits there.
    pub paused: bool,
    /// Why it does, in words; empty where it was asked to, or runs.
    pub reason: String,
    /// Microseconds since the run began.
    pub micros: u64,
}
