//! The nodes of a tree, stored on every rank.

use std::ops::Range;

use super::point::{Bounds, Position};

/// Node of a k-d tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Range of leaves in the subtree of the node; a leaf contains itself.
    pub leaves: Range<usize>,
    /// Range of the node's points in the order of the tree.
    pub points: Range<u64>,
    /// Bounding box of the node's points.
    pub bounds: Bounds,
    /// Cut of the node into its children; `None` for a leaf.
    pub cut: Option<Cut>,
}

/// Cut of a node of a k-d tree into two children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// Axis with the largest spread of the node's points (the lowest such axis).
    pub axis: usize,
    /// Coordinate of the first point of the upper child or, if that child is empty, of the last
    /// point of the lower child. Points of the lower child are not above the coordinate, points of
    /// the upper child not below.
    pub value: f32,
    /// Indices of the lower and the upper child.
    pub children: [usize; 2],
}

/// Nodes of a k-d tree, level by level, and the distribution of its leaves among ranks.
#[derive(Debug)]
pub(super) struct Nodes {
    pub all: Vec<Node>,
    points: u64,
    leaves: usize,
    ranks: usize,
}

/// Returns `whole * part / parts`, rounded down.
fn proportional_share(whole: u64, part: usize, parts: usize) -> u64 {
    (u128::from(whole) * part as u128 / parts as u128) as u64
}

impl Nodes {
    pub(super) fn new(points: u64, leaves: usize, ranks: usize) -> Self {
        let root = Node { leaves: 0..leaves, points: 0..points, bounds: Bounds::NONE, cut: None };
        Self { all: vec![root], points, leaves, ranks }
    }

    /// Cuts a node along an axis at its middle leaf.
    pub(super) fn cut(&mut self, number: usize, axis: usize) -> [usize; 2] {
        let Range { start, end } = self.all[number].leaves;
        let middle = start + (end - start) / 2;
        let first = self.all.len();
        for leaves in [start..middle, middle..end] {
            let points = self.first_of(leaves.start)..self.first_of(leaves.end);
            self.all.push(Node { leaves, points, bounds: Bounds::NONE, cut: None });
        }
        let children = [first, first + 1];
        self.all[number].cut = Some(Cut { axis, value: 0.0, children });
        children
    }

    /// Sets the coordinates of the cuts when all bounding boxes are known.
    pub(super) fn set_cut_coordinates(&mut self) {
        for number in 0..self.all.len() {
            let Some(Cut { axis, children: [lower, upper], .. }) = self.all[number].cut else { continue };
            let [lower, upper] = [lower, upper].map(|child| self.all[child].bounds);
            let value = match (upper.is_empty(), lower.is_empty()) {
                (false, _) => upper.low[axis],
                (_, false) => lower.high[axis],
                _ => 0.0,
            };
            self.all[number].cut.iter_mut().for_each(|cut| cut.value = value);
        }
    }

    pub(super) fn first_of(&self, leaf: usize) -> u64 {
        proportional_share(self.points, leaf, self.leaves)
    }

    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    /// Returns the first leaf of a rank: the numbers of leaves per rank differ by at most one.
    pub(super) fn first_leaf(&self, rank: usize) -> usize {
        proportional_share(self.leaves as u64, rank, self.ranks) as usize
    }

    pub(super) fn rank_of(&self, leaf: usize) -> usize {
        (((leaf as u128 + 1) * self.ranks as u128 - 1) / self.leaves as u128) as usize
    }

    pub(super) fn lengths(&self) -> Vec<i64> {
        let first = |rank: usize| self.first_of(self.first_leaf(rank));
        (0..self.ranks).map(|rank| (first(rank + 1) - first(rank)) as i64).collect()
    }

    /// Returns a leaf with points near a position; `None` without points.
    pub(super) fn leaf_near(&self, position: &Position) -> Option<usize> {
        let mut at = &self.all[0];
        while let Some(cut) = &at.cut {
            let [lower, upper] = cut.children.map(|child| &self.all[child]);
            let nearer = upper.bounds.squared_distance(position) < lower.bounds.squared_distance(position);
            at = if lower.points.is_empty() || nearer && !upper.points.is_empty() { upper } else { lower };
        }
        (!at.points.is_empty()).then_some(at.leaves.start)
    }

    /// Calls `found` with the ascending ranks that own points in a bounding box for which `wanted`
    /// is true.
    pub(super) fn ranks(&self, wanted: impl Fn(&Bounds) -> bool, mut found: impl FnMut(usize)) {
        let (mut open, mut last) = (vec![0], None);
        while let Some(number) = open.pop() {
            let node = &self.all[number];
            if node.points.is_empty() || !wanted(&node.bounds) {
                continue;
            }
            let [first, end] = [node.leaves.start, node.leaves.end - 1].map(|leaf| self.rank_of(leaf));
            match &node.cut {
                _ if last == Some(end) => {}
                Some(cut) if first < end => open.extend(cut.children.iter().rev()),
                _ => {
                    last = Some(first);
                    found(first);
                }
            }
        }
    }
}
