//! [`DebugPoint`]: argument of an observer.

use crate::error::CallSite;

/// Point of a program at which arrays can be inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugPoint {
    /// Name from the program.
    pub name: String,
    /// Number of debug points of this rank so far, starting at 1.
    pub step: u64,
    /// Call site in the program.
    pub call_site: CallSite,
}
