//! [`MemoryPool`]: chunk buffers, staging buffers and payload vectors of a logical device. Memory
//! can be returned on any thread.

use std::sync::{Mutex, MutexGuard};

use wgpu::BufferUsages;

use super::counters::{AtomicCounters, Counters};
use super::idle_blocks::{IdleBlocks, max_reusable_bytes, size_class};

/// Size, in bytes, of idle memory of a kind that is always allowed.
const MIN_IDLE_BYTES: u64 = 1 << 20;
/// Maximum total size of idle chunk buffers, in bytes; it keeps peak memory close to used memory.
const MAX_IDLE_CHUNK_BYTES: u64 = 64 << 20;
/// Maximum total size of idle payload vectors, in bytes.
const MAX_IDLE_HOST_BYTES: u64 = 256 << 20;
/// Maximum size, in bytes, of a transfer in staging memory. Longer payloads are cut into slices.
pub(super) const SLICE_BYTES: u64 = 8 << 20;
/// Maximum total size, in bytes, of the lent staging buffers of a kind. Payloads beyond the limit
/// are copied to vectors of the host.
pub(super) const MAX_LENT_STAGING_BYTES: u64 = 3 * SLICE_BYTES;
/// Maximum size, in bytes, of payload vectors that are lent for a payload of any shorter length.
const MIN_HOST_BYTES: u64 = 8 << 10;
/// Minimum size of a staging buffer, in bytes.
const MIN_STAGING_BYTES: u64 = 64 << 10;

/// Use of a staging buffer, which determines its wgpu usages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StagingKind {
    /// Written by the device, mapped and read by the host.
    Readback,
    /// Mapped and written by the host, read by the device. Idle buffers are mapped.
    Upload,
    /// Read and written by the device, for packs, unpacks and overlapping copies.
    Device,
}

impl StagingKind {
    pub(super) const ALL: [Self; 3] = [Self::Readback, Self::Upload, Self::Device];

    pub(super) fn usage(self) -> BufferUsages {
        match self {
            Self::Readback => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            Self::Upload => BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
            Self::Device => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        }
    }
}

/// Pool of the chunk buffers, staging buffers and payload vectors of a logical device. Every lent
/// block refers to its pool.
#[derive(Default)]
pub(super) struct MemoryPool {
    pub counters: AtomicCounters,
    idle: Mutex<IdleMemory>,
}

struct IdleMemory {
    chunks: IdleBlocks<wgpu::Buffer>,
    staging: IdleBlocks<(StagingKind, wgpu::Buffer)>,
    /// Kind and size, in bytes, of every staging buffer, idle or lent.
    all_staging: Vec<(StagingKind, u64)>,
    host: IdleBlocks<Vec<u64>>,
}

impl Default for IdleMemory {
    fn default() -> Self {
        Self {
            chunks: IdleBlocks::new(MIN_IDLE_BYTES, MAX_IDLE_CHUNK_BYTES),
            // `Device::staging` bounds staging buffers.
            staging: IdleBlocks::new(u64::MAX, u64::MAX),
            all_staging: Vec::new(),
            host: IdleBlocks::new(MIN_IDLE_BYTES, MAX_IDLE_HOST_BYTES),
        }
    }
}

impl std::fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counters().fmt(f)
    }
}

/// Total and lent size, in bytes, of the staging buffers of a kind.
pub(super) struct StagingBytes {
    pub total: u64,
    pub lent: u64,
}

/// Returns the size, in bytes, of a new staging buffer for `bytes` bytes.
pub(super) fn staging_size(bytes: u64) -> u64 {
    size_class(bytes.max(MIN_STAGING_BYTES))
}

/// Returns the maximum size, in bytes, of a staging buffer or payload vector that can satisfy a
/// request. Loans are short, so a large existing block is better than a new one.
fn largest_temporary(bytes: u64) -> u64 {
    size_class(bytes).saturating_mul(4)
}

impl MemoryPool {
    pub(super) fn counters(&self) -> Counters {
        self.counters.read()
    }

    fn idle(&self) -> MutexGuard<'_, IdleMemory> {
        self.idle.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Counts a chunk buffer that the caller creates next, and frees surplus idle buffers.
    pub(super) fn count_new_chunk(&self, size: u64) {
        let freed = self.idle().chunks.lend_new(size);
        freed.iter().for_each(|buffer| self.counters.remove_buffer(buffer.size()));
    }

    /// Removes a chunk buffer from the counts after its creation failed.
    pub(super) fn forget_chunk(&self, size: u64) {
        self.idle().chunks.forget(size);
    }

    /// Returns a chunk buffer to the pool, and frees surplus idle buffers.
    pub(super) fn return_chunk(&self, raw: wgpu::Buffer) {
        let freed = self.idle().chunks.give_back(raw);
        freed.iter().for_each(|buffer| self.counters.remove_buffer(buffer.size()));
    }

