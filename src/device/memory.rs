//! The idle memory of a logical device: chunk buffers, staging buffers, payload vectors. What was lent comes back from
//! any thread.

use std::sync::{Mutex, MutexGuard};

use wgpu::BufferUsages;

use super::counters::{Counters, Tally};

/// Idle chunk buffers are kept up to this much; beyond it they are freed, so that peak memory stays near what is used.
const IDLE_CHUNK_BYTES: u64 = 64 << 20;
/// The same for payload vectors on the host.
const IDLE_HOST_BYTES: u64 = 256 << 20;
/// One slice of a transfer that goes through staging memory. Longer payloads go slice by slice.
pub(super) const SLICE_BYTES: u64 = 8 << 20;
/// Staging buffers of one kind that may be lent at the same time; beyond it payloads are copied to the host.
pub(super) const LENT_BYTES: u64 = 3 * SLICE_BYTES;
/// The smallest staging buffer.
const MIN_CLASS_BYTES: u64 = 64 << 10;

/// What a staging buffer is for.
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

#[derive(Default)]
struct Idle {
    chunks: Vec<wgpu::Buffer>,
    staging: Vec<(Staging, wgpu::Buffer)>,
    /// Kind and size of all staging buffers that exist, idle or lent.
    staging_made: Vec<(Staging, u64)>,
    host: Vec<Vec<u64>>,
}

impl std::fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counters().fmt(f)
    }
}

/// Staging buffers come in powers of two.
pub(super) fn class(bytes: u64) -> u64 {
    bytes.next_power_of_two().max(MIN_CLASS_BYTES)
}

/// Whether a staging buffer of `size` serves a request for `bytes` without wasting much.
fn fits(size: u64, bytes: u64) -> bool {
    size >= bytes && size <= class(bytes) * 4
}

impl MemoryPool {
    pub fn counters(&self) -> Counters {
        self.tally.read()
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn keep_chunk(&self, raw: wgpu::Buffer) {
        let mut idle = self.idle();
        idle.chunks.push(raw);
        let mut total: u64 = idle.chunks.iter().map(wgpu::Buffer::size).sum();
        while total > IDLE_CHUNK_BYTES {
            let oldest = idle.chunks.remove(0);
            total -= oldest.size();
            self.tally.freed(oldest.size());
        }
    }

    pub fn reuse_chunk(&self, bytes: u64, usage: BufferUsages) -> Option<wgpu::Buffer> {
        let mut idle = self.idle();
        let found = idle.chunks.iter().rposition(|b| b.size() == bytes && b.usage() == usage)?;
        Tally::add(&self.tally.buffers_reused);
        Some(idle.chunks.remove(found))
    }

    /// The smallest idle staging buffer that holds `bytes` and is not wastefully large.
    pub fn reuse_staging(&self, kind: Staging, bytes: u64) -> Option<wgpu::Buffer> {
        let mut idle = self.idle();
        let candidates = idle.staging.iter().enumerate().filter(|(_, (k, b))| *k == kind && fits(b.size(), bytes));
        let found = candidates.min_by_key(|(_, (_, b))| b.size()).map(|(i, _)| i)?;
        Tally::add(&self.tally.buffers_reused);
        Some(idle.staging.swap_remove(found).1)
    }

    /// Counts a staging buffer that was made.
    pub fn made_staging(&self, kind: Staging, size: u64) {
        self.idle().staging_made.push((kind, size));
    }

    /// Takes staging memory back; what is longer than a slice is freed.
    pub fn keep_staging(&self, kind: Staging, buffer: wgpu::Buffer) {
        let mut idle = self.idle();
        if buffer.size() <= SLICE_BYTES {
            idle.staging.push((kind, buffer));
        } else {
            self.forget_staging(&mut idle, kind, buffer.size());
        }
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
        let unused: u64 = idle.staging.iter().filter(|(k, _)| *k == kind).map(|(_, b)| b.size()).sum();
        let all: u64 = idle.staging_made.iter().filter(|(k, _)| *k == kind).map(|(_, size)| size).sum();
        (all, all.saturating_sub(unused))
    }

    /// Whether a staging buffer that could hold `bytes` exists, be it lent.
    pub fn staging_exists(&self, kind: Staging, bytes: u64) -> bool {
        self.idle().staging_made.iter().any(|&(k, size)| k == kind && fits(size, bytes))
    }

    /// Frees idle staging buffers of a kind, the largest first, until `bytes` less exist.
    pub fn shrink_staging(&self, kind: Staging, bytes: u64) {
        let mut idle = self.idle();
        let mut freed = 0;
        while freed < bytes {
            let candidates = idle.staging.iter().enumerate().filter(|(_, (k, _))| *k == kind);
            let Some(largest) = candidates.max_by_key(|(_, (_, b))| b.size()).map(|(i, _)| i) else { return };
            let size = idle.staging.swap_remove(largest).1.size();
            self.forget_staging(&mut idle, kind, size);
            freed += size;
        }
    }

    /// A vector of at least `bytes` bytes, with whatever was in it.
    pub fn host_block(&self, bytes: usize) -> Vec<u64> {
        let words = bytes.div_ceil(8);
        let mut idle = self.idle();
        let fits = |v: &Vec<u64>| v.len() >= words && v.len() <= words * 4 + 1024;
        let candidates = idle.host.iter().enumerate().filter(|(_, v)| fits(v));
        match candidates.min_by_key(|(_, v)| v.len()).map(|(i, _)| i) {
            Some(found) => {
                Tally::add(&self.tally.host_reused);
                idle.host.swap_remove(found)
            }
            None => {
                Tally::add(&self.tally.host_made);
                vec![0; words.max(8)]
            }
        }
    }

    pub fn keep_host_block(&self, block: Vec<u64>) {
        let mut idle = self.idle();
        idle.host.push(block);
        let mut total: u64 = idle.host.iter().map(|v| v.len() as u64 * 8).sum();
        while total > IDLE_HOST_BYTES {
            total -= idle.host.remove(0).len() as u64 * 8;
        }
    }

    /// Frees everything idle.
    pub fn trim(&self) {
        self.trim_to_staging();
        for kind in [Staging::Readback, Staging::Upload, Staging::Device] {
            self.shrink_staging(kind, u64::MAX);
        }
    }

    /// Frees everything idle but staging buffers, of which there is never much.
    pub fn trim_to_staging(&self) {
        let mut idle = self.idle();
        for buffer in idle.chunks.drain(..) {
            self.tally.freed(buffer.size());
        }
        idle.host.clear();
    }
}
