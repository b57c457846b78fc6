//! Idle memory of a logical device: chunk buffers, staging buffers, payload vectors. Any thread may
//! return lent memory.

use std::sync::{Mutex, MutexGuard};

use wgpu::BufferUsages;

use super::counters::{Counters, Tally};
use super::idle::{self, IdleBlocks, largest_fit};

/// Bytes of idle blocks of a kind that are kept however little is lent.
const LEAST_IDLE_BYTES: u64 = 1 << 20;
/// Greatest total size of idle chunk buffers, in bytes. Idle buffers beyond it are freed, so that
/// peak memory is close to the used memory.
const IDLE_CHUNK_BYTES: u64 = 64 << 20;
/// Greatest total size of idle payload vectors on the host, in bytes.
const IDLE_HOST_BYTES: u64 = 256 << 20;
/// One slice of a transfer that goes through staging memory. Longer payloads go slice by slice.
pub(super) const SLICE_BYTES: u64 = 8 << 20;
/// Staging buffers of one kind that may be lent at the same time; beyond it payloads are copied to
/// the host.
pub(super) const LENT_BYTES: u64 = 3 * SLICE_BYTES;
/// Payload vectors up to this size serve every shorter payload.
const MIN_HOST_BYTES: u64 = 8 << 10;
/// The smallest staging buffer.
const MIN_CLASS_BYTES: u64 = 64 << 10;

/// Purpose of a staging buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Staging {
    /// Written by the device, mapped and read by the host.
    Readback,
    /// Mapped and written by the host, read by the device. Idle ones are mapped.
    Upload,
    /// Seen by the device only: one side of a pack, an unpack or an overlapping copy.
    Device,
}

impl Staging {
    pub fn usage(self) -> BufferUsages {
        match self {
            Self::Readback => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            Self::Upload => BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
            Self::Device => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        }
    }
}

/// Counts and idle memory. Shared with everything that was lent.
#[derive(Default)]
pub(super) struct MemoryPool {
    pub tally: Tally,
    idle: Mutex<Idle>,
}

struct Idle {
    chunks: IdleBlocks<wgpu::Buffer>,
    staging: IdleBlocks<(Staging, wgpu::Buffer)>,
    /// Kind and size of all staging buffers that exist, idle or lent.
    staging_made: Vec<(Staging, u64)>,
    host: IdleBlocks<Vec<u64>>,
}

impl Default for Idle {
    fn default() -> Self {
        Self {
            chunks: IdleBlocks::new(LEAST_IDLE_BYTES, IDLE_CHUNK_BYTES),
            // Their users bound them.
            staging: IdleBlocks::new(u64::MAX, u64::MAX),
            staging_made: Vec::new(),
            host: IdleBlocks::new(LEAST_IDLE_BYTES, IDLE_HOST_BYTES),
        }
    }
}

impl std::fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counters().fmt(f)
    }
}

/// The size of a new staging buffer.
pub(super) fn class(bytes: u64) -> u64 {
    idle::class(bytes.max(MIN_CLASS_BYTES))
}

/// The largest staging buffer or payload vector that serves a request: they are short-lived, so
/// that one that exists is better than a new one.
fn largest_temporary(bytes: u64) -> u64 {
    idle::class(bytes).saturating_mul(4)
}

