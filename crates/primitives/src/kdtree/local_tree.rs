//! [`LocalTree`]: search structure for the points of one rank on its host.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::point::{Bounds, Position, squared_distance};

/// Maximum number of points in a leaf, which queries search linearly.
const MAX_LEAF_POINTS: usize = 12;

/// Point found by a query of a k-d tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Index of the point in the vector from which the tree was built.
    pub index: u64,
    /// Squared distance: the sum of the squared differences, axis 0 first, each operation rounded
    /// to `f32`.
    pub squared_distance: f32,
}

impl Neighbour {
    /// Returns the sort key of a neighbour: distance, then index. Distances are not negative, so
    /// their bits have the order of their values.
    pub fn order(&self) -> (u32, u64) {
        (self.squared_distance.to_bits(), self.index)
    }

    fn from_order((bits, index): (u32, u64)) -> Self {
        Self { index, squared_distance: f32::from_bits(bits) }
    }
}

/// Search tree over the points of one rank, with small leaves.
pub(super) struct LocalTree {
    points: Vec<(Position, u64)>,
    /// Nodes of the tree, the root first; empty without points.
    nodes: Vec<LocalNode>,
}

struct LocalNode {
    bounds: Bounds,
    points: Range<usize>,
    /// Index of the second child; the first child follows its parent. 0 for a leaf.
    second: usize,
}

impl LocalTree {
    pub(super) fn new(points: Vec<(Position, u64)>) -> Self {
        let all = 0..points.len();
        let mut tree = Self { points, nodes: Vec::new() };
        if !all.is_empty() {
            tree.node(all);
        }
        tree
    }

    fn node(&mut self, points: Range<usize>) {
        let points_of_node = &mut self.points[points.clone()];
        let bounds = Bounds::of(points_of_node.iter().map(|(position, _)| *position));
        let number = self.nodes.len();
        let (axis, half) = (bounds.widest(), points_of_node.len() / 2);
        let few = points_of_node.len() <= MAX_LEAF_POINTS;
        if !few {
            points_of_node.select_nth_unstable_by(half, |(a, _), (b, _)| a[axis].total_cmp(&b[axis]));
        }
        self.nodes.push(LocalNode { bounds, points: points.clone(), second: 0 });
        if !few {
            let middle = points.start + half;
            self.node(points.start..middle);
            self.nodes[number].second = self.nodes.len();
            self.node(middle..points.end);
        }
    }

    /// Returns at most `most` points within a squared distance, sorted by distance and then index.
    pub(super) fn closest(&self, to: &Position, within: f32, most: usize) -> Vec<Neighbour> {
        let mut found: BinaryHeap<(u32, u64)> = BinaryHeap::new();
        let mut open: Vec<(f32, usize)> =
            self.nodes.first().map(|root| (root.bounds.squared_distance(to), 0)).into_iter().collect();
        while let Some((distance, number)) = open.pop() {
            let worse = |last: &(u32, u64)| found.len() >= most && distance.to_bits() > last.0;
            if distance > within || found.peek().is_some_and(worse) {
                continue;
            }
            let node = &self.nodes[number];
            if node.second != 0 {
                let mut children =
                    [number + 1, node.second].map(|child| (self.nodes[child].bounds.squared_distance(to), child));
                // The nearer child is on top of the stack.
                children.sort_by(|a, b| b.0.total_cmp(&a.0));
                open.extend(children);
                continue;
            }
            for (position, index) in &self.points[node.points.clone()] {
                let distance = squared_distance(position, to);
                if distance <= within {
                    found.push((distance.to_bits(), *index));
                    if found.len() > most {
                        found.pop();
                    }
                }
            }
        }
        found.into_sorted_vec().into_iter().map(Neighbour::from_order).collect()
    }

    /// Returns the indices of the points in a box, its boundary included.
    pub(super) fn inside(&self, wanted: &Bounds) -> Vec<u64> {
        let (mut found, mut open) = (Vec::new(), Vec::new());
        open.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(number) = open.pop() {
            let node = &self.nodes[number];
            match node.second {
                _ if !node.bounds.meets(wanted) => {}
                0 => {
                    let points = self.points[node.points.clone()].iter();
                    let inside = points.filter(|(at, _)| Bounds { low: *at, high: *at }.meets(wanted));
                    found.extend(inside.map(|(_, index)| *index));
                }
                second => open.extend([number + 1, second]),
            }
        }
        found.sort_unstable();
        found
    }
}
