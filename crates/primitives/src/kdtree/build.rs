//! Construction of a tree, level by level, with one sort per level.

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::Result;
use zippy::layout::{Layout, Split};

use super::nodes::Nodes;
use super::point::{Bounds, IndexedPoint, ordered};
use crate::vectors::Vectors;

/// Returns the layout of a tree's points: one chunk of whole leaves per rank.
pub(super) fn layout(nodes: &Nodes) -> Layout {
    let lengths = nodes.lengths();
    Layout::new([lengths.iter().sum::<i64>()]).split([Split::Sizes(lengths)])
}

/// Builds a tree of points that are already distributed by the layout of the result; `local_points`
/// are this rank's points. Returns these in the order of the tree. Collective.
pub(super) fn build(
    vectors: Vectors<'_>,
    name: &str,
    nodes: &mut Nodes,
    mut local_points: Vec<IndexedPoint>,
) -> Result<Vec<IndexedPoint>> {
    let world = vectors.world();
    let first = nodes.first_of(nodes.first_leaf(world.rank()));
    // Nodes without a cut, in the order of their points.
    let mut front = vec![0];
    let mut arrays = None;
    compute_bounds(world, nodes, &front, &local_points, first)?;
    while nodes.all.last().is_some_and(|last| last.leaves.len() > 1) {
        let (keys, items) = match arrays.take() {
            Some(arrays) => arrays,
            None => (
                world.array::<[u32; 2], 1>(&format!("{name}: keys"), &layout(nodes))?,
                world.array::<IndexedPoint, 1>(&format!("{name}: points by key"), &layout(nodes))?,
            ),
        };
        let mut local_keys = Vec::with_capacity(local_points.len());
        for_each_node_part(nodes, &front, &local_points, first, |number, items| {
            let node = &nodes.all[number];
            let axis = (node.leaves.len() > 1).then(|| node.bounds.widest());
            // Keys ascend from node to node, and all keys of a leaf are equal, so leaves keep their
            // order.
            let key =
                |item: &IndexedPoint| [node.leaves.start as u32, axis.map_or(0, |axis| ordered(item.position()[axis]))];
            local_keys.extend(items.iter().map(key));
        });
        world.failing("kdtree", || {
            keys.local()?.all().write(&local_keys)?;
            items.local()?.all().write(&local_points)
        })?;
        drop(local_keys);
        vectors.sort_pairs(&keys, &items)?;
        local_points = world.failing("kdtree", || items.local()?.all().read())?;
        let next = nodes.all.len();
        front = front.iter().flat_map(|&number| cut(nodes, number)).collect();
        let new: Vec<usize> = front.iter().copied().filter(|number| *number >= next).collect();
        compute_bounds(world, nodes, &new, &local_points, first)?;
        arrays = Some((keys, items));
    }
    nodes.set_cut_coordinates();
    Ok(local_points)
}

/// Cuts a node that has several leaves. Returns its children, or the node itself without a cut.
fn cut(nodes: &mut Nodes, number: usize) -> Vec<usize> {
    match nodes.all[number].leaves.len() {
        1 => vec![number],
        _ => nodes.cut(number, nodes.all[number].bounds.widest()).to_vec(),
    }
}

/// Calls `f` with each node of a list, in ascending order of the nodes' points, and with this
/// rank's points of the node.
fn for_each_node_part(
    nodes: &Nodes,
    list: &[usize],
    local_points: &[IndexedPoint],
    first: u64,
    mut f: impl FnMut(usize, &[IndexedPoint]),
) {
    let begin = list.partition_point(|&number| nodes.all[number].points.end <= first);
    let end = first + local_points.len() as u64;
    for &number in &list[begin..] {
        let points = &nodes.all[number].points;
        if points.start >= end {
            break;
        }
        f(number, &local_points[(points.start.max(first) - first) as usize..(points.end.min(end) - first) as usize]);
    }
}

/// Computes the bounding boxes of some nodes. Collective.
fn compute_bounds(
    world: &World,
    nodes: &mut Nodes,
    list: &[usize],
    local_points: &[IndexedPoint],
    first: u64,
) -> Result<()> {
    let mut found = vec![Bounds::NONE; nodes.all.len()];
    for_each_node_part(nodes, list, local_points, first, |number, items| {
        found[number] = Bounds::of(items.iter().map(IndexedPoint::position))
    });
    let mut boxes: Vec<[[f32; 3]; 2]> = list.iter().map(|&number| [found[number].low, found[number].high]).collect();
    world.failing("kdtree", || {
        world.inner_group().all_reduce(&mut boxes, |all, more| {
            let [low, high] = *more;
            let with = Bounds { low: all[0], high: all[1] }.with(&Bounds { low, high });
            *all = [with.low, with.high];
        })
    })?;
    for (&number, [low, high]) in list.iter().zip(boxes) {
        nodes.all[number].bounds = Bounds { low, high };
    }
    Ok(())
}
