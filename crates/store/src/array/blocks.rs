//! [`BlockGrid`]: division of a box into blocks that are contiguous in a file, and their
//! distribution to ranks.

use zippy::extents::Index;
use zippy::locate::Placement;
use zippy::region::Region;

/// Blocks of a box, numbered in file order (axis 0 fastest). All have the same extents, except at
/// the ends of the box.
pub(super) struct BlockGrid {
    whole: Region,
    extents: Index,
    counts: Index,
}

impl BlockGrid {
    pub(super) fn contiguous(whole: Region, most_cells: u64) -> Self {
        let shape = whole.extents();
        let (mut room, mut is_whole) = (most_cells.max(1), true);
        let extents = Index::from_fn(whole.axes(), |axis| {
            let most = if is_whole { shape[axis].clamp(1, i64::try_from(room).unwrap_or(i64::MAX)) } else { 1 };
            is_whole &= most >= shape[axis];
            room = (room / most as u64).max(1);
            // Same number of blocks, with nearly equal sizes.
            let blocks = shape[axis].max(1).unsigned_abs().div_ceil(most as u64);
            shape[axis].max(1).unsigned_abs().div_ceil(blocks) as i64
        });
        Self::with_extents(whole, extents)
    }

    pub(super) fn with_extents(whole: Region, extents: Index) -> Self {
        let shape = whole.extents();
        let counts = Index::from_fn(whole.axes(), |axis| (shape[axis] + extents[axis] - 1) / extents[axis]);
        Self { whole, extents, counts }
    }

    /// Extents of a block; smaller at the ends of the box.
    pub(super) fn extents(&self) -> Index {
        self.extents
    }

    pub(super) fn count(&self) -> u64 {
        if self.whole.is_empty() {
            return 0;
        }
        (0..self.counts.axes()).map(|axis| self.counts[axis] as u64).product()
    }

    pub(super) fn block(&self, number: u64) -> Region {
        let mut rest = number as i64;
        let start = Index::from_fn(self.counts.axes(), |axis| {
            let at = rest % self.counts[axis];
            rest /= self.counts[axis];
            self.whole.start[axis] + at * self.extents[axis]
        });
        let end = Index::from_fn(start.axes(), |axis| (start[axis] + self.extents[axis]).min(self.whole.end[axis]));
        Region::between(start, end)
    }

    /// Assigns blocks to ranks: each rank writes the blocks whose middle cell it owns, up to an
    /// equal share. Same on every rank.
    pub(super) fn writers(&self, placement: &Placement, ranks: usize) -> Vec<Vec<u64>> {
        let most = self.count().div_ceil(ranks as u64) as usize;
        let mut lists = vec![Vec::new(); ranks];
        let mut unassigned = Vec::new();
        for number in 0..self.count() {
            let block = self.block(number);
            let middle = Index::from_fn(block.axes(), |axis| (block.start[axis] + block.end[axis]) / 2);
            let owner = placement.holder(&middle).map(|owner| owner.rank);
            match owner.filter(|&rank| lists[rank].len() < most) {
                Some(rank) => lists[rank].push(number),
                None => unassigned.push(number),
            }
        }
        let mut rank = 0;
        for number in unassigned {
            while lists[rank].len() >= most {
                rank += 1;
            }
            lists[rank].push(number);
        }
        lists
    }
}
