//! Order in which a scan on the host combines cells (association), equal to that of
//! `shaders/scan/scan.wgsl`.
//!
//! The cells of a vector are cut into blocks of [`CELLS_PER_BLOCK`] by their index, and blocks into
//! runs of [`CELLS_PER_RUN`]. A run is combined from the left, the runs of a block by a binary
//! tree, and blocks from the left.

/// Number of cells per run; a run is combined from the left.
pub(super) const CELLS_PER_RUN: usize = 16;
pub(super) const RUNS_PER_BLOCK: usize = 128;
/// Number of levels of the binary tree over the runs of a block.
pub(super) const TREE_LEVELS: usize = RUNS_PER_BLOCK.ilog2() as usize + 1;
pub(crate) const CELLS_PER_BLOCK: usize = CELLS_PER_RUN * RUNS_PER_BLOCK;

/// Combined value of cells. The value of cells before a segment head is not part of the combination
/// after the head.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item<S> {
    pub value: S,
    /// True if one of the combined cells is a head.
    pub head: bool,
}

/// Combines the value of earlier cells with the value of later cells.
pub(super) fn join<S: Copy>(op: impl Fn(S, S) -> S, before: Item<S>, after: Item<S>) -> Item<S> {
    let value = if after.head { after.value } else { op(before.value, after.value) };
    Item { value, head: before.head || after.head }
}

/// Scans the cells of one block (the last block may be short) after the value `carry` of the
/// earlier cells, and returns their combination. `put` receives the position of a cell, the
/// combination before the cell, and the combination including it. `X` is [`Item`], or a plain value
/// without heads.
pub(super) fn block<X: Copy>(
    join: impl Fn(X, X) -> X + Copy,
    carry: Option<X>,
    cells: &[X],
    put: Option<impl FnMut(usize, Option<X>, X)>,
) -> Option<X> {
    let first = *cells.first()?;
    // Values of the subtrees, level by level; a level has half as many nodes as the one below.
    let mut levels = [[first; RUNS_PER_BLOCK]; TREE_LEVELS];
    let mut counts = [0; TREE_LEVELS];
    for (run, sum) in cells.chunks(CELLS_PER_RUN).zip(&mut levels[0]) {
        *sum = run[1..].iter().fold(run[0], |all, cell| join(all, *cell));
    }
    counts[0] = cells.len().div_ceil(CELLS_PER_RUN);
    for level in 1..TREE_LEVELS {
        let (below, above) = levels.split_at_mut(level);
        let nodes = below[level - 1][..counts[level - 1]].chunks(2);
        counts[level] = nodes.len();
        for (pair, sum) in nodes.zip(&mut above[0]) {
            *sum = pair[1..].iter().fold(pair[0], |all, node| join(all, *node));
        }
    }
    if let Some(mut put) = put {
        // The value before each run: the combination of the complete subtrees before it, the
        // largest first.
        let mut before = [None; RUNS_PER_BLOCK];
        for level in (0..TREE_LEVELS - 1).rev() {
            for i in (0..counts[level]).rev() {
                let above = before[i / 2];
                before[i] =
                    if i.is_multiple_of(2) { above } else { Some(join_after(join, above, levels[level][i - 1])) };
            }
        }
        for (r, run) in cells.chunks(CELLS_PER_RUN).enumerate() {
            let base = before[r].map_or(carry, |before| Some(join_after(join, carry, before)));
            match base {
                None => results(join, base, |within| within, r * CELLS_PER_RUN, run, &mut put),
                Some(before) => results(join, base, |within| join(before, within), r * CELLS_PER_RUN, run, &mut put),
            }
        }
    }
    Some(join_after(join, carry, levels[TREE_LEVELS - 1][0]))
}

/// Passes the results of a run to `put`; `all` combines the value before the run with the first
/// cells of the run.
fn results<X: Copy>(
    join: impl Fn(X, X) -> X,
    before: Option<X>,
    all: impl Fn(X) -> X,
    position: usize,
    run: &[X],
    put: &mut impl FnMut(usize, Option<X>, X),
) {
    let mut within = run[0];
    let mut last = all(within);
    put(position, before, last);
    for (i, cell) in run.iter().enumerate().skip(1) {
        within = join(within, *cell);
        let now = all(within);
        put(position + i, Some(last), now);
        last = now;
    }
}

/// Combines a value with the earlier value, if there is any.
fn join_after<X>(join: impl Fn(X, X) -> X, before: Option<X>, one: X) -> X {
    match before {
        Some(before) => join(before, one),
        None => one,
    }
}
