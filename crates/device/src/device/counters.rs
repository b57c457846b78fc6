//! [`Counters`]: numbers of allocations and operations of a device.

use std::sync::atomic::{AtomicU64, Ordering};

/// Allocation and operation totals of a logical device since its creation; names with `now` are
/// current values.
///
/// If a repeated operation changes none of `buffers_made`, `host_made` and `pipelines_made`, it
/// allocates nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Buffers created on the device.
    pub buffers_made: u64,
    /// Current bytes allocated on the device: chunks, staging, tables, and idle buffers.
    pub bytes_now: u64,
    /// Maximum of `bytes_now` since [`super::Device::open`] or [`super::Device::reset_peak`].
    pub bytes_peak: u64,
    /// Number of requests that an idle buffer satisfied.
    pub buffers_reused: u64,
    /// Payload vectors created on the host.
    pub host_made: u64,
    /// Current bytes of payload vectors on the host, idle ones included.
    pub host_bytes_now: u64,
    /// Maximum of `host_bytes_now` since [`super::Device::open`] or [`super::Device::reset_peak`].
    pub host_bytes_peak: u64,
    /// Number of requests that an idle payload vector satisfied.
    pub host_reused: u64,
    /// Pipelines created for transfers, operators and kernels.
    pub pipelines_made: u64,
    /// Dispatches of transfers and operators.
    pub dispatches: u64,
    /// Number of queue submissions of recorded commands.
    pub submissions: u64,
    /// Number of maps of chunk buffers and staging buffers.
    pub maps: u64,
}

/// Bytes allocated on all devices of this process.
static PROCESS_BYTES: AtomicU64 = AtomicU64::new(0);

/// [`Counters`] that any thread can increment.
#[derive(Default)]
pub(super) struct AtomicCounters {
    pub buffers_made: AtomicU64,
    pub bytes_now: AtomicU64,
    pub bytes_peak: AtomicU64,
    pub buffers_reused: AtomicU64,
    pub host_made: AtomicU64,
    pub host_bytes_now: AtomicU64,
    pub host_bytes_peak: AtomicU64,
    pub host_reused: AtomicU64,
    pub pipelines_made: AtomicU64,
    pub dispatches: AtomicU64,
    pub submissions: AtomicU64,
    pub maps: AtomicU64,
}

impl AtomicCounters {
    pub(super) fn read(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            buffers_made: get(&self.buffers_made),
            bytes_now: get(&self.bytes_now),
            bytes_peak: get(&self.bytes_peak),
            buffers_reused: get(&self.buffers_reused),
            host_made: get(&self.host_made),
            host_bytes_now: get(&self.host_bytes_now),
            host_bytes_peak: get(&self.host_bytes_peak),
            host_reused: get(&self.host_reused),
            pipelines_made: get(&self.pipelines_made),
            dispatches: get(&self.dispatches),
            submissions: get(&self.submissions),
            maps: get(&self.maps),
        }
    }

    pub(super) fn increment(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_buffer(&self, bytes: u64) {
        Self::increment(&self.buffers_made);
        let now = self.bytes_now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes_peak.fetch_max(now, Ordering::Relaxed);
        PROCESS_BYTES.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn add_host_block(&self, bytes: u64) {
        let now = self.host_bytes_now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.host_bytes_peak.fetch_max(now, Ordering::Relaxed);
    }

    pub(super) fn remove_host_block(&self, bytes: u64) {
        self.host_bytes_now.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes allocated on all devices of this process.
    pub(super) fn process_bytes() -> u64 {
        PROCESS_BYTES.load(Ordering::Relaxed)
    }

    pub(super) fn reset_peak(&self) {
        self.bytes_peak.store(self.bytes_now.load(Ordering::Relaxed), Ordering::Relaxed);
        self.host_bytes_peak.store(self.host_bytes_now.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn remove_buffer(&self, bytes: u64) {
        self.bytes_now.fetch_sub(bytes, Ordering::Relaxed);
        PROCESS_BYTES.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The drop of a device frees all its buffers.
impl Drop for AtomicCounters {
    fn drop(&mut self) {
        PROCESS_BYTES.fetch_sub(*self.bytes_now.get_mut(), Ordering::Relaxed);
    }
}
