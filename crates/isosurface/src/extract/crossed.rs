//! [`Crossed`]: the bricks of a part that a surface crosses, with its vertices numbered.

use super::block::{BRICK, Block, Samples};
use super::crossings::{Inside, ROWS, places, row};
use super::part::Part;
use super::tree::Tree;
use super::values::difference;
use crate::cell::{self, ShapeNumber};

/// A brick without crossed edges.
const NONE: u32 = u32::MAX;

/// A brick that the surface crosses.
pub struct Brick {
    pub at: [i64; 3],
    /// The number of its first vertex: among this rank's own ones, or among its ghosts.
    pub first: u32,
    /// Crossed edges by axis and row.
    pub edges: [[u32; ROWS]; 3],
    /// How many vertices of the brick come before each row.
    before: [[u16; ROWS]; 3],
    /// Its samples.
    pub inside: Inside,
    /// How many edges are crossed. Interior vertices follow.
    pub crossed: u32,
    /// Where its ambiguous cells begin.
    pub ambiguous: usize,
}

impl Brick {
    /// The number of the vertex on an edge, if that is crossed.
    fn vertex(&self, axis: usize, [x, y, z]: [usize; 3]) -> Option<u32> {
        let row = row(y, z);
        let word = self.edges[axis][row];
        (word >> x & 1 == 1).then(|| self.first_of_row(axis, row) + (word & ((1 << x) - 1)).count_ones())
    }

    /// Calls `found` with both ends of each crossed edge, counted from the brick's first sample, and with its axis, in the
    /// order of vertices.
    #[inline]
    pub fn for_each_edge(&self, mut found: impl FnMut([i64; 3], [i64; 3], usize)) {
        for (axis, rows) in self.edges.iter().enumerate() {
            for (row, &word) in rows.iter().enumerate() {
                for x in places(word) {
                    let start = [x, row % BRICK[1], row / BRICK[1]].map(|at| at as i64);
                    let mut end = start;
                    end[axis] += 1;
                    found(start, end, axis);
                }
            }
        }
    }

    /// The number that the first vertex of a row has.
    pub fn first_of_row(&self, axis: usize, row: usize) -> u32 {
        self.first + u32::from(self.before[axis][row])
    }
}

/// The bricks of a part that a surface crosses: first those of own samples, then those that follow.
#[derive(Default)]
pub struct Crossed {
    pub bricks: Vec<Brick>,
    /// How many of them are own ones.
    pub own_bricks: usize,
    /// For each brick of the part its place in the list.
    slots: Vec<u32>,
    /// The shapes of ambiguous cells, brick by brick and row by row.
    pub ambiguous: Vec<ShapeNumber>,
    /// Own vertices, interior ones included.
    pub own: u64,
    pub interior: u64,
    /// Vertices on edges of samples that follow.
    pub ghosts: u64,
}

impl Crossed {
    /// Finds them; a field that is one sample thin has no cells, so that there is nothing.
    pub fn new(part: &Part, tree: &Tree, samples: &dyn Samples, isovalue: f32, block: &mut Block) -> Self {
        let mut found = Self { slots: vec![NONE; part.brick_count()], ..Self::default() };
        if !part.has_cells() {
            return found;
        }
        let mut bricks = Vec::new();
        tree.visit(isovalue, &mut |at| bricks.push(at));
        // Stable: both halves keep the order of the tree.
        bricks.sort_by_key(|&at| !part.is_own(at));
        for at in bricks {
            found.add(part, at, samples, isovalue, block);
        }
        found
    }

    fn add(&mut self, part: &Part, at: [i64; 3], samples: &dyn Samples, isovalue: f32, block: &mut Block) {
        let own = part.samples(at);
        let all = part.with_next(&own);
        samples.load(part.in_memory(&own).start, part.in_memory(&all), block);
        let inside = Inside::new(block, &own, &all, isovalue);
        let edges = inside.edges();
        let (mut before, mut crossed) = ([[0; ROWS]; 3], 0);
        for (axis, rows) in edges.iter().enumerate() {
            for (row, word) in rows.iter().enumerate() {
                before[axis][row] = crossed as u16;
                crossed += word.count_ones();
            }
        }
        let is_own = part.is_own(at);
        let ambiguous = self.ambiguous.len();
        let interior = if is_own { self.add_ambiguous(&inside, block, isovalue) } else { 0 };
        // Its values lie on both sides, and yet no edge that begins in it need be crossed.
        let first = if is_own { self.own } else { self.ghosts } as u32;
        *(if is_own { &mut self.own } else { &mut self.ghosts }) += u64::from(crossed) + interior;
        self.interior += interior;
        self.slots[part.brick_number(at)] = self.bricks.len() as u32;
        self.bricks.push(Brick { at, first, edges, before, inside, crossed, ambiguous });
        self.own_bricks += usize::from(is_own);
    }

    /// Adds the ambiguous cells of a brick; returns how many interior vertices they have.
    fn add_ambiguous(&mut self, inside: &Inside, block: &Block, isovalue: f32) -> u64 {
        let mut interior = 0;
        for (row, word) in inside.cells().into_iter().enumerate() {
            let (y, z) = (row % BRICK[1], row / BRICK[1]);
            for x in places(word) {
                let case = inside.case([x, y, z]);
                if cell::table().is_plain(case) {
                    continue;
                }
                let shape = cell::table().shape(case, &values([x, y, z], block, isovalue));
                interior += cell::table().numbered(shape).interior.len() as u64;
                self.ambiguous.push(shape);
            }
        }
        interior
    }

    /// The number of the vertex on the edge that begins at a sample of the reach: among own ones, or among ghosts.
    pub fn vertex(&self, part: &Part, axis: usize, sample: [i64; 3]) -> Option<u32> {
        let (brick, at) = part.brick_of(sample);
        self.brick(part, brick)?.vertex(axis, at)
    }

    /// Whether the brick at this place in the list has ambiguous cells.
    pub fn is_ambiguous(&self, number: usize) -> bool {
        let end = self.bricks.get(number + 1).map_or(self.ambiguous.len(), |next| next.ambiguous);
        end > self.bricks[number].ambiguous
    }

    /// A brick that is crossed.
    pub fn brick(&self, part: &Part, at: [i64; 3]) -> Option<&Brick> {
        self.bricks.get(*self.slots.get(part.brick_number(at))? as usize)
    }
}

/// The values of a cell less the isovalue.
pub fn values([x, y, z]: [usize; 3], block: &Block, isovalue: f32) -> [f64; 8] {
    std::array::from_fn(|corner| {
        let at = [x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2)];
        difference(block.at(at.map(|at| at as i64)), isovalue)
    })
}
