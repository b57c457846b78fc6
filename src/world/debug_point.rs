//! [`DebugPoint`]: what an observer is told.

use crate::error::CallSite;

/// A place in a program where one may look into its arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugPoint {
    /// Its name.
    pub name: String,
    /// Its number, from 1: how many this rank has come to.
    pub step: u64,
    /// Where the program called it.
    pub call_site: CallSite,
}
