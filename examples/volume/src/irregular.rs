//! Cuts that no grid has: each gives boxes that cover the volume once, and the rank of each.

use zippy::extents::Index;
use zippy::region::Region;

/// Boxes and the ranks that own them.
pub type Owned = Vec<(Region, usize)>;

/// A k-d tree with `leaves` leaves: the longest axis is cut, off the middle on alternating sides. Ranks own runs of
/// leaves.
pub fn tree(shape: [i64; 3], leaves: usize, ranks: usize) -> Owned {
    let mut boxes = Vec::new();
    split(Region::whole(Index::new(&shape)), leaves, 0, &mut boxes);
    let owner = |leaf: usize| leaf * ranks / leaves;
    boxes.into_iter().enumerate().map(|(leaf, region)| (region, owner(leaf))).collect()
}

fn split(region: Region, leaves: usize, depth: usize, boxes: &mut Vec<Region>) {
    if leaves <= 1 {
        boxes.push(region);
        return;
    }
    let extents = region.extents();
    // The first of the longest axes.
    let axis = (0..3).rev().max_by_key(|&axis| extents[axis]).unwrap_or(0);
    let low = leaves / 2;
    let share = low as f64 / leaves as f64 * if depth.is_multiple_of(2) { 0.8 } else { 1.2 };
    let [first, second] = cut(&region, axis, (extents[axis] as f64 * share).round() as i64);
    split(first, low, depth + 1, boxes);
    split(second, leaves - low, depth + 1, boxes);
}

/// A pile of bars: in one layer of z they lie along x, in the next along y, and every rank has one bar in each of
/// `layers` layers. Whichever way one looks, ranks stand in front of and behind each other at once.
pub fn bars(shape: [i64; 3], layers: usize, ranks: usize) -> Owned {
    let mut owned = Vec::new();
    for layer in 0..layers {
        let across = 1 - layer % 2;
        for bar in 0..ranks {
            let mut region = Region::whole(Index::new(&shape));
            (region.start[2], region.end[2]) = part(shape[2], layer, layers);
            (region.start[across], region.end[across]) = part(shape[across], bar, ranks);
            owned.push((region, (bar + layer) % ranks));
        }
    }
    owned
}

/// Nested angles: each rank but the last takes two slabs at right angles off what is left, the last one the rest. All
/// have about as many voxels.
pub fn angles(shape: [i64; 3], ranks: usize) -> Owned {
    let mut rest = Region::whole(Index::new(&shape));
    let mut owned = Vec::new();
    for rank in 0..ranks - 1 {
        let width = |extent: i64| (extent as f64 * (1.0 - (1.0 - 1.0 / (ranks - rank) as f64).sqrt())).round() as i64;
        for axis in [rank % 3, (rank + 1) % 3] {
            let [slab, others] = cut(&rest, axis, width(rest.extents()[axis]));
            owned.push((slab, rank));
            rest = others;
        }
    }
    owned.push((rest, ranks - 1));
    owned
}

/// The first `width` cells of a region on an axis, and the others.
fn cut(region: &Region, axis: usize, width: i64) -> [Region; 2] {
    let [mut first, mut second] = [*region; 2];
    first.end[axis] = region.start[axis] + width;
    second.start[axis] = first.end[axis];
    [first, second]
}

fn part(extent: i64, number: usize, parts: usize) -> (i64, i64) {
    let edge = |number: usize| (i128::from(extent) * number as i128 / parts as i128) as i64;
    (edge(number), edge(number + 1))
}
