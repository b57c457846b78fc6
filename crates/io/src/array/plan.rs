//! [`Plan`]: in which boxes the cells of a [`Window`] are read from a file.

use zippy::extents::Index;
use zippy::region::Region;

use super::blocks::Blocks;
use super::window::Window;

/// Cells that are further apart in the file are read one by one; what lies between nearer ones is read with them.
const APART: u64 = 128 << 10;

/// A block has at most so many parts, each of which takes memory.
const MOST_PARTS: i64 = 4096;

/// How the cells of a window are read.
#[derive(Debug, Clone)]
pub struct Plan {
    pub window: Window,
    /// The cells that are taken along this axis are read one by one.
    apart: Vec<bool>,
}

impl Plan {
    /// For a file of an array of this shape, with cells of so many bytes.
    pub fn new(window: Window, shape: &Index, cell_bytes: u64) -> Self {
        let mut stride = cell_bytes;
        let is_apart = |axis: usize| {
            let step = window.step[axis];
            let apart = step > 1 && stride.saturating_mul(step as u64) >= APART;
            stride = stride.saturating_mul(shape[axis].max(1) as u64);
            apart
        };
        let apart = (0..shape.axes()).map(is_apart).collect();
        Self { window, apart }
    }

    /// For files that are read from front to back: nothing is passed over.
    pub fn without_gaps(&self) -> Self {
        Self { apart: vec![false; self.apart.len()], ..self.clone() }
    }

    /// The blocks of a box of the array, of at most so many cells and not of too many parts.
    pub fn blocks(&self, whole: Region, most_cells: u64) -> Blocks {
        let extents = Blocks::contiguous(whole, most_cells).extents();
        let mut left = MOST_PARTS;
        let cut = |axis: usize| {
            if !self.apart[axis] {
                return extents[axis];
            }
            let own = extents[axis].min(left);
            left = (left / own).max(1);
            own
        };
        Blocks::grid(whole, Index::from_fn(extents.axes(), cut))
    }

    /// So many cells of the file are read for one that is taken.
    pub fn read_for_one(&self) -> u64 {
        let near = (0..self.apart.len()).filter(|&axis| !self.apart[axis]);
        near.fold(1, |all: u64, axis| all.saturating_mul(self.window.step[axis] as u64))
    }

    /// The boxes of the array into which one of it falls, each of which is read at once.
    pub fn parts(&self, wanted: &Region) -> Vec<Region> {
        let extents = wanted.extents();
        let part = Index::from_fn(extents.axes(), |axis| if self.apart[axis] { 1 } else { extents[axis] });
        wanted.tiles(&part).collect()
    }

    /// Copies the cells that are taken, of so many bytes each, from those that have been read for `part` to their places in
    /// `block`.
    pub fn take(&self, bytes: usize, (block, part): (&Region, &Region), read: &[u8], out: &mut [u8]) {
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

    /// Whether all cells of the boxes that are read are taken.
    pub fn is_dense(&self) -> bool {
        self.read_for_one() == 1
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// However many cells are read one by one, a block has few of them, and the blocks have all cells.
    #[test]
    fn blocks_have_few_parts() {
        let shape = Index::new(&[1 << 20, 3000, 40]);
        let window = Window::new(Path::new("a.npy"), &shape, None, Some(&[1 << 16, 3, 1])).unwrap();
        let plan = Plan::new(window, &shape, 4);
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
