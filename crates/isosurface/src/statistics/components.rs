//! Connected components: union-find on each rank, then across ranks.

use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::{Result, World};

use super::shared::Shared;
use crate::mesh::Mesh;

/// Computes, for each vertex of this rank, including ghosts, the lowest number of a connected
/// vertex; a triangle belongs to the component of its corners. Collective; takes one round of
/// messages per rank along a component's path.
///
/// # Errors
/// A transfer fails.
#[track_caller]
pub fn components(world: &World, mesh: &Mesh) -> Result<Vec<u64>> {
    let _call = CallSite::enter();
    world.failing("components of a mesh", || labels(world, mesh, &Shared::new(world, mesh)?))
}

pub(super) fn labels(world: &World, mesh: &Mesh, shared: &Shared) -> Result<Vec<u64>> {
    let mut sets = Sets((0..mesh.positions().len() as u32).collect());
    for [a, b, c] in mesh.triangles() {
        sets.merge(*a, *b);
        sets.merge(*a, *c);
    }
    let roots: Vec<u32> = (0..mesh.positions().len() as u32).map(|vertex| sets.root(vertex)).collect();
    let mut labels = vec![u64::MAX; roots.len()];
    for (vertex, &root) in roots.iter().enumerate() {
        let label = &mut labels[root as usize];
        *label = mesh.number(vertex as u32).min(*label);
    }
    loop {
        let mut changed = [0_u64];
        for to_owners in [true, false] {
            let known = labels.clone();
            shared.exchange_values(
                world,
                to_owners,
                |vertex| known[roots[vertex as usize] as usize],
                |vertex, received| {
                    let label = &mut labels[roots[vertex as usize] as usize];
                    changed[0] += u64::from(received < *label);
                    *label = received.min(*label);
                },
            )?;
        }
        world.group().all_reduce(&mut changed, |sum, more| *sum += more)?;
        if changed == [0] {
            return Ok(roots.into_iter().map(|root| labels[root as usize]).collect());
        }
    }
}

/// Disjoint sets of vertices: the parent of each vertex, or the vertex itself.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.0[vertex as usize] != vertex {
            let next = self.0[vertex as usize];
            self.0[vertex as usize] = self.0[next as usize];
            vertex = next;
        }
        vertex
    }

    fn merge(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
