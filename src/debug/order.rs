//! [`Order`]: instruction of rank 0 to all ranks at a debug point.

use serde::{Deserialize, Serialize};

use zippy_protocol::{Request, Rule};

/// Instruction of rank 0 for all ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Compute the answer to a viewer's request.
    Serve(Request),
    /// Wait for the next order: the program is paused.
    Wait,
    /// Continue the program.
    Continue(SyncConditions),
    /// Continue the program without viewers.
    Detach,
    /// End the program.
    Stop,
}

/// Debug points at which ranks synchronize next. All ranks have the same conditions, so no messages
/// are sent at other debug points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SyncConditions {
    /// The number of the latest such debug point.
    pub next: u64,
    /// The next debug point with this name.
    pub run_to: Option<String>,
    /// Debug points at which one of these rules holds.
    pub rules: Vec<Rule>,
}
