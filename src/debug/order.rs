//! [`Order`]: what rank 0 tells the others at a debug point.

use serde::{Deserialize, Serialize};

use super::protocol::{Request, Rule};

/// What all ranks do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    /// They find out what a viewer wants to know.
    Serve(Request),
    /// Nothing, and they ask again: the program is paused.
    Wait,
    /// They go on.
    Go(Ahead),
    /// They go on, and nobody looks any more.
    Detach,
    /// They end the program.
    Stop,
}

/// When ranks meet again. All of them know it, so that nothing is sent at other debug points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// At this debug point at the latest.
    pub next: u64,
    /// At the next one of this name.
    pub run_to: Option<String>,
    /// Where one of these comes true.
    pub rules: Vec<Rule>,
}
