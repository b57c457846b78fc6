//! In which order a scan combines cells, by the host: the twin of `shaders/scan/scan.wgsl`.
//!
//! The cells of a vector are cut into blocks of [`BLOCK`] by their index, and blocks into runs of [`RUN`]. A run is
//! combined from the left, the runs of a block by a binary tree, blocks from the left.

/// Cells that are combined from the left.
pub const RUN: usize = 16;
/// Runs of a block.
pub const RUNS: usize = 128;
/// Cells of a block.
pub const BLOCK: usize = RUN * RUNS;

/// What has been combined: nothing that stands before a head counts beyond it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item<S> {
    pub value: S,
    /// Whether there is a head among its cells.
    pub head: bool,
}

/// What comes before, and what comes behind; either may be nothing.
pub fn join<S: Copy>(op: impl Fn(S, S) -> S, before: Option<Item<S>>, behind: Option<Item<S>>) -> Option<Item<S>> {
    match (before, behind) {
        (Some(a), Some(b)) if !b.head => Some(Item { value: op(a.value, b.value), head: a.head }),
        (a, None) => a,
        (_, b) => b,
    }
}

/// What each run of a block comes to, and all of them.
struct Tree<S> {
    /// Level by level, the runs first; a level has half as many as the one before.
    levels: Vec<Vec<Option<Item<S>>>>,
}

impl<S: Copy> Tree<S> {
    fn new(op: impl Fn(S, S) -> S + Copy, runs: Vec<Option<Item<S>>>) -> Self {
        let mut levels = vec![runs];
        while levels[levels.len() - 1].len() > 1 {
            let below = &levels[levels.len() - 1];
            let above = below.chunks(2).map(|pair| join(op, pair[0], pair.get(1).copied().flatten())).collect();
            levels.push(above);
        }
        Self { levels }
    }

    fn root(&self) -> Option<Item<S>> {
        self.levels.last().and_then(|level| level.first().copied().flatten())
    }

    /// What stands before each run: of the complete subtrees before it, the largest first.
    fn before(&self, op: impl Fn(S, S) -> S + Copy) -> Vec<Option<Item<S>>> {
        let mut above = vec![None];
        for below in self.levels.iter().rev().skip(1) {
            let at = |i: usize| if i.is_multiple_of(2) { above[i / 2] } else { join(op, above[i / 2], below[i - 1]) };
            above = (0..below.len()).map(at).collect();
        }
        above
    }
}

/// Scans the cells of one block (the last one may be short) behind what has been combined before it, and returns what
/// has been combined with it. `put` is given the place of a cell, what stands before the cell and what has been combined
/// with it.
pub fn block<S: Copy>(
    op: impl Fn(S, S) -> S + Copy,
    carry: Option<Item<S>>,
    cells: usize,
    cell: impl Fn(usize) -> Item<S>,
    put: Option<impl FnMut(usize, Option<Item<S>>, Item<S>)>,
) -> Option<Item<S>> {
    let run = |r: usize| (r * RUN..cells.min(r * RUN + RUN)).map(&cell);
    let folded = |r: usize| run(r).fold(None, |all, one| join(op, all, Some(one)));
    let tree = Tree::new(op, (0..cells.div_ceil(RUN)).map(folded).collect());
    if let Some(mut put) = put {
        for (r, before) in tree.before(op).into_iter().enumerate() {
            let base = join(op, carry, before);
            let (mut within, mut last) = (None, base);
            for (i, one) in run(r).enumerate() {
                within = join(op, within, Some(one));
                let all = join(op, base, within);
                if let Some(all) = all {
                    put(r * RUN + i, last, all);
                }
                last = all;
            }
        }
    }
    join(op, carry, tree.root())
}
