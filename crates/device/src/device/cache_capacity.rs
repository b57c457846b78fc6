//! Capacity of the caches of plans and of compiled kernels.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Capacity, in bytes, of all caches of one kind in a process: of plans, or of compiled kernels.
///
/// [`Device::rank_share`](super::Device::rank_share) divides it among ranks. The cache of a rank
/// with a larger working set grows, up to four times its share.
static CAPACITY_BYTES: AtomicUsize = AtomicUsize::new(128 << 20);

/// Returns the capacity, in bytes, of all caches of one kind.
pub fn cache_capacity() -> usize {
    CAPACITY_BYTES.load(Ordering::Relaxed)
}

/// Sets the capacity, in bytes, of all caches of one kind. For tests, which reach a small capacity
/// after few plans and compilations.
pub fn set_cache_capacity(bytes: usize) {
    CAPACITY_BYTES.store(bytes, Ordering::Relaxed);
}

/// Estimates the memory of a compiled WGSL text, in bytes: the text, naga's module, and the
/// driver's code.
pub fn estimate_compiled_bytes(text: &str) -> usize {
    (256 << 10) + 32 * text.len()
}
