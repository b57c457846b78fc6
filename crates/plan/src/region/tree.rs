//! [`RegionTree`]: static spatial index of boxes.

use std::ops::ControlFlow;

use super::Region;

const LEAF: usize = 8;

/// Static tree of bounding boxes over a list of regions, for overlap queries whose cost is
/// proportional to their results.
///
/// Built in n log n by median cuts. The boxes can overlap. Queries never return empty boxes.
#[derive(Debug, Clone)]
pub struct RegionTree {
    nodes: Vec<RegionNode>,
    /// Items with their boxes, in the order of leaves, so that the items of a leaf are contiguous.
    items: Vec<(usize, Region)>,
}

#[derive(Debug, Clone)]
struct RegionNode {
    bounds: Region,
    /// Range of the items of the subtree.
    first: usize,
    last: usize,
    /// Index of the second child of an inner node, 0 for a leaf. The first child follows its
    /// parent.
    second: usize,
}

impl RegionTree {
    /// Creates the tree of a list of boxes. An item is the index of a box in the list.
    pub fn new(boxes: &[Region]) -> Self {
        let items = boxes.iter().copied().enumerate().filter(|(_, region)| !region.is_empty()).collect();
        let mut tree = Self { nodes: Vec::new(), items };
        if !tree.items.is_empty() {
            tree.build(0, tree.items.len());
        }
        tree
    }

    fn build(&mut self, first: usize, last: usize) {
        let items = &mut self.items[first..last];
        let bounds = items.iter().skip(1).fold(items[0].1, |all, (_, region)| all.bounding(region));
        let this = self.nodes.len();
        self.nodes.push(RegionNode { bounds, first, last, second: 0 });
        if items.len() <= LEAF {
            return;
        }
        // Doubled centres avoid a division.
        let centre = |region: &Region, axis: usize| region.start[axis].saturating_add(region.end[axis]);
        let spread = |axis: usize| {
            let (lo, hi) = items.iter().fold((i64::MAX, i64::MIN), |(lo, hi), (_, region)| {
                let centre = centre(region, axis);
                (lo.min(centre), hi.max(centre))
            });
            hi.saturating_sub(lo)
        };
        let axis = (0..bounds.axes()).max_by_key(|&axis| (spread(axis), std::cmp::Reverse(axis))).unwrap_or(0);
        let half = items.len() / 2;
        items.select_nth_unstable_by_key(half, |(item, region)| (centre(region, axis), *item));
        self.build(first, first + half);
        self.nodes[this].second = self.nodes.len();
        self.build(first + half, last);
    }

    /// Calls `found(item, common)` for each box with cells of `region`, in a deterministic order,
    /// until `found` breaks. `common` is the intersection.
    pub fn visit(&self, region: &Region, found: &mut dyn FnMut(usize, Region) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.nodes.is_empty() || region.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if !node.bounds.intersects(region) {
                continue;
            }
            if node.second != 0 {
                open.push(node.second);
                open.push(at + 1);
                continue;
            }
            for (item, bounds) in &self.items[node.first..node.last] {
                if let Some(common) = bounds.intersect(region) {
                    found(*item, common)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Pair of different items with a common cell, with the smallest first item, or `None`.
    pub fn overlapping_pair(&self) -> Option<(usize, usize)> {
        let mut boxes: Vec<_> = self.items.clone();
        boxes.sort_unstable_by_key(|(item, _)| *item);
        boxes.iter().find_map(|(item, region)| {
            let mut other = None;
            let _ = self.visit(region, &mut |found, _| {
                if found == *item {
                    return ControlFlow::Continue(());
                }
                other = Some(found);
                ControlFlow::Break(())
            });
            other.map(|other| (*item, other))
        })
    }
}
