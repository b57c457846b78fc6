//! `Split::Auto`: how many cuts on which axis, or which boxes.

use super::bisect::bisect;
use crate::chunks::{AxisCuts, MAX_CHUNKS};
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// More boxes than this are not made to keep chunks small: beyond, a grid, which costs nothing per chunk, is better.
const MOST_BOXES: u64 = 1 << 16;

/// What a chunk of some extents costs, and may cost.
pub(super) struct ChunkBytes {
    pub lo: Index,
    pub hi: Index,
    pub element: usize,
    pub limit: u64,
}

impl ChunkBytes {
    /// Extents with ghosts; a chunk without cells has no ghosts either.
    pub fn with_ghosts(&self, extents: Index) -> Index {
        if extents.contains(&0) {
            return Index::zeros(extents.axes());
        }
        Index::from_fn(extents.axes(), |axis| extents[axis] + self.lo[axis] + self.hi[axis])
    }

    /// Bytes of a chunk with these owned extents: ghosts included, rows padded to whole words.
    pub fn of(&self, extents: Index) -> u128 {
        let stored = self.with_ghosts(extents);
        let row = (stored[0] as u128 * self.element as u128).next_multiple_of(4);
        stored[1..].iter().fold(row, |bytes, &n| bytes.saturating_mul(n as u128))
    }
}

/// One box for each rank where no grid has as many chunks or its chunks differ much, twice as many until they are small
/// enough. `None` where a grid is as good, there are more ranks than cells, or boxes cannot be small enough.
pub(super) fn boxes(shape: Index, cells: u64, ranks: usize, bytes: &ChunkBytes) -> Option<Vec<Region>> {
    let ranks = ranks as u64;
    if ranks < 2 || ranks > cells.min(MAX_CHUNKS as u64) {
        return None;
    }
    let axes: Vec<usize> = (0..shape.axes()).collect();
    let grid = factor(ranks as i64, &axes, shape, shape).map(|counts| {
        let side = |axis: usize| (shape[axis] as u64).div_ceil(counts[axis] as u64);
        axes.iter().map(|&axis| side(axis)).product::<u64>()
    });
    // At most a quarter more than its share is good enough for a grid.
    if grid.is_some_and(|largest| 4 * u128::from(largest) * u128::from(ranks) <= 5 * u128::from(cells)) {
        return None;
    }
    let each = bisect(Region::whole(shape), ranks);
    let largest = each.iter().map(Region::cells).max();
    if grid.is_some() && grid <= largest {
        return None;
    }
    let fits = |boxes: &[Region]| boxes.iter().all(|of| bytes.of(of.extents()) <= u128::from(bytes.limit));
    let least = each.iter().map(Region::cells).min().unwrap_or(0);
    let mut parts = 1;
    loop {
        let boxes: Vec<Region> = each.iter().flat_map(|of| bisect(*of, parts)).collect();
        if fits(&boxes) {
            return Some(boxes);
        }
        parts *= 2;
        if parts > least || parts * ranks > MOST_BOXES {
            return None;
        }
    }
}

/// Fills in the axes that are `None`: first as many chunks as there are ranks, in the factorisation
/// with the least surface; then twice as many along the longest side until a chunk is small enough.
pub(super) fn choose(shape: Index, cuts: Vec<Option<AxisCuts>>, ranks: usize, bytes: &ChunkBytes) -> Vec<AxisCuts> {
    let free: Vec<usize> = (0..cuts.len()).filter(|&axis| cuts[axis].is_none()).collect();
    let fixed: usize = cuts.iter().flatten().map(AxisCuts::count).product();
    let mut counts = Index::from_fn(cuts.len(), |axis| cuts[axis].as_ref().map_or(1, |cut| cut.count() as i64));
    // Extents of the largest chunk along fixed axes, the whole axis along free ones.
    let widest = Index::from_fn(cuts.len(), |axis| cuts[axis].as_ref().map_or(shape[axis], |cut| cut.largest().1));
    if !free.is_empty() {
        let most: i64 = free.iter().fold(1, |most: i64, &axis| most.saturating_mul(shape[axis].max(1)));
        let wanted = (ranks.div_ceil(fixed.max(1)) as i64).clamp(1, most.min(MAX_CHUNKS as i64));
        // The first number of chunks that can be factored over the axes; the whole of `most` always can, but
        // may lie far away, so after a while axes are simply cut one after the other.
        let found = (wanted..=most.min(wanted.saturating_add(64))).find_map(|n| factor(n, &free, shape, widest));
        let chosen = found.unwrap_or_else(|| peel(wanted, &free, shape));
        for (&axis, count) in free.iter().zip(chosen) {
            counts[axis] = count;
        }
    }
    let mut may_cut = [false; MAX_AXES];
    free.iter().for_each(|&axis| may_cut[axis] = true);
    // Fixed axes count with their widest chunk: refine sees an array of that extent, uncut.
    let sizes = Index::from_fn(cuts.len(), |axis| if may_cut[axis] { shape[axis] } else { widest[axis] });
    let start = Index::from_fn(cuts.len(), |axis| if may_cut[axis] { counts[axis] } else { 1 });
    if let Some(refined) = refine(sizes, start, &may_cut, bytes) {
        free.iter().for_each(|&axis| counts[axis] = refined[axis]);
    }
    let fill = |(axis, cut): (usize, Option<AxisCuts>)| {
        cut.unwrap_or_else(|| AxisCuts::even(shape[axis], counts[axis] as usize))
    };
    cuts.into_iter().enumerate().map(fill).collect()
}

