//! Stability checks with results on the device.

use zippy::{Kernel, LocalArray};

/// Largest number of checks until [`Flow::finish_checks`](crate::Flow::finish_checks) reads them.
pub(super) const MAX_PENDING_CHECKS: usize = 32;

/// Words of a result: the largest key, and the index of the cell.
pub(super) const RESULT_WORDS: usize = 2;

/// Stability checks with results on the device.
pub(super) struct PendingChecks {
    pub run_fastest_kernel: Kernel,
    pub run_index_kernel: Kernel,
    /// Key and index of the fastest cell of each run, for each chunk.
    pub run_fastest: Vec<LocalArray<u32, 4>>,
    /// Key and index of the fastest cell, for each check and chunk.
    pub fastest: LocalArray<u32, 1>,
    /// Step of each pending check.
    pub steps: Vec<u64>,
}

pub(super) fn empty_results(chunks: usize) -> Vec<u32> {
    [0, u32::MAX].repeat(MAX_PENDING_CHECKS * chunks.max(1))
}
