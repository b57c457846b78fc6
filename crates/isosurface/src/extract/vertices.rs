//! Vertices of surfaces, brick by brick. In kernels: `shaders/extract/vertices.wgsl`.

use super::interior;
use crate::cell::{self, ShapeNumber};
use crate::field::block::{BRICK, Block, Samples, set_bits};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::trilinear;
use crate::field::values::{between, difference};
use crate::grid::SampleFrame;
use crate::points::chunk_points::ChunkPoints;
use crate::points::inside::Inside;
use crate::points::interpolate::PointPositions;
use crate::points::numbering::{ON_EDGES, along, for_each};

/// Crossed bricks of a surface in a chunk: the input of its triangles, without vertex numbers.
#[derive(Default)]
pub(super) struct CrossedBricks {
    /// Inside samples of each own brick, and the index of the brick's first ambiguous cell.
    pub bricks: Vec<(Inside, usize)>,
    /// Shapes of ambiguous cells, by brick and row.
    pub ambiguous: Vec<ShapeNumber>,
}

/// Vertices of a surface, in the order of their numbers.
#[derive(Default)]
pub(super) struct Vertices {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub point_positions: PointPositions,
}

/// Capacity for all vertices is reserved after `1 / RESERVE_FRACTION` of the bricks.
const RESERVE_FRACTION: usize = 16;

impl Vertices {
    /// Reserves capacity early: lists that grow alternately would be copied often.
    fn make_room(&mut self, count: usize, lister: &VertexLister<'_>) {
        self.positions.reserve(count);
        self.normals.reserve(if lister.normals { count } else { 0 });
        self.point_positions.along.reserve(if lister.keeps_point_positions { count } else { 0 });
    }
}

/// Settings and sources of vertex data.
#[derive(Clone, Copy)]
pub(super) struct VertexLister<'a> {
    pub grid: &'a SampleFrame,
    pub normals: bool,
    /// True if vertex positions within cells are kept, for further fields.
    pub keeps_point_positions: bool,
}

impl VertexLister<'_> {
    /// Adds the own vertices and ghosts of several surfaces in a chunk; loads each brick once.
    pub(super) fn list(
        &self,
        ChunkPoints { visits, layers, .. }: &mut ChunkPoints<3>,
        (part, samples): (&BrickedChunk, &dyn Samples),
        isovalues: &[f32],
        crossed: &mut [CrossedBricks],
        vertices: &mut [[Vertices; 2]],
    ) {
        let mut block = Block::new();
        for (layer, crossed) in layers.iter().zip(&mut *crossed) {
            crossed.bricks.reserve_exact(layer.numbering.bricks.capacity());
        }
        let lists =
            |vertices: &[[Vertices; 2]]| vertices.as_flattened().iter().map(|list| list.positions.len()).collect();
        let before: Vec<usize> = lists(vertices);
        for (number, visit) in visits.iter().enumerate() {
            if number == visits.len() / RESERVE_FRACTION {
                for (list, before) in vertices.as_flattened_mut().iter_mut().zip(&before) {
                    list.make_room((list.positions.len() - before) * (RESERVE_FRACTION + RESERVE_FRACTION / 4), self);
                }
            }
            let own = part.samples(visit.at);
            let all = part.with_next(&own);
            let loaded = if self.normals { part.with_around(&own) } else { all };
            samples.load(part.in_memory(&own).start, part.in_memory(&loaded), &mut block);
            let is_own = part.is_own(visit.at);
            for mesh in visit.layers.clone() {
                let brick = Brick {
                    lister: *self,
                    part,
                    start: own.start,
                    inside: Inside::new(&block, &own, &all, isovalues[mesh]),
                    isovalue: isovalues[mesh],
                    block: &block,
                };
                let vertices = &mut vertices[mesh][usize::from(!is_own)];
                let words = brick.inside.crossed(ON_EDGES);
                for_each(&words, |at, axis| brick.edge_vertex(at, axis, vertices));
                let interior = if is_own { brick.ambiguous(&mut crossed[mesh].ambiguous, vertices) } else { None };
                let further = interior.as_ref().map_or(0, |interior| interior.vertices);
                layers[mesh].numbering.add(part, visit.at, words, further);
                if let Some(interior) = interior {
                    crossed[mesh].bricks.push((brick.inside, interior.first));
                }
            }
        }
    }
}

