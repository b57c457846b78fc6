use serde::{Deserialize, Serialize};

/// State of the ghost cells on one side of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GhostState {
    /// Filled, without later writes of their owners.
    Fresh,
    /// Filled, with later writes of an owner.
    Stale,
    /// Not filled since the array was created.
    NeverFilled,
}
