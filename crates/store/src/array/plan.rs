//! [`ReadPlan`]: the boxes in which the cells of a [`FileSelection`] are read from a file.

use zippy::extents::Index;
use zippy::region::Region;

use super::blocks::BlockGrid;
use super::selection::FileSelection;

/// Minimum stride in bytes at which selected cells are read one by one, without the gaps between
/// them.
const MAX_GAP: u64 = 128 << 10;

/// Maximum number of separately read parts of a block; each takes memory.
const MOST_PARTS: i64 = 4096;

#[derive(Debug, Clone)]
pub(super) struct ReadPlan {
    pub selection: FileSelection,
    is_sparse: Vec<bool>,
}

impl ReadPlan {
    pub(super) fn new(selection: FileSelection, shape: &Index, cell_bytes: u64) -> Self {
        let mut stride = cell_bytes;
        let is_apart = |axis: usize| {
            let step = selection.step[axis];
            let is_sparse = step > 1 && stride.saturating_mul(step as u64) >= MAX_GAP;
            stride = stride.saturating_mul(shape[axis].max(1) as u64);
            is_sparse
        };
        let is_sparse = (0..shape.axes()).map(is_apart).collect();
        Self { selection, is_sparse }
    }

    /// Plan for a file that is read from front to back, gaps included.
    pub(super) fn without_gaps(&self) -> Self {
        Self { is_sparse: vec![false; self.is_sparse.len()], ..self.clone() }
    }

    pub(super) fn blocks(&self, whole: Region, most_cells: u64) -> BlockGrid {
        let extents = BlockGrid::contiguous(whole, most_cells).extents();
        let mut parts_left = MOST_PARTS;
        let cut = |axis: usize| {
            if !self.is_sparse[axis] {
                return extents[axis];
            }
            let parts = extents[axis].min(parts_left);
            parts_left = (parts_left / parts).max(1);
            parts
        };
        BlockGrid::with_extents(whole, Index::from_fn(extents.axes(), cut))
    }

    pub(super) fn read_amplification(&self) -> u64 {
        let near = (0..self.is_sparse.len()).filter(|&axis| !self.is_sparse[axis]);
        near.fold(1, |all: u64, axis| all.saturating_mul(self.selection.step[axis] as u64))
    }

    pub(super) fn parts(&self, wanted: &Region) -> Vec<Region> {
        let extents = wanted.extents();
        let part = Index::from_fn(extents.axes(), |axis| if self.is_sparse[axis] { 1 } else { extents[axis] });
        wanted.tiles(&part).collect()
    }

    /// Copies the selected cells, `bytes` bytes each, from the read bytes of `part` to their
    /// positions in `block`.
    pub(super) fn take(&self, bytes: usize, (block, part): (&Region, &Region), read: &[u8], out: &mut [u8]) {
        let from = Region::whole(self.selection.in_file(part).extents());
        let (extents, step) = (part.extents(), self.selection.step[0] as usize);
        let row = extents[0] as usize;
        let rows = Region::between(
            Index::zeros(extents.axes()),
            Index::from_fn(extents.axes(), |axis| if axis == 0 { 1 } else { extents[axis] }),
        );
        for first in rows.points() {
            let at = Index::from_fn(first.axes(), |axis| first[axis] * self.selection.step[axis]);
            let (from, to) = (from.offset(&at) as usize, block.offset(&(part.start + first)) as usize);
            let (read, out) = (&read[from * bytes..], &mut out[to * bytes..(to + row) * bytes]);
            if step == 1 {
                out.copy_from_slice(&read[..row * bytes]);
                continue;
            }
            let taken = read.chunks_exact(bytes).step_by(step);
            out.chunks_exact_mut(bytes).zip(taken).for_each(|(out, cell)| out.copy_from_slice(cell));
        }
    }

    pub(super) fn is_dense(&self) -> bool {
        self.read_amplification() == 1
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn blocks_stay_within_part_limit_and_cover_all_cells() {
        let shape = Index::new(&[1 << 20, 3000, 40]);
        let selection = FileSelection::new(Path::new("a.npy"), &shape, None, Some(&[1 << 16, 3, 1])).unwrap();
        let plan = ReadPlan::new(selection, &shape, 4);
        let whole = Region::whole(plan.selection.shape);
        let blocks = plan.blocks(whole, 1 << 21);
        let mut cells = 0;
        for number in 0..blocks.count() {
            let block = blocks.block(number);
            assert!(plan.parts(&block).len() <= MOST_PARTS as usize);
            cells += block.cells();
        }
        assert_eq!(cells, whole.cells());
    }
}
