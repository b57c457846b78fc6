//! Vertices and triangles of a part, brick by brick.

use super::block::{BRICK, Block, Samples};
use super::crossed::{Brick, Crossed, values};
use super::crossings::places as places_of;
use super::interior;
use super::part::Part;
use super::values::between;
use crate::cell::{self, MOST_INTERIOR, Shape, ends};
use crate::grid::Grid;
use crate::mesh::Mesh;

/// What is made, and of what.
pub struct Maker<'a> {
    pub part: &'a Part,
    pub crossed: &'a Crossed,
    pub samples: &'a dyn Samples,
    pub isovalue: f32,
    pub grid: &'a Grid,
    pub normals: bool,
    /// What is added to the numbers of own vertices and of ghosts in the list of all vertices of the rank.
    pub bases: [u32; 2],
}

/// Numbers of vertices on the edges that begin at the samples of a brick and at those that follow it.
struct Near {
    /// For each axis and row: crossed edges, and the number of the first one's vertex.
    rows: [[(u32, u32); ROWS_AND_NEXT]; 3],
    /// The same for the sample behind each row: the number of its vertex.
    behind: [[u32; ROWS_AND_NEXT]; 3],
    width: usize,
    /// The number of the first interior vertex.
    interior: u32,
}

const ROWS_AND_NEXT: usize = (BRICK[1] + 1) * (BRICK[2] + 1);

/// Where an edge of a cell begins: axis, place along axis 0, and how many rows further on.
const EDGES: [(usize, usize, usize); 12] = {
    let mut edges = [(0, 0, 0); 12];
    let mut edge = 0;
    while edge < 12 {
        let corner = ends(edge as u8).0 as usize;
        edges[edge] = (edge / 4, corner & 1, (corner >> 2) * (BRICK[1] + 1) + (corner >> 1 & 1));
        edge += 1;
    }
    edges
};

impl Near {
    /// The number of the vertex on an edge of the cell at a place, which is crossed.
    fn vertex(&self, edge: usize, [x, y, z]: [usize; 3]) -> u32 {
        let (axis, further, rows) = EDGES[edge];
        let (x, row) = (x + further, z * (BRICK[1] + 1) + y + rows);
        if x >= self.width {
            return self.behind[axis][row];
        }
        let (word, first) = self.rows[axis][row];
        first + (word & ((1 << x) - 1)).count_ones()
    }
}

