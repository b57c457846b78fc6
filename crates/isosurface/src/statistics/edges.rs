//! Edges, and their numbers of triangles.

use std::collections::BTreeMap;

use zippy::{Result, World};

use super::shared::Shared;
use crate::mesh::Mesh;
use crate::messages::exchange;

/// Numbers of edges in the whole mesh.
pub(super) struct Edges {
    pub all: u64,
    pub open: u64,
    pub nonmanifold: u64,
}

/// Edge: numbers of its ends (lower first), and numbers of triangles along and against its
/// direction.
type Edge = [u64; 4];

/// Counts the edges; the owner of the lower end counts a shared edge. Collective.
pub(super) fn count(world: &World, mesh: &Mesh, shared: &Shared) -> Result<Edges> {
    let (mut own, mut sent) = (Vec::new(), Vec::new());
    for triangle in mesh.triangles() {
        for i in 0..3 {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            let (from, to) = (mesh.number(a), mesh.number(b));
            let edge = if from < to { [from, to, 1, 0] } else { [to, from, 0, 1] };
            if shared.may_share_edge(a, b) { sent.push(edge) } else { own.push(edge) }
        }
    }
    let mut messages: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for edge in merge_equal_edges(sent) {
        messages.entry(shared.owner(edge[0])).or_default().extend(edge);
    }
    for (_, edges) in exchange(world, messages)? {
        own.extend(edges.as_chunks::<4>().0);
    }
    let mut counts = [0_u64; 3];
    for [_, _, along, against] in merge_equal_edges(own) {
        counts[0] += 1;
        counts[1] += u64::from(along + against == 1);
        counts[2] += u64::from(along > 1 || against > 1);
    }
    world.group().all_reduce(&mut counts, |sum, more| *sum += more)?;
    let [all, open, nonmanifold] = counts;
    Ok(Edges { all, open, nonmanifold })
}

/// Sorts the edges and sums the triangles of equal edges.
fn merge_equal_edges(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_unstable();
    edges.dedup_by(|next, kept| {
        let same = next[..2] == kept[..2];
        if same {
            kept[2] += next[2];
            kept[3] += next[3];
        }
        same
    });
    edges
}
