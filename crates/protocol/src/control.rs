//! Control of a program: debug points, rules and commands.

use serde::{Deserialize, Serialize};

/// Command of a viewer to the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// Pause at the next debug point.
    Pause,
    /// Continue until a rule pauses the program.
    Continue,
    /// Continue for this number of debug points, at least 1, or until a rule pauses the program.
    Step(u64),
    /// Continue to the next debug point of this name, or until a rule pauses the program.
    RunTo(String),
    /// Continue without viewers.
    Detach,
    /// End the program: its debug point returns an error on every rank.
    Stop,
}

/// Rule that pauses the program at each debug point at which it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Restricts the rule to debug points of this name; `None` for all.
    pub name: Option<String>,
    /// Condition of the rule.
    pub when: When,
}

/// Condition of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum When {
    /// Holds always.
    Always,
    /// Holds at debug points whose number is a multiple of this number.
    Every(u64),
    /// Holds if a condition on arrays is true, such as `max(abs(u)) > 0.3`.
    Condition(String),
}

/// Debug point that a program has reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Number of the debug point, from 1.
    pub step: u64,
    /// Name of the debug point.
    pub name: String,
    /// File of the call site.
    pub file: String,
    /// Line of the call site.
    pub line: u32,
    /// True if the program is paused there.
    pub paused: bool,
    /// Rule that paused the program; empty if a viewer did, or if the program runs.
    pub reason: String,
    /// Microseconds since the run began.
    pub micros: u64,
}