/// Doubles the cuts of the axis with the longest chunk side until a chunk fits; `None` when single
/// cells do not.
pub(super) fn refine(shape: Index, counts: Index, may_cut: &[bool; MAX_AXES], bytes: &ChunkBytes) -> Option<Index> {
    let mut counts = counts;
    loop {
        let side = |axis: usize| shape[axis] / counts[axis] + i64::from(shape[axis] % counts[axis] != 0);
        let extents = Index::from_fn(shape.axes(), side);
        if bytes.of(extents) <= u128::from(bytes.limit) {
            return Some(counts);
        }
        let axis = (0..shape.axes())
            .filter(|&axis| may_cut[axis] && extents[axis] > 1)
            .max_by_key(|&axis| (extents[axis], axis))?;
        counts[axis] = counts[axis].saturating_mul(2).min(shape[axis]);
    }
}

/// The ordered factorisation of `n` over the free axes whose largest chunk has the least surface per
/// cell; `None` when every one needs more cuts than an axis has cells.
fn factor(n: i64, free: &[usize], shape: Index, widest: Index) -> Option<Vec<i64>> {
    let divisors: Vec<i64> = (1..=n.isqrt()).filter(|d| n % d == 0).flat_map(|d| [d, n / d]).collect();
    let mut divisors = divisors;
    divisors.sort_unstable();
    divisors.dedup();
    let mut best: Option<(f64, Vec<i64>)> = None;
    let mut chosen = Vec::new();
    search(n, free, &divisors, &shape, &mut chosen, &mut |counts| {
        let mut sides = widest;
        for (&axis, &count) in free.iter().zip(counts) {
            sides[axis] = shape[axis] / count + i64::from(shape[axis] % count != 0);
        }
        // Surface per cell is the sum of 1/side; cells of the largest chunk weigh in, so that even cuts win.
        let cells: f64 = sides.iter().map(|&side| side.max(1) as f64).product();
        let surface: f64 = sides.iter().map(|&side| cells / side.max(1) as f64).sum();
        // Ties (cubes) cut the slowest axis most: its faces are contiguous.
        if best.as_ref().is_none_or(|(least, _)| surface < *least * (1.0 - 1e-12)) {
            best = Some((surface, counts.to_vec()));
        }
    });
    best.map(|(_, counts)| counts)
}

fn search(
    n: i64,
    free: &[usize],
    divisors: &[i64],
    shape: &Index,
    chosen: &mut Vec<i64>,
    found: &mut dyn FnMut(&[i64]),
) {
    let Some(&axis) = free.get(chosen.len()) else {
        if n == 1 {
            found(chosen);
        }
        return;
    };
    let last = chosen.len() + 1 == free.len();
    for &d in divisors.iter().filter(|&&d| n % d == 0 && d <= shape[axis].max(1) && (!last || d == n)) {
        chosen.push(d);
        search(n / d, free, divisors, shape, chosen, found);
        chosen.pop();
    }
}

/// At least `n` chunks by cutting the slowest axes into as many parts as needed.
fn peel(n: i64, free: &[usize], shape: Index) -> Vec<i64> {
    let mut rest = n;
    let mut counts = vec![1; free.len()];
    for (count, &axis) in counts.iter_mut().zip(free).rev() {
        *count = rest.clamp(1, shape[axis].max(1));
        rest = (rest + *count - 1) / *count;
    }
    counts
}