/// Ambiguous cells of a brick.
struct Ambiguous {
    /// Index of the brick's first ambiguous cell in the chunk's list.
    first: usize,
    /// Number of interior vertices of these cells.
    vertices: u32,
}

struct Brick<'a> {
    lister: VertexLister<'a>,
    part: &'a BrickedChunk,
    start: [i64; 3],
    inside: Inside,
    isovalue: f32,
    block: &'a Block,
}

impl Brick<'_> {
    // Inlined: as a call, extraction takes 1.2 times as long.
    #[inline(always)]
    fn edge_vertex(&self, at: [i64; 3], axis: usize, vertices: &mut Vertices) {
        let end = along(at, ON_EDGES[axis]);
        let part = between(self.block.at(at), self.block.at(end), self.isovalue);
        let mut index: [f64; 3] =
            std::array::from_fn(|axis| (self.part.start[axis] + self.start[axis] + at[axis]) as f64);
        index[axis] += part;
        vertices.positions.push(self.lister.grid.position(index));
        if self.lister.normals {
            let (a, b) = (self.gradient(at), self.gradient(end));
            let gradient = std::array::from_fn(|axis| a[axis] + part * (b[axis] - a[axis]));
            vertices.normals.push(self.lister.grid.normal(gradient));
        }
        if self.lister.keeps_point_positions {
            vertices.point_positions.along.push(part);
        }
    }

    /// Central differences, one-sided at the ends of the field.
    fn gradient(&self, at: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let sample = std::array::from_fn(|axis| self.start[axis] + at[axis]);
            let [low, high] = self.part.neighbours(sample, axis).map(|neighbour| neighbour - self.start[axis]);
            let value = |place: i64| {
                let mut at = at;
                at[axis] = place;
                f64::from(self.block.at(at))
            };
            (value(high) - value(low)) / (high - low).max(1) as f64
        })
    }

    /// Lists the ambiguous cells and adds the vertices inside them.
    fn ambiguous(&self, shapes: &mut Vec<ShapeNumber>, vertices: &mut Vertices) -> Option<Ambiguous> {
        let mut found = Ambiguous { first: shapes.len(), vertices: 0 };
        for (row, word) in self.inside.cells().into_iter().enumerate() {
            for x in set_bits(word) {
                let at = [x, row % BRICK[1], row / BRICK[1]];
                let case = self.inside.case(at);
                if cell::table().is_plain(case) {
                    continue;
                }
                let values = self.values(at);
                let shape = cell::table().shape(case, &values);
                shapes.push(shape);
                for &edges in &cell::table().numbered(shape).interior {
                    found.vertices += 1;
                    self.interior_vertex(at, interior::vertex(&values, edges), vertices);
                }
            }
        }
        Some(found)
    }

    fn interior_vertex(&self, cell: [usize; 3], place: [f64; 3], vertices: &mut Vertices) {
        let index = std::array::from_fn(|axis| {
            (self.part.start[axis] + self.start[axis] + cell[axis] as i64) as f64 + place[axis]
        });
        vertices.positions.push(self.lister.grid.position(index));
        if self.lister.normals {
            let corner = |corner: usize| [0, 1, 2].map(|axis| (cell[axis] + (corner >> axis & 1)) as i64);
            let gradients = std::array::from_fn(|number| self.gradient(corner(number)));
            vertices.normals.push(self.lister.grid.normal(trilinear::between(&gradients, place)));
        }
        if self.lister.keeps_point_positions {
            vertices.point_positions.inside.push((cell, place));
        }
    }

    /// Values at the corners of a cell, minus the isovalue.
    fn values(&self, [x, y, z]: [usize; 3]) -> [f64; 8] {
        std::array::from_fn(|corner| {
            let at = [x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2)];
            difference(self.block.at(at.map(|at| at as i64)), self.isovalue)
        })
    }
}
