//! [`Shared`]: vertices that several ranks know.

use zippy::transport::{copied, values};
use zippy::{Result, World};

use crate::mesh::Mesh;

/// Which vertices of this rank other ranks know, too.
pub struct Shared {
    /// For each rank how many vertices lower ranks own.
    before: Vec<u64>,
    /// Ghosts by owner: places in the list of vertices.
    owned_by: Vec<(usize, Vec<u32>)>,
    /// Own vertices by a rank that has them as ghosts, in the order in which that rank lists them.
    known_to: Vec<(usize, Vec<u32>)>,
    is_shared: Vec<bool>,
}

impl Shared {
    /// Collective.
    pub fn new(world: &World, mesh: &Mesh) -> Result<Self> {
        let all = world.group().all_gather_v(copied(&[mesh.vertices_before()]))?;
        let before = all.iter().map(|payload| Ok(values::<u64>(payload)?[0])).collect::<Result<Vec<_>>>()?;
        let mut shared = Self { before, owned_by: Vec::new(), known_to: Vec::new(), is_shared: Vec::new() };
        shared.is_shared = vec![false; mesh.positions().len()];
        let mut ghosts: Vec<(usize, u32)> = (mesh.own_vertices()..mesh.positions().len())
            .map(|vertex| (shared.owner(mesh.number(vertex as u32)), vertex as u32))
            .collect();
        ghosts.sort_unstable();
        for (rank, vertex) in ghosts {
            shared.is_shared[vertex as usize] = true;
            match shared.owned_by.last_mut().filter(|(last, _)| *last == rank) {
                Some((_, vertices)) => vertices.push(vertex),
                None => shared.owned_by.push((rank, vec![vertex])),
            }
        }
        let numbers = |vertices: &[u32]| vertices.iter().map(|&vertex| mesh.number(vertex)).collect::<Vec<u64>>();
        let asked = shared.owned_by.iter().map(|(rank, vertices)| (*rank, numbers(vertices))).collect();
        for (rank, numbers) in exchange(world, asked)? {
            let own: Vec<u32> = numbers.iter().map(|number| (number - mesh.vertices_before()) as u32).collect();
            own.iter().for_each(|&vertex| shared.is_shared[vertex as usize] = true);
            shared.known_to.push((rank, own));
        }
        Ok(shared)
    }

    /// The rank that owns the vertex of this number.
    pub fn owner(&self, number: u64) -> usize {
        self.before.partition_point(|&before| before <= number) - 1
    }

    /// Whether another rank may have an edge between two vertices, too.
    pub fn both(&self, a: u32, b: u32) -> bool {
        self.is_shared[a as usize] && self.is_shared[b as usize]
    }

    /// What `of` says of ghosts goes to their owners, or what it says of own vertices to those that know them; `take`
    /// gets it there. Collective.
    pub fn tell(
        &self,
        world: &World,
        to_owners: bool,
        of: impl Fn(u32) -> u64,
        mut take: impl FnMut(u32, u64),
    ) -> Result<()> {
        let (from, to) = if to_owners { (&self.owned_by, &self.known_to) } else { (&self.known_to, &self.owned_by) };
        let sent = from.iter().map(|(rank, vertices)| (*rank, vertices.iter().map(|&vertex| of(vertex)).collect()));
        for (rank, told) in exchange(world, sent.collect())? {
            let vertices = to.iter().find(|(other, _)| *other == rank).map_or(&[][..], |(_, vertices)| vertices);
            vertices.iter().zip(told).for_each(|(&vertex, value)| take(vertex, value));
        }
        Ok(())
    }
}

/// Messages of numbers to some ranks, this one included. Collective.
pub fn exchange(world: &World, mut messages: Vec<(usize, Vec<u64>)>) -> Result<Vec<(usize, Vec<u64>)>> {
    let mut received: Vec<(usize, Vec<u64>)> = messages.extract_if(.., |(rank, _)| *rank == world.rank()).collect();
    let sent = messages.into_iter().map(|(rank, numbers)| (rank, copied(&numbers))).collect();
    for (rank, payload) in world.group().sparse_exchange(sent)? {
        received.push((rank, values(&payload)?));
    }
    Ok(received)
}
