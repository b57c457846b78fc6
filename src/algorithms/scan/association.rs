//! In which order a scan combines cells, by the host: the twin of `shaders/scan/scan.wgsl`.
//!
//! The cells of a vector are cut into blocks of [`BLOCK`] by their index, and blocks into runs of [`RUN`]. A run is
//! combined from the left, the runs of a block by a binary tree, blocks from the left.

/// Cells that are combined from the left.
pub const RUN: usize = 16;
/// Runs of a block.
pub const RUNS: usize = 128;
/// Levels of the tree over them.
const LEVELS: usize = RUNS.ilog2() as usize + 1;
/// Cells of a block.
pub const BLOCK: usize = RUN * RUNS;

/// What has been combined: nothing that stands before a head counts beyond it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item<S> {
    pub value: S,
    /// Whether there is a head among its cells.
    pub head: bool,
}

/// What comes before, combined with what comes behind.
pub fn join<S: Copy>(op: impl Fn(S, S) -> S, before: Item<S>, behind: Item<S>) -> Item<S> {
    let value = if behind.head { behind.value } else { op(before.value, behind.value) };
    Item { value, head: before.head || behind.head }
}

/// Scans the cells of one block (the last one may be short) behind what has been combined before it, and returns what has
/// been combined with it. `put` is given the place of a cell, what stands before the cell and what has been combined with
/// it. Cells are items, or plain values where there are no heads.
pub fn block<X: Copy>(
    join: impl Fn(X, X) -> X + Copy,
    carry: Option<X>,
    cells: &[X],
    put: Option<impl FnMut(usize, Option<X>, X)>,
) -> Option<X> {
    let first = *cells.first()?;
    // Level by level what runs come to; a level has half as many nodes as the one below.
    let mut levels = [[first; RUNS]; LEVELS];
    let mut counts = [0; LEVELS];
    for (run, sum) in cells.chunks(RUN).zip(&mut levels[0]) {
        *sum = run[1..].iter().fold(run[0], |all, cell| join(all, *cell));
    }
    counts[0] = cells.len().div_ceil(RUN);
    for level in 1..LEVELS {
        let (below, above) = levels.split_at_mut(level);
        let nodes = below[level - 1][..counts[level - 1]].chunks(2);
        counts[level] = nodes.len();
        for (pair, sum) in nodes.zip(&mut above[0]) {
            *sum = pair[1..].iter().fold(pair[0], |all, node| join(all, *node));
        }
    }
    if let Some(mut put) = put {
        // What stands before each run: of the complete subtrees before it, the largest first.
        let mut before = [None; RUNS];
        for level in (0..LEVELS - 1).rev() {
            for i in (0..counts[level]).rev() {
                let above = before[i / 2];
                before[i] = if i.is_multiple_of(2) { above } else { Some(behind(join, above, levels[level][i - 1])) };
            }
        }
        for (r, run) in cells.chunks(RUN).enumerate() {
            let base = before[r].map_or(carry, |before| Some(behind(join, carry, before)));
            match base {
                None => results(join, base, |within| within, r * RUN, run, &mut put),
                Some(before) => results(join, base, |within| join(before, within), r * RUN, run, &mut put),
            }
        }
    }
    Some(behind(join, carry, levels[LEVELS - 1][0]))
}

/// Puts what the cells of a run come to: `all` of what has been combined within it.
fn results<X: Copy>(
    join: impl Fn(X, X) -> X,
    before: Option<X>,
    all: impl Fn(X) -> X,
    place: usize,
    run: &[X],
    put: &mut impl FnMut(usize, Option<X>, X),
) {
    let mut within = run[0];
    let mut last = all(within);
    put(place, before, last);
    for (i, cell) in run.iter().enumerate().skip(1) {
        within = join(within, *cell);
        let now = all(within);
        put(place + i, Some(last), now);
        last = now;
    }
}

/// With what comes before, if there is anything.
fn behind<X>(join: impl Fn(X, X) -> X, before: Option<X>, one: X) -> X {
    match before {
        Some(before) => join(before, one),
        None => one,
    }
}
