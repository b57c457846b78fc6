//! [`ReadPlan`]: the boxes in which the cells of a [`Window`] are read from a file.

use zippy::extents::Index;
use zippy::region::Region;

use super::blocks::BlockGrid;
use super::window::Window;

/// Maximum distance of cells, in bytes, that are read together with the gap between them. Cells
/// farther apart are read one by one.
const MAX_GAP: u64 = 128 << 10;

/// Maximum number of parts of a block; each part takes memory.
const MOST_PARTS: i64 = 4096;

/// Read plan for the cells of a window.
#[derive(Debug, Clone)]
pub(super) struct ReadPlan {
    pub window: Window,
    /// Per axis: true if the selected cells are read one by one.
    apart: Vec<bool>,
}

impl ReadPlan {
    /// Plan for a file of an array with this shape and `cell_bytes` bytes per cell.
    pub(super) fn new(window: Window, shape: &Index, cell_bytes: u64) -> Self {
        let mut stride = cell_bytes;
        let is_apart = |axis: usize| {
            let step = window.step[axis];
            let apart = step > 1 && stride.saturating_mul(step as u64) >= MAX_GAP;
            stride = stride.saturating_mul(shape[axis].max(1) as u64);
            apart
        };
        let apart = (0..shape.axes()).map(is_apart).collect();
        Self { window, apart }
    }

    /// Plan for a file that is read from front to back: no gap is skipped.
    pub(super) fn without_gaps(&self) -> Self {
        Self { apart: vec![false; self.apart.len()], ..self.clone() }
    }

    /// Blocks of a box of the array, with at most `most_cells` cells and [`MOST_PARTS`] parts.
    pub(super) fn blocks(&self, whole: Region, most_cells: u64) -> BlockGrid {
        let extents = BlockGrid::contiguous(whole, most_cells).extents();
        let mut left = MOST_PARTS;
        let cut = |axis: usize| {
            if !self.apart[axis] {
                return extents[axis];
            }
            let parts = extents[axis].min(left);
            left = (left / parts).max(1);
            parts
        };
        BlockGrid::grid(whole, Index::from_fn(extents.axes(), cut))
    }

    /// Number of file cells that are read per selected cell.
    pub(super) fn read_amplification(&self) -> u64 {
        let near = (0..self.apart.len()).filter(|&axis| !self.apart[axis]);
        near.fold(1, |all: u64, axis| all.saturating_mul(self.window.step[axis] as u64))
    }

    /// Boxes of the array that are read separately for `wanted`.
    pub(super) fn parts(&self, wanted: &Region) -> Vec<Region> {
        let extents = wanted.extents();
        let part = Index::from_fn(extents.axes(), |axis| if self.apart[axis] { 1 } else { extents[axis] });
        wanted.tiles(&part).collect()
    }

    /// Copies the selected cells, of `bytes` bytes each, from the bytes read for `part` to their
    /// positions in `block`.
    pub(super) fn take(&self, bytes: usize, (block, part): (&Region, &Region), read: &[u8], out: &mut [u8]) {
        let from = Region::whole(self.window.in_file(part).extents());
        let (extents, step) = (part.extents(), self.window.step[0] as usize);
        let row = extents[0] as usize;
        let rows = Region::between(
            Index::zeros(extents.axes()),
            Index::from_fn(extents.axes(), |axis| if axis == 0 { 1 } else { extents[axis] }),
        );
        for first in rows.points() {
            let at = Index::from_fn(first.axes(), |axis| first[axis] * self.window.step[axis]);
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

    /// True if every read cell is selected.
    pub(super) fn is_dense(&self) -> bool {
        self.read_amplification() == 1
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Blocks stay within the limit of parts if cells are read one by one, and together have all
    /// cells.
    #[test]
    fn blocks_have_few_parts() {
        let shape = Index::new(&[1 << 20, 3000, 40]);
        let window = Window::new(Path::new("a.npy"), &shape, None, Some(&[1 << 16, 3, 1])).unwrap();
        let plan = ReadPlan::new(window, &shape, 4);
        let whole = Region::whole(plan.window.shape);
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
