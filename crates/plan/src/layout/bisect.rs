//! Boxes of nearly equal size for any number of ranks: cut in two, again and again, in proportion to the ranks on each side.

use crate::region::Region;

/// How many places are looked at around the middle, on each axis.
const PLACES: u64 = 8;

/// Cuts a region with at least `parts` cells into so many boxes, none of them empty.
pub(super) fn bisect(region: Region, parts: u64) -> Vec<Region> {
    let mut boxes = Vec::with_capacity(parts as usize);
    let mut rest = vec![(region, parts)];
    while let Some((region, parts)) = rest.pop() {
        if parts < 2 {
            boxes.push(region);
            continue;
        }
        let Bisection { axis, at, before } = cut(&region, parts);
        let (mut low, mut high) = (region, region);
        low.end[axis] = region.start[axis] + at as i64;
        high.start[axis] = low.end[axis];
        rest.extend([(high, parts - before), (low, before)]);
    }
    boxes
}

/// A cut across an axis so many cells from its start, with so many parts before it.
struct Bisection {
    axis: usize,
    at: u64,
    before: u64,
}

/// The best of some cuts of a region into two that have at least as many cells as parts: the largest part is to be small, and
/// long axes are cut rather than short ones, the slowest among equal ones.
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
        // Round about the middle of the parts, and of the axis, which counts where there are few cells.
        let share = |of: u64, part: u64, whole: u64| {
            ((u128::from(of) * u128::from(part) * 2 + u128::from(whole)) / (2 * u128::from(whole))) as u64
        };
        let by_parts = (0..PLACES).map(|by| share(extent, (parts / 2).saturating_sub(by), parts));
        let by_cells = (0..PLACES).map(|by| (extent / 2).saturating_sub(by));
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