    /// Lends the smallest idle chunk buffer of `bytes` to `largest` bytes with this usage, unless
    /// it is much larger than the request.
    pub(super) fn reuse_chunk(&self, bytes: u64, largest: u64, usage: BufferUsages) -> Option<wgpu::Buffer> {
        let is_usable = |buffer: &wgpu::Buffer| buffer.usage() == usage;
        let found = self.idle().chunks.take(bytes, max_reusable_bytes(bytes).min(largest), is_usable)?;
        AtomicCounters::increment(&self.counters.buffers_reused);
        Some(found)
    }

    /// Lends the smallest idle staging buffer of at least `bytes` bytes, unless it is much larger
    /// than the request.
    pub(super) fn reuse_staging(&self, kind: StagingKind, bytes: u64) -> Option<wgpu::Buffer> {
        let largest = largest_temporary(bytes.max(MIN_STAGING_BYTES));
        let found = self.idle().staging.take(bytes, largest, |(k, _)| *k == kind)?;
        AtomicCounters::increment(&self.counters.buffers_reused);
        Some(found.1)
    }

    pub(super) fn count_new_staging(&self, kind: StagingKind, size: u64) {
        let mut idle = self.idle();
        idle.all_staging.push((kind, size));
        // Staging buffers have no bound here, so there is no surplus.
        drop(idle.staging.lend_new(size));
    }

    /// Returns a staging buffer to the pool; frees a buffer that is longer than a slice.
    pub(super) fn return_staging(&self, kind: StagingKind, buffer: wgpu::Buffer) {
        if buffer.size() <= SLICE_BYTES {
            drop(self.idle().staging.give_back((kind, buffer)));
        } else {
            self.free_staging(kind, buffer);
        }
    }

    pub(super) fn free_staging(&self, kind: StagingKind, buffer: wgpu::Buffer) {
        let mut idle = self.idle();
        idle.staging.forget(buffer.size());
        self.forget_staging(&mut idle, kind, buffer.size());
    }

    fn forget_staging(&self, idle: &mut IdleMemory, kind: StagingKind, size: u64) {
        if let Some(index) = idle.all_staging.iter().position(|entry| *entry == (kind, size)) {
            idle.all_staging.swap_remove(index);
        }
        self.counters.remove_buffer(size);
    }

    pub(super) fn staging_bytes(&self, kind: StagingKind) -> StagingBytes {
        let idle = self.idle();
        let unused: u64 = idle.staging.iter().filter(|(k, _)| *k == kind).map(|(_, buffer)| buffer.size()).sum();
        let total: u64 = idle.all_staging.iter().filter(|(k, _)| *k == kind).map(|(_, size)| size).sum();
        StagingBytes { total, lent: total.saturating_sub(unused) }
    }

    /// True if a staging buffer, idle or lent, is large enough for a request of `bytes` bytes.
    pub(super) fn staging_exists(&self, kind: StagingKind, bytes: u64) -> bool {
        let sizes = bytes..=largest_temporary(bytes.max(MIN_STAGING_BYTES));
        self.idle().all_staging.iter().any(|(k, size)| *k == kind && sizes.contains(size))
    }

    /// Frees idle staging buffers of a kind, the largest first, until `bytes` bytes are freed.
    pub(super) fn shrink_staging(&self, kind: StagingKind, bytes: u64) {
        let mut idle = self.idle();
        let mut freed = 0;
        while freed < bytes {
            let Some((_, largest)) = idle.staging.remove_largest(|(k, _)| *k == kind) else { return };
            let size = largest.size();
            self.forget_staging(&mut idle, kind, size);
            freed += size;
        }
    }

    /// Lends a payload vector of at least `bytes` bytes, with unspecified contents.
    pub(super) fn lend_host_block(&self, bytes: usize) -> Vec<u64> {
        let size = size_class(bytes as u64);
        let mut idle = self.idle();
        if let Some(block) = idle.host.take(bytes as u64, largest_temporary(bytes as u64).max(MIN_HOST_BYTES), |_| true)
        {
            AtomicCounters::increment(&self.counters.host_reused);
            return block;
        }
        let freed = idle.host.lend_new(size);
        drop(idle);
        self.free_host_blocks(freed);
        AtomicCounters::increment(&self.counters.host_made);
        self.counters.add_host_block(size);
        vec![0; (size / 8) as usize]
    }

    pub(super) fn return_host_block(&self, block: Vec<u64>) {
        let freed = self.idle().host.give_back(block);
        self.free_host_blocks(freed);
    }

    fn free_host_blocks(&self, blocks: Vec<Vec<u64>>) {
        blocks.iter().for_each(|block| self.counters.remove_host_block(8 * block.len() as u64));
    }

    pub(super) fn free_idle(&self) {
        self.free_idle_except_staging();
        for kind in StagingKind::ALL {
            self.shrink_staging(kind, u64::MAX);
        }
    }

    pub(super) fn free_idle_except_staging(&self) {
        let mut idle = self.idle();
        idle.chunks.drain().for_each(|buffer| self.counters.remove_buffer(buffer.size()));
        idle.host.drain().for_each(|block| self.counters.remove_host_block(8 * block.len() as u64));
    }
}
