//! [`GhostState`]: validity of ghost cells.

use serde::{Deserialize, Serialize};

/// State of the ghost cells on one side of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GhostState {
    /// Filled, and their owners have not been written since.
    Fresh,
    /// Filled, but an owner has been written since.
    Stale,
    /// Not filled since the array was created.
    NeverFilled,
}