impl MemoryPool {
    pub fn counters(&self) -> Counters {
        self.tally.read()
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Counts a chunk buffer that is made next.
    pub fn lend_new_chunk(&self, size: u64) {
        let freed = self.idle().chunks.lend_new(size);
        freed.iter().for_each(|buffer| self.tally.freed(buffer.size()));
    }

    /// Counts a chunk buffer that could not be made.
    pub fn forget_chunk(&self, size: u64) {
        self.idle().chunks.forget(size);
    }

    pub fn keep_chunk(&self, raw: wgpu::Buffer) {
        let freed = self.idle().chunks.keep(raw);
        freed.iter().for_each(|buffer| self.tally.freed(buffer.size()));
    }

    /// The smallest idle chunk buffer of `bytes` to `largest` bytes, as far as that wastes little.
    pub fn reuse_chunk(&self, bytes: u64, largest: u64, usage: BufferUsages) -> Option<wgpu::Buffer> {
        let usable = |buffer: &wgpu::Buffer| buffer.usage() == usage;
        let found = self.idle().chunks.take(bytes, largest_fit(bytes).min(largest), usable)?;
        Tally::add(&self.tally.buffers_reused);
        Some(found)
    }

    /// The smallest idle staging buffer that holds `bytes` and is not wastefully large.
    pub fn reuse_staging(&self, kind: Staging, bytes: u64) -> Option<wgpu::Buffer> {
        let largest = largest_temporary(bytes.max(MIN_CLASS_BYTES));
        let found = self.idle().staging.take(bytes, largest, |(of, _)| *of == kind)?;
        Tally::add(&self.tally.buffers_reused);
        Some(found.1)
    }

    /// Counts a staging buffer that was made.
    pub fn made_staging(&self, kind: Staging, size: u64) {
        let mut idle = self.idle();
        idle.staging_made.push((kind, size));
        // No staging buffer is ever too much.
        drop(idle.staging.lend_new(size));
    }

    /// Takes staging memory back; frees a buffer that is longer than a slice.
    pub fn keep_staging(&self, kind: Staging, buffer: wgpu::Buffer) {
        if buffer.size() <= SLICE_BYTES {
            drop(self.idle().staging.keep((kind, buffer)));
        } else {
            self.free_staging(kind, buffer);
        }
    }

    /// Frees a staging buffer: takes it out of the accounts, without keeping it for another use.
    pub fn free_staging(&self, kind: Staging, buffer: wgpu::Buffer) {
        let mut idle = self.idle();
        idle.staging.forget(buffer.size());
        self.forget_staging(&mut idle, kind, buffer.size());
    }

    fn forget_staging(&self, idle: &mut Idle, kind: Staging, size: u64) {
        if let Some(i) = idle.staging_made.iter().position(|made| *made == (kind, size)) {
            idle.staging_made.swap_remove(i);
        }
        self.tally.freed(size);
    }

    /// Bytes of staging buffers of a kind that exist, and of those the bytes lent.
    pub fn staging_bytes(&self, kind: Staging) -> (u64, u64) {
        let idle = self.idle();
        let unused: u64 = idle.staging.iter().filter(|(of, _)| *of == kind).map(|(_, buffer)| buffer.size()).sum();
        let all: u64 = idle.staging_made.iter().filter(|(k, _)| *k == kind).map(|(_, size)| size).sum();
        (all, all.saturating_sub(unused))
    }

    /// Whether a staging buffer that could hold `bytes` exists, be it lent.
    pub fn staging_exists(&self, kind: Staging, bytes: u64) -> bool {
        let sizes = bytes..=largest_temporary(bytes.max(MIN_CLASS_BYTES));
        self.idle().staging_made.iter().any(|(of, size)| *of == kind && sizes.contains(size))
    }

    /// Frees idle staging buffers of a kind, the largest first, until `bytes` less exist.
    pub fn shrink_staging(&self, kind: Staging, bytes: u64) {
        let mut idle = self.idle();
        let mut freed = 0;
        while freed < bytes {
            let Some((_, largest)) = idle.staging.take_largest(|(of, _)| *of == kind) else { return };
            let size = largest.size();
            self.forget_staging(&mut idle, kind, size);
            freed += size;
        }
    }

    /// A vector of at least `bytes` bytes, with whatever was in it.
    pub fn host_block(&self, bytes: usize) -> Vec<u64> {
        let size = idle::class(bytes as u64);
        let mut idle = self.idle();
        if let Some(block) = idle.host.take(bytes as u64, largest_temporary(bytes as u64).max(MIN_HOST_BYTES), |_| true)
        {
            Tally::add(&self.tally.host_reused);
            return block;
        }
        let freed = idle.host.lend_new(size);
        drop(idle);
        self.free_host_blocks(freed);
        Tally::add(&self.tally.host_made);
        self.tally.host_allocated(size);
        vec![0; (size / 8) as usize]
    }

    pub fn keep_host_block(&self, block: Vec<u64>) {
        let freed = self.idle().host.keep(block);
        self.free_host_blocks(freed);
    }

    fn free_host_blocks(&self, blocks: Vec<Vec<u64>>) {
        blocks.iter().for_each(|block| self.tally.host_freed(8 * block.len() as u64));
    }

    /// Frees everything idle.
    pub fn trim(&self) {
        self.trim_to_staging();
        for kind in [Staging::Readback, Staging::Upload, Staging::Device] {
            self.shrink_staging(kind, u64::MAX);
        }
    }

    /// Frees all idle memory except staging buffers, which are always small.
    pub fn trim_to_staging(&self) {
        let mut idle = self.idle();
        idle.chunks.drain().for_each(|buffer| self.tally.freed(buffer.size()));
        idle.host.drain().for_each(|block| self.tally.host_freed(8 * block.len() as u64));
    }
}
