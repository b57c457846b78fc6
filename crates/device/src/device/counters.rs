//! What a device has done, counted; and the memory that it lends and takes back.

use std::sync::atomic::{AtomicU64, Ordering};

/// Totals since the logical device was made, except where "now" is said. The proof that a warm repeat of an operation
/// allocates nothing is that `buffers_made`, `host_made` and `pipelines_made` stay as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Buffers made on the device, of any kind.
    pub buffers_made: u64,
    /// Bytes allocated on the device now: chunks, staging, tables, and idle pooled buffers.
    pub bytes_now: u64,
    /// The most that `bytes_now` has been since the device was opened or [`super::Device::reset_peak`] was called.
    pub bytes_peak: u64,
    /// Idle buffers used again instead of making one.
    pub buffers_reused: u64,
    /// Payload vectors made on the host.
    pub host_made: u64,
    /// Bytes of payload vectors that the host has now, idle ones among them.
    pub host_bytes_now: u64,
    /// The most that `host_bytes_now` has been since the device was opened or
    /// [`super::Device::reset_peak`] was called.
    pub host_bytes_peak: u64,
    /// Idle payload vectors used again.
    pub host_reused: u64,
    /// Compute pipelines made by transfers, operators and kernels.
    pub pipelines_made: u64,
    /// Dispatches made by transfers and operators.
    pub dispatches: u64,
    /// Queue submissions of what was recorded.
    pub submissions: u64,
    /// Chunk buffers and staging buffers mapped by the host.
    pub maps: u64,
}

/// Bytes allocated on all devices of this process.
static OF_PROCESS: AtomicU64 = AtomicU64::new(0);

/// [`Counters`] that any thread may add to.
#[derive(Default)]
pub(super) struct Tally {
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

impl Tally {
    pub fn read(&self) -> Counters {
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

    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub fn allocated(&self, bytes: u64) {
        Self::add(&self.buffers_made);
        let now = self.bytes_now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes_peak.fetch_max(now, Ordering::Relaxed);
        OF_PROCESS.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a payload vector that was made.
    pub fn host_allocated(&self, bytes: u64) {
        let now = self.host_bytes_now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.host_bytes_peak.fetch_max(now, Ordering::Relaxed);
    }

    /// Counts a payload vector that was freed.
    pub fn host_freed(&self, bytes: u64) {
        self.host_bytes_now.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes allocated now: by this device, and by all of this process.
    pub fn bytes_now(&self) -> [u64; 2] {
        [&self.bytes_now, &OF_PROCESS].map(|bytes| bytes.load(Ordering::Relaxed))
    }

    pub fn reset_peak(&self) {
        self.bytes_peak.store(self.bytes_now.load(Ordering::Relaxed), Ordering::Relaxed);
        self.host_bytes_peak.store(self.host_bytes_now.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub fn freed(&self, bytes: u64) {
        self.bytes_now.fetch_sub(bytes, Ordering::Relaxed);
        OF_PROCESS.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What a device still held when it was dropped is free with it.
impl Drop for Tally {
    fn drop(&mut self) {
        OF_PROCESS.fetch_sub(*self.bytes_now.get_mut(), Ordering::Relaxed);
    }
}
