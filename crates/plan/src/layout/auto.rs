//! Choice of the cuts per axis, or of boxes, for `Split::Auto`.

use super::bisect::bisect;
use crate::chunks::{AxisCuts, MAX_CHUNKS};
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// Maximum number of boxes. A grid, which costs nothing per chunk, is better for more chunks.
const MAX_BOXES: u64 = 1 << 16;

/// Storage bytes of chunks from ghost widths and element size, and their limit.
pub(super) struct ChunkBytes {
    pub lo: Index,
    pub hi: Index,
    pub element: usize,
    pub limit: u64,
}

impl ChunkBytes {
    /// Extents with ghost cells. An empty chunk has no ghost cells.
    pub(super) fn with_ghosts(&self, extents: Index) -> Index {
        if extents.contains(&0) {
            return Index::zeros(extents.axes());
        }
        Index::from_fn(extents.axes(), |axis| extents[axis] + self.lo[axis] + self.hi[axis])
    }

    /// Bytes of a chunk with ghost cells and word-padded rows.
    pub(super) fn of(&self, extents: Index) -> u128 {
        let stored = self.with_ghosts(extents);
        let row = (stored[0] as u128 * self.element as u128).next_multiple_of(4);
        stored[1..].iter().fold(row, |bytes, &n| bytes.saturating_mul(n as u128))
    }
}

/// One box per rank, or a power of two boxes per rank to keep boxes within the limit.
///
/// `None` if a grid of `ranks` chunks is as good, the array has fewer cells than ranks, or no
/// number of boxes is within the limit.
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
    // A grid is good with a largest chunk of at most 1.25 times the average.
    if grid.is_some_and(|largest| 4 * u128::from(largest) * u128::from(ranks) <= 5 * u128::from(cells)) {
        return None;
    }
    let each = bisect(Region::whole(shape), ranks);
    let largest = each.iter().map(Region::cells).max();
    if grid.is_some() && grid <= largest {
        return None;
    }
    let fits = |boxes: &[Region]| boxes.iter().all(|region| bytes.of(region.extents()) <= u128::from(bytes.limit));
    let least = each.iter().map(Region::cells).min().unwrap_or(0);
    let mut parts = 1;
    loop {
        let boxes: Vec<Region> = each.iter().flat_map(|region| bisect(*region, parts)).collect();
        if fits(&boxes) {
            return Some(boxes);
        }
        parts *= 2;
        if parts > least || parts * ranks > MAX_BOXES {
            return None;
        }
    }
}

/// Chooses the cuts of the axes that are `None`: one chunk per rank in the factorisation with the
/// smallest surface, then more cuts along the longest side until a chunk is within the limit.
pub(super) fn choose(shape: Index, cuts: Vec<Option<AxisCuts>>, ranks: usize, bytes: &ChunkBytes) -> Vec<AxisCuts> {
    let free: Vec<usize> = (0..cuts.len()).filter(|&axis| cuts[axis].is_none()).collect();
    let fixed: usize = cuts.iter().flatten().map(AxisCuts::count).product();
    let mut counts = Index::from_fn(cuts.len(), |axis| cuts[axis].as_ref().map_or(1, |cut| cut.count() as i64));
    // Extents of the largest chunk along fixed axes, and of the whole array along free axes.
    let widest = Index::from_fn(cuts.len(), |axis| cuts[axis].as_ref().map_or(shape[axis], |cut| cut.largest().1));
    if !free.is_empty() {
        let max: i64 = free.iter().fold(1, |max: i64, &axis| max.saturating_mul(shape[axis].max(1)));
        let needed = (ranks.div_ceil(fixed.max(1)) as i64).clamp(1, max.min(MAX_CHUNKS as i64));
        // Some numbers have no factorisation over the axes.
        let found = (needed..=max.min(needed.saturating_add(64))).find_map(|n| factor(n, &free, shape, widest));
        let chosen = found.unwrap_or_else(|| cut_slowest_axes(needed, &free, shape));
        for (&axis, count) in free.iter().zip(chosen) {
            counts[axis] = count;
        }
    }
    let mut may_cut = [false; MAX_AXES];
    free.iter().for_each(|&axis| may_cut[axis] = true);
    // For `refine`, a fixed axis is an uncut axis with the extent of its largest chunk.
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

/// Doubles the cuts of the axis with the longest chunk side until a chunk is within the limit.
/// `None` if a single cell exceeds the limit.
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

/// Ordered factorisation of `n` over the free axes with the smallest surface of the largest chunk.
/// `None` if every factorisation has more cuts than cells on an axis.
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
        // The surface of the largest chunk, not the surface per cell, prefers even cuts.
        let cells: f64 = sides.iter().map(|&side| side.max(1) as f64).product();
        let surface: f64 = sides.iter().map(|&side| cells / side.max(1) as f64).sum();
        // Ties prefer cuts on the slowest axis, with contiguous faces.
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

/// Counts with a product of at least `n`, and as many cuts as possible on the slowest axes.
fn cut_slowest_axes(n: i64, free: &[usize], shape: Index) -> Vec<i64> {
    let mut needed = n;
    let mut counts = vec![1; free.len()];
    for (count, &axis) in counts.iter_mut().zip(free).rev() {
        *count = needed.clamp(1, shape[axis].max(1));
        needed = (needed + *count - 1) / *count;
    }
    counts
}
