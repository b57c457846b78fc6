//! [`ChunkPoints`]: points of several meshes in a chunk.

use std::ops::Range;

use zippy::chunks::ChunkId;
use zippy::{Result, World};

use super::numbering::{Numbering, along};
use crate::error::IsosurfaceError;
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::{Bricks, LayerSelector};

/// Chunk of this rank with the points of several meshes.
pub(crate) struct ChunkPoints<const K: usize> {
    pub chunk: ChunkId,
    pub part: BrickedChunk,
    /// Bricks with points: first those of own samples, then those after the chunk.
    pub visits: Vec<Visit>,
    /// Points of each mesh.
    pub layers: Vec<Layer<K>>,
}

/// Brick, and the meshes that have points in it.
pub(crate) struct Visit {
    pub at: [i64; 3],
    pub layers: Range<usize>,
}

/// Points of a mesh in a chunk.
pub(crate) struct Layer<const K: usize> {
    pub numbering: Numbering<K>,
    /// Numbers of own points and ghosts of the mesh in this rank's earlier chunks.
    pub before: [u64; 2],
}

impl<const K: usize> ChunkPoints<K> {
    /// Selects the bricks that any of the meshes needs: none in a field without cells.
    pub(crate) fn new(
        chunk: ChunkId,
        part: &BrickedChunk,
        bricks: &dyn Bricks,
        meshes: usize,
        wanted: LayerSelector<'_>,
    ) -> Self {
        let mut visits = Vec::new();
        if part.has_cells() && meshes > 0 {
            bricks.visit(wanted, &mut |at, layers| visits.push(Visit { at, layers }));
        }
        let mut piece = Self { chunk, part: part.clone(), visits, layers: Vec::new() };
        piece.sort();
        let layer = |mesh: usize| {
            let bricks = piece.visits.iter().filter(|visit| visit.layers.contains(&mesh)).count();
            Layer { numbering: Numbering::new(part, bricks), before: [0; 2] }
        };
        piece.layers = (0..meshes).map(layer).collect();
        piece
    }

    fn sort(&mut self) {
        // Stable: both halves keep the order of the tree.
        self.visits.sort_by_key(|visit| !self.part.is_own(visit.at));
    }

    /// Adds bricks with possible points of cells that begin elsewhere: the bricks after bricks with
    /// points, and all bricks at borders to other chunks.
    pub(crate) fn spread(&mut self) {
        let mut is_there = vec![false; self.part.brick_count()];
        self.visits.iter().for_each(|visit| is_there[self.part.brick_number(visit.at)] = true);
        for brick in 0..self.visits.len() {
            for direction in 1..8 {
                let at = along(self.visits[brick].at, direction);
                if (0..3).all(|axis| at[axis] < self.part.bricks()[axis]) {
                    let known = std::mem::replace(&mut is_there[self.part.brick_number(at)], true);
                    self.visits.extend((!known).then_some(Visit { at, layers: 0..1 }));
                }
            }
        }
        let begins = self.part.field().start.map(|before| before == 0);
        let [x, y, z] = self.part.bricks();
        let all = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
        let at_border = |at: &[i64; 3]| (0..3).any(|axis| at[axis] == 0 && !begins[axis]) || !self.part.is_own(*at);
        let added = all.filter(|at| !is_there[self.part.brick_number(*at)] && at_border(at));
        self.visits.extend(added.map(|at| Visit { at, layers: 0..1 }).collect::<Vec<_>>());
        self.sort();
    }
}

const MAX_POINTS: u64 = u32::MAX as u64;

/// Kind of the items in errors.
const VERTICES: &str = "vertices, its neighbours' that it uses among them";

/// Numbers each mesh's points consecutively over the chunks; returns the numbers of own points and
/// ghosts. Collective.
pub(crate) fn number<const K: usize>(
    world: &World,
    chunk_points: &mut [ChunkPoints<K>],
    meshes: usize,
) -> Result<Vec<[u64; 2]>> {
    let most = MAX_POINTS;
    let mut counts = vec![[0; 2]; meshes];
    for piece in chunk_points {
        for (layer, count) in piece.layers.iter_mut().zip(&mut counts) {
            layer.before = *count;
            *count = [count[0] + layer.numbering.own, count[1] + layer.numbering.ghosts];
        }
    }
    let counted = if counts.iter().any(|count| count[0] + count[1] > most) {
        Err(IsosurfaceError::TooMany { rank: world.rank(), what: VERTICES, most }.into())
    } else {
        Ok(())
    };
    world.agree("numbering vertices", counted)?;
    Ok(counts)
}
