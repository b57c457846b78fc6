//! Geometry of transfers as data: job tables for the shaders, and their device memory.
//!
//! A table is a header of [`HEADER`] words (number of jobs, number of workgroups, a word for the
//! shader's use, 0) and [`STRIDE`] words a job: first workgroup, source, destination, number of
//! axes, cells along the first axis and their strides in source and destination, slots along the
//! first axis, the reciprocal of that, slots in all; then for each further axis its extent, the
//! reciprocal of that, and the two strides.

use std::hash::{DefaultHasher, Hash, Hasher};

use wgpu::BufferUsages;

use crate::device::Device;
use crate::device::boxes::{AXES, BoxPair};
use crate::error::DeviceError;

/// How kernels read a table: the text that theirs follow.
pub(super) const JOBS: &str = include_str!("../../../shaders/jobs.wgsl");
const HEADER: usize = 4;
const STRIDE: usize = 40;
/// Slots that a workgroup does; every invocation does four.
const SLOTS_PER_GROUP: u64 = 256;
/// Cells of one job: slots stay below 2^23, where the shaders' division by a reciprocal is exact.
pub(super) const CELLS_PER_JOB: u64 = 1 << 22;
/// Jobs of one table.
pub(super) const JOBS_PER_TABLE: usize = 1 << 14;
/// Tables kept for the next time, all together.
const CACHED_BYTES: u64 = 4 << 20;
const CACHED_TABLES: usize = 64;

/// How a kernel numbers the cells of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slots {
    /// Four cells along the axis that suits best.
    Fours,
    /// One word of the destination where cells lie side by side in it (this many cells to a word),
    /// else one cell.
    Words(u64),
    /// One cell.
    Cells,
}

/// Words of a table, and number of its workgroups.
pub(super) struct Table {
    pub words: Vec<u32>,
    pub groups: u64,
}

impl Table {
    /// The table of these transfers, each of at most [`CELLS_PER_JOB`] cells and at least one.
    pub fn new(transfers: &[BoxPair], slots: Slots) -> Self {
        let mut words = Vec::with_capacity(HEADER + transfers.len() * STRIDE);
        let header = if let Slots::Words(per_word) = slots { per_word.trailing_zeros() } else { 0 };
        words.extend([transfers.len() as u32, 0, header, 0]);
        let mut groups = 0;
        for t in transfers {
            groups += push_job(&mut words, groups, t, slots);
        }
        words[1] = groups as u32;
        Self { words, groups }
    }
}

fn push_job(words: &mut Vec<u32>, first_group: u64, t: &BoxPair, slots: Slots) -> u64 {
    let longest = (0..t.axes).max_by_key(|&axis| (t.n[axis], AXES - axis)).unwrap_or(0);
    let fast = match slots {
        Slots::Fours if t.n[0] >= 4 => 0,
        Slots::Words(_) if t.d[0] == 1 => 0,
        Slots::Cells => 0,
        _ => longest,
    };
    let n = t.n[fast];
    let slots_in_row = match slots {
        Slots::Fours => n.div_ceil(4),
        Slots::Words(per_word) if t.d[fast] == 1 => (n + 2 * per_word - 2) / per_word,
        _ => n,
    };
    let all = slots_in_row * (t.cells() / n);
    let reciprocal = |n: u64| (1.0 / n as f32).to_bits();
    let start = words.len();
    words.extend([first_group as u32, t.src as u32, t.dst as u32, t.axes as u32]);
    words.extend([n as u32, t.s[fast] as u32, t.d[fast] as u32]);
    words.extend([slots_in_row as u32, reciprocal(slots_in_row), all as u32]);
    for axis in (0..t.axes).filter(|&axis| axis != fast) {
        words.extend([t.n[axis] as u32, reciprocal(t.n[axis]), t.s[axis] as u32, t.d[axis] as u32]);
    }
    words.resize(start + STRIDE, 0);
    all.div_ceil(SLOTS_PER_GROUP)
}

/// Tables on the device. Their contents are compared, so that a warm repeat uploads nothing; the
/// one not used for longest is overwritten.
#[derive(Default)]
pub(super) struct TableCache {
    entries: Vec<CachedTable>,
    clock: u64,
}

struct CachedTable {
    hash: u64,
    words: Vec<u32>,
    buffer: wgpu::Buffer,
    used: u64,
    epoch: u64,
}

impl Device {
    /// A buffer that holds the table when the commands being recorded run.
    pub(super) fn table(&self, words: &[u32]) -> Result<wgpu::Buffer, DeviceError> {
        self.with_cache(|cache: &mut TableCache| self.table_in(cache, words))
    }

    fn table_in(&self, cache: &mut TableCache, words: &[u32]) -> Result<wgpu::Buffer, DeviceError> {
        let logical = self.logical();
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let hash = hasher.finish();
        cache.clock += 1;
        let (clock, epoch) = (cache.clock, logical.epoch.get());
        if let Some(entry) = cache.entries.iter_mut().find(|e| e.hash == hash && e.words == words) {
            (entry.used, entry.epoch) = (clock, epoch);
            return Ok(entry.buffer.clone());
        }
        let bytes = words.len() as u64 * 4;
        let size = bytes.next_power_of_two().max(4096);
        let total: u64 = cache.entries.iter().map(|e| e.buffer.size()).sum();
        let mut buffer = None;
        if total + size > CACHED_BYTES || cache.entries.len() >= CACHED_TABLES {
            // Reuse the oldest of the same size, else make room. A table that recorded commands
            // still need must not be overwritten before they are submitted.
            let oldest = |same: bool, entries: &[CachedTable]| {
                let all = entries.iter().enumerate().filter(|(_, e)| !same || e.buffer.size() == size);
                all.min_by_key(|(_, e)| e.used).map(|(i, _)| i)
            };
            if let Some(found) = oldest(true, &cache.entries) {
                let entry = cache.entries.swap_remove(found);
                if entry.epoch == epoch {
                    self.flush()?;
                }
                buffer = Some(entry.buffer);
            } else {
                let mut total = total;
                while total + size > CACHED_BYTES || cache.entries.len() >= CACHED_TABLES {
                    let Some(found) = oldest(false, &cache.entries) else { break };
                    let freed = cache.entries.swap_remove(found).buffer.size();
                    logical.memory.tally.freed(freed);
                    total -= freed;
                }
            }
        }
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => {
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
                self.new_buffer(size, usage, "the geometry of a transfer", "job table", false)?
            }
        };
        logical.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        let epoch = logical.epoch.get();
        let entry = CachedTable { hash, words: words.to_vec(), buffer: buffer.clone(), used: clock, epoch };
        cache.entries.push(entry);
        Ok(buffer)
    }
}
