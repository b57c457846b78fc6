//! [`JobTable`]: geometry of the boxes of a dispatch, and the cache of tables on the device.
//!
//! A table has a header of [`TABLE_HEADER_WORDS`] words (number of jobs, number of workgroups, a
//! word for use by the shader, 0) and [`JOB_WORDS`] words per job:
//!
//! * first workgroup, source, destination, number of axes;
//! * of the first axis: number of cells, their strides in source and destination, number of slots
//!   and its reciprocal;
//! * number of slots of the job;
//! * of each further axis: extent, its reciprocal, and the two strides.

use std::hash::{DefaultHasher, Hash, Hasher};

use wgpu::BufferUsages;

use crate::device::Device;
use crate::device::allocation::BufferRequest;
use crate::device::box_pair::{BoxPair, MAX_PAIR_AXES};
use crate::error::DeviceError;
use crate::wgsl::WgslComposer;

/// Number of words in the header of a job table.
const TABLE_HEADER_WORDS: usize = 4;
/// Number of words of a job in a job table.
const JOB_WORDS: usize = 40;
/// Offset of the second axis in the words of a job. The words of the other axes follow.
const SECOND_AXIS_OFFSET: usize = 10;
/// Number of words of an axis of a job, except the first axis.
const AXIS_WORDS: usize = 4;
const _: () = assert!(SECOND_AXIS_OFFSET + (MAX_PAIR_AXES - 1) * AXIS_WORDS <= JOB_WORDS);
/// Number of invocations of a workgroup of a transfer shader.
const WORKGROUP_INVOCATIONS: u32 = 64;
/// Number of slots that a workgroup of a transfer shader processes.
const SLOTS_PER_WORKGROUP: u64 = 256;
/// Maximum number of cells of a job. Slots are then below 2^23, for which the shaders' division by
/// a reciprocal is exact.
pub(super) const MAX_CELLS_OF_JOB: u64 = 1 << 22;
/// Maximum number of jobs of a table.
pub(super) const MAX_JOBS_OF_TABLE: usize = 1 << 14;
/// Maximum total size, in bytes, of the job tables in the device's cache.
const MAX_CACHED_BYTES: u64 = 4 << 20;
/// Maximum number of job tables in the device's cache.
const MAX_CACHED_TABLES: usize = 64;

/// Returns a composer with the WGSL functions that read a job table: the first part of every shader
/// with a job table.
pub(super) fn jobs() -> WgslComposer {
    WgslComposer::new()
        .constant("zippy_LANES", WORKGROUP_INVOCATIONS)
        .constant("zippy_SLOTS", SLOTS_PER_WORKGROUP as u32)
        .constant("zippy_HEADER", TABLE_HEADER_WORDS as u32)
        .constant("zippy_STRIDE", JOB_WORDS as u32)
        .constant("zippy_AXES", SECOND_AXIS_OFFSET as u32)
        .constant("zippy_AXIS_WORDS", AXIS_WORDS as u32)
        .module(wgsl_module!("../../../shaders/jobs.wgsl"))
}

/// Unit in which a shader divides the cells of a job among invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SlotKind {
    /// Up to four cells along the longest axis, or along axis 0 if it has at least four cells.
    FourCells,
    /// A word of the destination with this number of cells if they are contiguous there, otherwise
    /// one cell.
    Word { cells: u64 },
    /// One cell.
    Cell,
}

/// Words of a job table, and the number of workgroups of its dispatch.
pub(super) struct JobTable {
    pub words: Vec<u32>,
    pub groups: u64,
}

impl JobTable {
    /// Creates the job table of transfers, each of 1 to [`MAX_CELLS_OF_JOB`] cells.
    pub(super) fn new(transfers: &[BoxPair], slots: SlotKind) -> Self {
        let mut words = Vec::with_capacity(TABLE_HEADER_WORDS + transfers.len() * JOB_WORDS);
        let cells_per_word_log = if let SlotKind::Word { cells } = slots { cells.trailing_zeros() } else { 0 };
        words.extend([transfers.len() as u32, 0, cells_per_word_log, 0]);
        let mut groups = 0;
        for transfer in transfers {
            groups += push_job(&mut words, groups, transfer, slots);
        }
        words[1] = groups as u32;
        Self { words, groups }
    }
}