impl Maker<'_> {
    /// Adds the vertices on own edges and in own cells, in the order of their numbers.
    pub fn own_vertices(&self, mesh: &mut Mesh, block: &mut Block) {
        for (number, brick) in self.crossed.bricks[..self.crossed.own_bricks].iter().enumerate() {
            self.vertices(brick, mesh, block);
            if self.crossed.is_ambiguous(number) {
                self.cells(brick, |at, shape| self.interior(brick, at, shape, mesh, block));
            }
        }
    }

    /// The crossed cells of a brick: where they begin, and what they look like.
    fn cells(&self, brick: &Brick, mut found: impl FnMut([usize; 3], &'static Shape)) {
        let table = cell::table();
        let mut ambiguous = self.crossed.ambiguous[brick.ambiguous..].iter();
        for (row, word) in brick.inside.cells().into_iter().enumerate() {
            for x in places_of(word) {
                let at = [x, row % BRICK[1], row / BRICK[1]];
                let case = brick.inside.case(at);
                found(
                    at,
                    match table.is_plain(case) {
                        true => table.plain(case),
                        false => table.numbered(*ambiguous.next().expect("found when the brick was looked at")),
                    },
                );
            }
        }
    }

    /// Adds the vertices on edges that begin at the samples that follow.
    pub fn ghost_vertices(&self, mesh: &mut Mesh, block: &mut Block) {
        self.crossed.bricks[self.crossed.own_bricks..].iter().for_each(|brick| self.vertices(brick, mesh, block));
    }

    fn vertices(&self, brick: &Brick, mesh: &mut Mesh, block: &mut Block) {
        let own = self.part.samples(brick.at);
        let span = if self.normals { self.part.with_around(&own) } else { self.part.with_next(&own) };
        self.samples.load(self.part.in_memory(&own).start, self.part.in_memory(&span), block);
        brick.for_each_edge(|at, end, axis| self.edge_vertex(own.start, (at, end, axis), mesh, block));
    }

    // As a call, surfaces of scans took 1.2 times as long.
    #[inline(always)]
    fn edge_vertex(
        &self,
        start: [i64; 3],
        (at, end, axis): ([i64; 3], [i64; 3], usize),
        mesh: &mut Mesh,
        block: &Block,
    ) {
        let along = between(block.at(at), block.at(end), self.isovalue);
        let sample: [i64; 3] = std::array::from_fn(|axis| start[axis] + at[axis]);
        let mut index: [f64; 3] = std::array::from_fn(|axis| (self.part.start[axis] + sample[axis]) as f64);
        index[axis] += along;
        mesh.positions.push(self.grid.position(index));
        if self.normals {
            let (a, b) = (self.gradient(start, at, block), self.gradient(start, end, block));
            mesh.normals.push(self.grid.normal(std::array::from_fn(|axis| a[axis] + along * (b[axis] - a[axis]))));
        }
    }

    /// Differences to both sides, or to one at the ends of the field.
    fn gradient(&self, start: [i64; 3], at: [i64; 3], block: &Block) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let sample = std::array::from_fn(|axis| start[axis] + at[axis]);
            let [low, high] = self.part.neighbours(sample, axis).map(|neighbour| neighbour - start[axis]);
            let value = |place: i64| {
                let mut at = at;
                at[axis] = place;
                f64::from(block.at(at))
            };
            (value(high) - value(low)) / (high - low).max(1) as f64
        })
    }

    fn interior(&self, brick: &Brick, at: [usize; 3], shape: &Shape, mesh: &mut Mesh, block: &Block) {
        let values = values(at, block, self.isovalue);
        let start = self.part.samples(brick.at).start;
        for &edges in &shape.interior {
            let place = interior::vertex(&values, edges);
            let index = std::array::from_fn(|axis| {
                (self.part.start[axis] + start[axis] + at[axis] as i64) as f64 + place[axis]
            });
            mesh.positions.push(self.grid.position(index));
            if self.normals {
                let corner = |corner: usize| [0, 1, 2].map(|axis| (at[axis] + (corner >> axis & 1)) as i64);
                let gradients = std::array::from_fn(|number| self.gradient(start, corner(number), block));
                mesh.normals.push(self.grid.normal(interior::between(&gradients, place)));
            }
        }
    }

    /// Adds the triangles of own cells.
    pub fn triangles(&self, mesh: &mut Mesh) {
        let mirrored = self.grid.is_mirrored();
        for brick in &self.crossed.bricks[..self.crossed.own_bricks] {
            let own = self.part.samples(brick.at);
            let near = self.near(brick, (own.end[0] - own.start[0]) as usize);
            let mut interior = 0;
            self.cells(brick, |at, shape| {
                // Each once, though a vertex has several triangles.
                let mut numbers = [0; 12 + MOST_INTERIOR];
                places_of(shape.edges.into()).for_each(|edge| numbers[edge] = near.vertex(edge, at));
                for (number, place) in numbers[12..].iter_mut().zip(0..).take(shape.interior.len()) {
                    *number = near.interior + interior + place;
                }
                for triangle in &shape.triangles {
                    let [a, b, c] = triangle.map(|vertex| numbers[usize::from(vertex)]);
                    mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
                }
                interior += shape.interior.len() as u32;
            });
        }
    }

    /// Where the own vertices lie, or the ghosts, brick by brick, in the order of their numbers.
    pub fn places(&self, own_ones: bool) -> Vec<Places> {
        let (own, ghosts) = self.crossed.bricks.split_at(self.crossed.own_bricks);
        let (mut block, mut all) = (Block::new(), Vec::new());
        for (number, brick) in if own_ones { own } else { ghosts }.iter().enumerate() {
            let samples = self.part.samples(brick.at);
            let span = self.part.with_next(&samples);
            self.samples.load(self.part.in_memory(&samples).start, self.part.in_memory(&span), &mut block);
            let mut places = Places { at: brick.at, edges: Vec::new(), inside: Vec::new() };
            brick.for_each_edge(|at, end, _| {
                places.edges.push((at, end, between(block.at(at), block.at(end), self.isovalue)));
            });
            if own_ones && self.crossed.is_ambiguous(number) {
                self.cells(brick, |at, shape| {
                    let values = values(at, &block, self.isovalue);
                    places.inside.extend(shape.interior.iter().map(|&edges| (at, interior::vertex(&values, edges))));
                });
            }
            all.push(places);
        }
        all
    }

    fn near(&self, brick: &Brick, width: usize) -> Near {
        let [own, ghosts] = self.bases;
        let base = |at: [i64; 3]| if self.part.is_own(at) { own } else { ghosts };
        let interior = own + brick.first + brick.crossed;
        let none = [[0; ROWS_AND_NEXT]; 3];
        let mut near = Near { rows: none.map(|rows| rows.map(|_| (0, 0))), behind: none, width, interior };
        let samples = self.part.samples(brick.at);
        let heights: [usize; 2] = [1, 2].map(|axis| (samples.end[axis] - samples.start[axis]) as usize);
        for [i, j, k] in (0..8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2]) {
            let at = [brick.at[0] + i, brick.at[1] + j, brick.at[2] + k];
            if (0..3).any(|axis| at[axis] >= self.part.bricks()[axis]) {
                continue;
            }
            let Some(found) = self.crossed.brick(self.part, at) else { continue };
            let rows = |next: i64, height: usize| if next == 0 { 0..height } else { height..height + 1 };
            for z in rows(k, heights[1]) {
                for y in rows(j, heights[0]) {
                    let from = super::crossings::row(y - heights[0] * j as usize, z - heights[1] * k as usize);
                    let to = z * (BRICK[1] + 1) + y;
                    for axis in 0..3 {
                        let first = base(at) + found.first_of_row(axis, from);
                        match i {
                            0 => near.rows[axis][to] = (found.edges[axis][from], first),
                            _ => near.behind[axis][to] = first,
                        }
                    }
                }
            }
        }
        near
    }
}

/// Where the vertices of a brick lie.
pub struct Places {
    at: [i64; 3],
    /// Both ends of an edge, and how far from the first to the second.
    edges: Vec<([i64; 3], [i64; 3], f64)>,
    /// A cell, and where in it.
    inside: Vec<([usize; 3], [f64; 3])>,
}

/// Adds the values of a field at places to a list.
pub fn interpolate(part: &Part, samples: &dyn Samples, places: &[Places], values: &mut Vec<f32>) {
    let mut block = Block::new();
    for brick in places {
        let own = part.samples(brick.at);
        samples.load(part.in_memory(&own).start, part.in_memory(&part.with_next(&own)), &mut block);
        let at = |place: [i64; 3]| f64::from(block.at(place));
        values.extend(brick.edges.iter().map(|&(a, b, along)| (at(a) + along * (at(b) - at(a))) as f32));
        values.extend(brick.inside.iter().map(|&(cell, place)| {
            let corner = |corner: usize| at([0, 1, 2].map(|axis| (cell[axis] + (corner >> axis & 1)) as i64));
            interior::between(&std::array::from_fn(|number| [corner(number), 0.0, 0.0]), place)[0] as f32
        }));
    }
}
