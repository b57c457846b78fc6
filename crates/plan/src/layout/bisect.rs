//! Recursive bisection: boxes of nearly equal size for any number of ranks. Each cut divides a
//! region in proportion to the numbers of ranks on both sides.

use crate::region::Region;

const CANDIDATES: u64 = 8;

/// Cuts a region with at least `parts` cells into `parts` non-empty boxes.
pub(super) fn bisect(region: Region, parts: u64) -> Vec<Region> {
    let mut boxes = Vec::with_capacity(parts as usize);
    let mut open = vec![(region, parts)];
    while let Some((region, parts)) = open.pop() {
        if parts < 2 {
            boxes.push(region);
            continue;
        }
        let Bisection { axis, at, before } = cut(&region, parts);
        let (mut low, mut high) = (region, region);
        low.end[axis] = region.start[axis] + at as i64;
        high.start[axis] = low.end[axis];
        open.extend([(high, parts - before), (low, before)]);
    }
    boxes
}

/// Cut of a region in two.
struct Bisection {
    axis: usize,
    /// Number of cells along the axis before the cut.
    at: u64,
    before: u64,
}

/// Best of several cuts of a region in two, with at least as many cells as parts on each side:
/// small largest parts, along a long axis, the slowest of equal axes.
fn cut(region: &Region, parts: u64) -> Bisection {
    let (cells, extents) = (region.cells(), region.extents());
    let longest = extents.iter().copied().max().unwrap_or(1) as u64;
    let mut best: Option<(f64, Bisection)> = None;
    for axis in (0..extents.axes()).rev() {
        let extent = extents[axis] as u64;
        if extent < 2 || 2 * extent <= longest {
            continue;
        }
        let layer = cells / extent;
        // Cuts near the middle of the parts, and, for few cells, near the middle of the axis.
        let share = |total: u64, part: u64, whole: u64| {
            ((u128::from(total) * u128::from(part) * 2 + u128::from(whole)) / (2 * u128::from(whole))) as u64
        };
        let by_parts = (0..CANDIDATES).map(|offset| share(extent, (parts / 2).saturating_sub(offset), parts));
        let by_cells = (0..CANDIDATES).map(|offset| (extent / 2).saturating_sub(offset));
        for at in by_parts.chain(by_cells).map(|at| at.clamp(1, extent - 1)) {
            let (low, high) = (at * layer, (extent - at) * layer);
            let before = share(parts, at, extent).clamp(parts.saturating_sub(high).max(1), low.min(parts - 1));
            let load = (low as f64 / before as f64).max(high as f64 / (parts - before) as f64);
            let cost = load * (8.0 + longest as f64 / extent as f64);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, Bisection { axis, at, before }));
            }
        }
    }
    best.expect("a region of two cells or more has an axis that can be cut").1
}