/// Appends the words of a job to a job table. Returns the number of workgroups of the job.
fn push_job(words: &mut Vec<u32>, first_group: u64, transfer: &BoxPair, slots: SlotKind) -> u64 {
    let longest = (0..transfer.axes).max_by_key(|&axis| (transfer.extents[axis], MAX_PAIR_AXES - axis)).unwrap_or(0);
    let first_axis = match slots {
        SlotKind::FourCells if transfer.extents[0] >= 4 => 0,
        SlotKind::Word { .. } if transfer.dst_strides[0] == 1 => 0,
        SlotKind::Cell => 0,
        _ => longest,
    };
    let row_cells = transfer.extents[first_axis];
    let row_slots = match slots {
        SlotKind::FourCells => row_cells.div_ceil(4),
        SlotKind::Word { cells } if transfer.dst_strides[first_axis] == 1 => (row_cells + 2 * cells - 2) / cells,
        _ => row_cells,
    };
    let job_slots = row_slots * (transfer.cells() / row_cells);
    let reciprocal = |n: u64| (1.0 / n as f32).to_bits();
    let strides = |axis: usize| [transfer.src_strides[axis] as u32, transfer.dst_strides[axis] as u32];
    let start = words.len();
    words.extend([first_group as u32, transfer.src_offset as u32, transfer.dst_offset as u32, transfer.axes as u32]);
    words.push(row_cells as u32);
    words.extend(strides(first_axis));
    words.extend([row_slots as u32, reciprocal(row_slots), job_slots as u32]);
    for axis in (0..transfer.axes).filter(|&axis| axis != first_axis) {
        words.extend([transfer.extents[axis] as u32, reciprocal(transfer.extents[axis])]);
        words.extend(strides(axis));
    }
    words.resize(start + JOB_WORDS, 0);
    job_slots.div_ceil(SLOTS_PER_WORKGROUP)
}

/// Least recently used cache of job tables on the device. The contents of a table are its key, so
/// that a repeated operation uploads nothing.
#[derive(Default)]
pub(super) struct TableCache {
    entries: Vec<CachedTable>,
    clock: u64,
}

struct CachedTable {
    hash: u64,
    words: Vec<u32>,
    buffer: wgpu::Buffer,
    /// Value of the cache's clock at the last use.
    last_use: u64,
    /// Number of the submission with the last use.
    last_epoch: u64,
}

impl Device {
    /// Returns a buffer that has the words of a job table when the commands being recorded run.
    pub(super) fn upload_table(&self, words: &[u32]) -> Result<wgpu::Buffer, DeviceError> {
        self.with_cache(|cache: &mut TableCache| self.upload_table_to(cache, words))
    }

    fn upload_table_to(&self, cache: &mut TableCache, words: &[u32]) -> Result<wgpu::Buffer, DeviceError> {
        let logical = self.logical();
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let hash = hasher.finish();
        cache.clock += 1;
        let (clock, epoch) = (cache.clock, logical.epoch.get());
        if let Some(entry) = cache.entries.iter_mut().find(|entry| entry.hash == hash && entry.words == words) {
            (entry.last_use, entry.last_epoch) = (clock, epoch);
            return Ok(entry.buffer.clone());
        }
        let bytes = words.len() as u64 * 4;
        let size = bytes.next_power_of_two().max(4096);
        let total: u64 = cache.entries.iter().map(|entry| entry.buffer.size()).sum();
        let mut buffer = None;
        if total + size > MAX_CACHED_BYTES || cache.entries.len() >= MAX_CACHED_TABLES {
            // Reuse the oldest buffer of the same size, otherwise free buffers. Recorded commands
            // that use the old table are submitted before it is overwritten.
            let oldest = |same_size: bool, entries: &[CachedTable]| {
                let entries = entries.iter().enumerate();
                let candidates = entries.filter(|(_, entry)| !same_size || entry.buffer.size() == size);
                candidates.min_by_key(|(_, entry)| entry.last_use).map(|(i, _)| i)
            };
            if let Some(found) = oldest(true, &cache.entries) {
                let entry = cache.entries.swap_remove(found);
                if entry.last_epoch == epoch {
                    self.flush()?;
                }
                buffer = Some(entry.buffer);
            } else {
                let mut total = total;
                while total + size > MAX_CACHED_BYTES || cache.entries.len() >= MAX_CACHED_TABLES {
                    let Some(found) = oldest(false, &cache.entries) else { break };
                    let freed = cache.entries.swap_remove(found).buffer.size();
                    logical.memory.counters.remove_buffer(freed);
                    total -= freed;
                }
            }
        }
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => {
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
                self.new_buffer(&BufferRequest {
                    size,
                    usage,
                    purpose: "the geometry of a transfer",
                    label: "job table",
                })?
            }
        };
        logical.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        let epoch = logical.epoch.get();
        let entry =
            CachedTable { hash, words: words.to_vec(), buffer: buffer.clone(), last_use: clock, last_epoch: epoch };
        cache.entries.push(entry);
        Ok(buffer)
    }
}
