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

/// Debug points at which the ranks synchronize next, the same on all ranks: no messages are sent at
/// other debug points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SyncConditions {
    /// Number of the debug point of the next regular synchronization.
    pub next: u64,
    /// Name of a debug point to synchronize at.
    pub run_to: Option<String>,
    /// Rules that require a synchronization where they hold.
    pub rules: Vec<Rule>,
}
