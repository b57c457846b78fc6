//! [`Shared`]: vertices that several ranks have.

use std::collections::BTreeMap;

use zippy::transport::{copied, values};
use zippy::{Result, World};

use crate::mesh::Mesh;
use crate::messages::exchange;

/// Vertices of this rank that other ranks also have.
pub(super) struct Shared {
    /// For each rank, the number of vertices that lower ranks own.
    before: Vec<u64>,
    /// Indices of ghosts, by owner.
    owned_by: BTreeMap<usize, Vec<u32>>,
    /// Own vertices that other ranks have as ghosts, by rank and in that rank's order.
    ghosts_of: BTreeMap<usize, Vec<u32>>,
    is_shared: Vec<bool>,
}

impl Shared {
    /// Finds the shared vertices. Collective.
    pub(super) fn new(world: &World, mesh: &Mesh) -> Result<Self> {
        let all = world.group().all_gather_v(copied(&[mesh.vertices_before()]))?;
        let before = all.iter().map(|payload| Ok(values::<u64>(payload)?[0])).collect::<Result<Vec<_>>>()?;
        let is_shared = vec![false; mesh.positions().len()];
        let mut shared = Self { before, owned_by: BTreeMap::new(), ghosts_of: BTreeMap::new(), is_shared };
        let mut requested: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for vertex in mesh.own_vertices()..mesh.positions().len() {
            let number = mesh.number(vertex as u32);
            let owner = shared.owner(number);
            shared.is_shared[vertex] = true;
            shared.owned_by.entry(owner).or_default().push(vertex as u32);
            requested.entry(owner).or_default().push(number);
        }
        for (rank, numbers) in exchange(world, requested)? {
            let own: Vec<u32> = numbers.iter().map(|number| (number - mesh.vertices_before()) as u32).collect();
            own.iter().for_each(|&vertex| shared.is_shared[vertex as usize] = true);
            shared.ghosts_of.insert(rank, own);
        }
        Ok(shared)
    }

    pub(super) fn owner(&self, number: u64) -> usize {
        self.before.partition_point(|&before| before <= number) - 1
    }

    /// True if another rank may also have an edge between two vertices.
    pub(super) fn may_share_edge(&self, a: u32, b: u32) -> bool {
        self.is_shared[a as usize] && self.is_shared[b as usize]
    }

    /// Sends values of ghosts to their owners, or values of own vertices to the ranks that have
    /// them as ghosts; calls `receive` with the received values. Collective.
    pub(super) fn exchange_values(
        &self,
        world: &World,
        to_owners: bool,
        value: impl Fn(u32) -> u64,
        mut receive: impl FnMut(u32, u64),
    ) -> Result<()> {
        let (from, to) = if to_owners { (&self.owned_by, &self.ghosts_of) } else { (&self.ghosts_of, &self.owned_by) };
        let values = |vertices: &Vec<u32>| vertices.iter().map(|&vertex| value(vertex)).collect();
        let sent = from.iter().map(|(&rank, vertices)| (rank, values(vertices))).collect();
        for (rank, values) in exchange(world, sent)? {
            let vertices = to.get(&rank).into_iter().flatten();
            vertices.zip(values).for_each(|(&vertex, value)| receive(vertex, value));
        }
        Ok(())
    }
}
