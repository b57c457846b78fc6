//! Division of calls over chunks that are larger than a binding into parts that need one window per
//! array.

use super::access_range::AccessRange;
use super::binding::Binding;
use super::dispatch::Grid;
use super::geometry::slot_strides;
use super::pipeline::MAX_GROUPS;
use crate::extents::Index;

/// Maximum number of parts of a call: each part has bind groups, and the cache holds those of two
/// calls.
const MAX_PARTS_OF_CALL: usize = MAX_GROUPS / 2;

/// Part of a call's boxes, with the windows of memory that it binds.
#[derive(Debug)]
pub(super) struct CallPart {
    pub grid: Grid,
    /// Start of the window of each storage variable in its buffer, in bytes.
    pub offsets: Vec<u64>,
}

pub(super) struct LargeArray<'a> {
    /// Index of the storage variable.
    pub var: usize,
    pub binding: &'a Binding,
    pub access_range: &'a AccessRange,
    /// Strides of the array along the axes of positions, in slots.
    strides: Index,
    slot_bytes: u64,
    /// Maximum size of a window, in bytes; a multiple of `unit`.
    window_bytes: u64,
    /// Alignment of the start of a window, in bytes.
    unit: u64,
}

impl<'a> LargeArray<'a> {
    /// Creates the description of an array; `None` if helpers can access the array anywhere.
    pub(super) fn new(
        var: usize,
        binding: &'a Binding,
        access_range: &'a AccessRange,
        binding_bytes: u64,
    ) -> Option<Self> {
        let strides = slot_strides(binding).filter(|_| *access_range != AccessRange::Anywhere)?;
        let (slot_bytes, window_bytes) = binding.window(binding_bytes);
        let unit = binding.window_unit();
        Some(Self { var, binding, access_range, strides, slot_bytes, window_bytes, unit })
    }

    /// Returns the start of a window with all cells that the box accesses; `None` if they do not
    /// fit.
    fn offset(&self, (origin, extents): &(Index, Index), step: i64) -> Option<u64> {
        let AccessRange::Box(intervals) = self.access_range else { return Some(0) };
        let storage = &self.binding.storage;
        let per_slot = self.binding.packed().map_or(1, |packed| 4 / packed.bytes() as i64);
        let [mut first, mut last] = [0, 0];
        for (axis, interval) in intervals.iter().enumerate() {
            let (mut lo, mut hi) = (interval.lo, interval.hi);
            if let Some(along) = interval.axis {
                let step = if along == 0 { step } else { 1 };
                lo += origin[along];
                hi += origin[along] + extents[along] * step - 1;
            }
            // Loads outside of the chunk return another cell.
            let last_cell = storage.extents()[axis] - 1;
            let in_storage =
                |cell: i64| (cell + self.binding.section.start[axis] - storage.start[axis]).clamp(0, last_cell);
            let per_slot = if axis == 0 { per_slot } else { 1 };
            first += in_storage(lo) / per_slot * self.strides[axis];
            last += in_storage(hi) / per_slot * self.strides[axis];
        }
        let begin = first as u64 * self.slot_bytes / self.unit * self.unit;
        let end = (last as u64 + 1) * self.slot_bytes;
        (end - begin <= self.window_bytes).then_some(begin)
    }
}

/// Splits the call into parts that need one window per array; `None` if there are too many parts or
/// a row is too large.
pub(super) fn parts(grid: &Grid, vars: usize, arrays: &[LargeArray<'_>]) -> Option<Vec<CallPart>> {
    let mut parts = Vec::new();
    let mut open: Vec<_> = grid.boxes.iter().rev().copied().collect();
    while let Some(one) = open.pop() {
        let mut offsets = vec![0; vars];
        let fits = arrays.iter().all(|array| {
            let offset = array.offset(&one, grid.step);
            offsets[array.var] = offset.unwrap_or(0);
            offset.is_some()
        });
        if fits {
            let grid = Grid { boxes: vec![one], ..grid.clone() };
            parts.push(CallPart { grid, offsets });
        } else {
            let [before, after] = halve_box(&one, grid.step)?;
            open.extend([after, before]);
        }
        if parts.len() + open.len() > MAX_PARTS_OF_CALL {
            return None;
        }
    }
    Some(parts)
}

/// Halves a box along its last axis, along which neighbours are furthest apart in memory.
fn halve_box((origin, extents): &(Index, Index), step: i64) -> Option<[(Index, Index); 2]> {
    let axis = (0..extents.axes()).rev().find(|&axis| extents[axis] > 1)?;
    let half = extents[axis] / 2;
    let (mut before, mut after) = ((*origin, *extents), (*origin, *extents));
    before.1[axis] = half;
    after.1[axis] -= half;
    after.0[axis] += half * if axis == 0 { step } else { 1 };
    Some([before, after])
}
