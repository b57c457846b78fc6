//! [`Mesh`]: a surface that is spread over the ranks.

use std::collections::HashMap;

use zippy::{Result, World};

/// A rank's part of a triangle mesh that is welded across ranks.
///
/// A rank owns the vertices on the grid edges that begin at its samples, and the triangles of the cells that begin there.
/// Triangles at the border of its chunks use vertices of its neighbours, too: these are known here as well, as *ghost*
/// vertices, with the same bits as their owner has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    pub(crate) own: usize,
    pub(crate) own_interior: u64,
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) has_normals: bool,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) fields: Vec<(String, Vec<f32>)>,
    pub(crate) ghosts: Vec<u64>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) vertices_before: u64,
    pub(crate) triangles_before: u64,
    pub(crate) totals: Totals,
}

/// Of the whole mesh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub vertices: u64,
    pub interior: u64,
    pub triangles: u64,
}

impl Mesh {
    /// Where its vertices stand: first those that this rank owns, then the ghost vertices.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Unit vectors towards lower values, one a vertex, and zeros where the gradient is zero or no number; none if they
    /// were not asked for.
    pub fn normals(&self) -> &[[f32; 3]] {
        &self.normals
    }

    /// Values of further fields, by name, one a vertex.
    pub fn fields(&self) -> &[(String, Vec<f32>)] {
        &self.fields
    }

    /// The triangles of this rank, as places in [`positions`](Self::positions), counterclockwise as seen from where
    /// values are lower.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many vertices this rank owns.
    pub fn own_vertices(&self) -> usize {
        self.own
    }

    /// The number of a vertex in the whole mesh: the same on all ranks that know it. Ranks' own vertices follow each
    /// other in the order of ranks.
    pub fn number(&self, vertex: u32) -> u64 {
        let vertex = vertex as usize;
        match vertex.checked_sub(self.own) {
            None => self.vertices_before + vertex as u64,
            Some(ghost) => self.ghosts[ghost],
        }
    }

    /// The numbers of the ghost vertices.
    pub fn ghosts(&self) -> &[u64] {
        &self.ghosts
    }

    /// How many vertices ranks before this one own.
    pub fn vertices_before(&self) -> u64 {
        self.vertices_before
    }

    /// How many triangles ranks before this one have.
    pub fn triangles_before(&self) -> u64 {
        self.triangles_before
    }

    /// Vertices of the whole mesh.
    pub fn vertices(&self) -> u64 {
        self.totals.vertices
    }

    /// Those of them that lie inside a cell and not on a grid edge.
    pub fn interior_vertices(&self) -> u64 {
        self.totals.interior
    }

    /// Triangles of the whole mesh.
    pub fn triangle_count(&self) -> u64 {
        self.totals.triangles
    }

    /// Takes the numbers of the ghost vertices. One that this rank owns, in another of its chunks, becomes one with that;
    /// one that several of its chunks use becomes one; one that no triangle uses goes.
    pub(crate) fn weld(&mut self, numbers: &[u64]) {
        let (own, first) = (self.vertices_before..self.vertices_before + self.own as u64, self.own);
        let (mut kept, mut places) = (Vec::new(), HashMap::new());
        for vertex in self.triangles.as_flattened_mut() {
            let Some(ghost) = (*vertex as usize).checked_sub(first) else { continue };
            let number = numbers[ghost];
            *vertex = match own.contains(&number) {
                true => (number - own.start) as u32,
                false => *places.entry(number).or_insert_with(|| {
                    kept.push(first + ghost);
                    (first + kept.len() - 1) as u32
                }),
            };
        }
        self.ghosts = kept.iter().map(|&place| numbers[place - first]).collect();
        keep(&mut self.positions, first, &kept);
        keep(&mut self.normals, first, &kept);
        self.fields.iter_mut().for_each(|(_, values)| keep(values, first, &kept));
    }

    /// Finds where this rank's part stands in the whole. Collective.
    pub(crate) fn place(&mut self, world: &World) -> Result<()> {
        let own = [self.own as u64, self.own_interior, self.triangles.len() as u64];
        let (mut before, mut all) = (own, own);
        world.group().exclusive_scan(&mut before, 0, |sum, more| *sum += more)?;
        world.group().all_reduce(&mut all, |sum, more| *sum += more)?;
        (self.vertices_before, self.triangles_before) = (before[0], before[2]);
        self.totals = Totals { vertices: all[0], interior: all[1], triangles: all[2] };
        Ok(())
    }
}

/// Keeps the first items of a list, and behind them some of the others; an empty list stays empty.
fn keep<V: Copy>(list: &mut Vec<V>, first: usize, kept: &[usize]) {
    let others: Vec<V> = kept.iter().filter_map(|&place| list.get(place).copied()).collect();
    list.truncate(first);
    list.extend(others);
}
