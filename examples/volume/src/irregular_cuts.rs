//! Decompositions that are not grids. Each returns boxes that cover the volume once, with their
//! owners.

use zippy::extents::Index;
use zippy::region::Region;

/// Boxes with the ranks that own them.
pub type OwnedBoxes = Vec<(Region, usize)>;

/// Cuts the volume by a k-d tree with `leaves` leaves. Each cut halves the number of leaves on the
/// longest axis, alternately below and above the middle. A rank owns consecutive leaves.
pub fn tree(shape: [i64; 3], leaves: usize, ranks: usize) -> OwnedBoxes {
    let mut boxes = Vec::new();
    split_tree_node(Region::whole(Index::new(&shape)), leaves, 0, &mut boxes);
    let owner = |leaf: usize| leaf * ranks / leaves;
    boxes.into_iter().enumerate().map(|(leaf, region)| (region, owner(leaf))).collect()
}

fn split_tree_node(region: Region, leaves: usize, depth: usize, boxes: &mut Vec<Region>) {
    if leaves <= 1 {
        boxes.push(region);
        return;
    }
    let extents = region.extents();
    // `max_by_key` returns the last maximum; reversed, the first of the longest axes.
    let axis = (0..3).rev().max_by_key(|&axis| extents[axis]).unwrap_or(0);
    let low = leaves / 2;
    let share = low as f64 / leaves as f64 * if depth.is_multiple_of(2) { 0.8 } else { 1.2 };
    let [first, second] = split_box(&region, axis, (extents[axis] as f64 * share).round() as i64);
    split_tree_node(first, low, depth + 1, boxes);
    split_tree_node(second, leaves - low, depth + 1, boxes);
}

/// Cuts the volume into `layers` layers along z and each layer into one bar for each rank. Bars lie
/// along x in even layers and along y in odd layers, so that ranks occlude each other mutually from
/// every direction.
pub fn bars(shape: [i64; 3], layers: usize, ranks: usize) -> OwnedBoxes {
    let mut boxes = Vec::new();
    for layer in 0..layers {
        let across = 1 - layer % 2;
        for bar in 0..ranks {
            let mut region = Region::whole(Index::new(&shape));
            (region.start[2], region.end[2]) = even_part(shape[2], layer, layers);
            (region.start[across], region.end[across]) = even_part(shape[across], bar, ranks);
            boxes.push((region, (bar + layer) % ranks));
        }
    }
    boxes
}

/// Cuts the volume into nested L-shapes of about equal numbers of voxels. Each rank owns two slabs
/// at right angles, cut off the rest of the volume; the last rank owns the remaining box.
pub fn l_shapes(shape: [i64; 3], ranks: usize) -> OwnedBoxes {
    let mut rest = Region::whole(Index::new(&shape));
    let mut boxes = Vec::new();
    for rank in 0..ranks - 1 {
        let width = |extent: i64| (extent as f64 * (1.0 - (1.0 - 1.0 / (ranks - rank) as f64).sqrt())).round() as i64;
        for axis in [rank % 3, (rank + 1) % 3] {
            let [slab, remainder] = split_box(&rest, axis, width(rest.extents()[axis]));
            boxes.push((slab, rank));
            rest = remainder;
        }
    }
    boxes.push((rest, ranks - 1));
    boxes
}

/// Splits a region after `width` cells on an axis.
fn split_box(region: &Region, axis: usize, width: i64) -> [Region; 2] {
    let [mut first, mut second] = [*region; 2];
    first.end[axis] = region.start[axis] + width;
    second.start[axis] = first.end[axis];
    [first, second]
}

/// Returns start and end of the part `index` of an axis that is divided into `parts` nearly equal
/// parts.
fn even_part(extent: i64, index: usize, parts: usize) -> (i64, i64) {
    let edge = |index: usize| (i128::from(extent) * index as i128 / parts as i128) as i64;
    (edge(index), edge(index + 1))
}
