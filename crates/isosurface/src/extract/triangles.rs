//! Triangles of a surface, brick by brick. In kernels: `shaders/extract/triangles.wgsl`.

use super::vertices::CrossedBricks;
use crate::cell::{self, EDGE_COUNT, MOST_INTERIOR, Shape, ends};
use crate::field::block::{BRICK, set_bits};
use crate::field::bricked_chunk::BrickedChunk;
use crate::points::brick_points::{BrickPoints, PointStart};
use crate::points::chunk_points::Layer;
use crate::points::inside::Inside;

/// Start of the vertex of each edge of a cell.
const EDGES: [PointStart; EDGE_COUNT] = {
    let mut edges = [PointStart::NONE; EDGE_COUNT];
    let mut edge = 0;
    while edge < EDGE_COUNT {
        edges[edge] = PointStart::new(edge / 4, ends(edge as u8).0);
        edge += 1;
    }
    edges
};

/// Adds the triangles of a chunk's cells. `bases`: index of the first own vertex and ghost.
pub(super) fn list(
    part: &BrickedChunk,
    layer: &Layer<3>,
    crossed: &CrossedBricks,
    bases: [u32; 2],
    mirrored: bool,
    triangles: &mut Vec<[u32; 3]>,
) {
    for (brick, (inside, first)) in layer.numbering.bricks.iter().zip(&crossed.bricks) {
        let near = BrickPoints::new(&layer.numbering, part, brick, bases);
        let mut interior = bases[0] + brick.first + brick.count;
        cells(inside, &crossed.ambiguous[*first..], |at, shape| {
            // Looks up each number once, although a vertex has several triangles.
            let mut numbers = [0; EDGE_COUNT + MOST_INTERIOR];
            set_bits(shape.edges.into()).for_each(|edge| numbers[edge] = near.number(EDGES[edge], at));
            for number in numbers[EDGE_COUNT..].iter_mut().take(shape.interior.len()) {
                *number = interior;
                interior += 1;
            }
            for triangle in &shape.triangles {
                let [a, b, c] = triangle.map(|vertex| numbers[usize::from(vertex)]);
                triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
            }
        });
    }
}

/// Calls `found` with the position and the shape of each crossed cell of a brick.
fn cells(inside: &Inside, ambiguous: &[cell::ShapeNumber], mut found: impl FnMut([usize; 3], &'static Shape)) {
    let table = cell::table();
    let mut ambiguous = ambiguous.iter();
    for (row, word) in inside.cells().into_iter().enumerate() {
        for x in set_bits(word) {
            let at = [x, row % BRICK[1], row / BRICK[1]];
            let case = inside.case(at);
            found(
                at,
                if table.is_plain(case) {
                    table.numbered(table.plain(case))
                } else {
                    table.numbered(*ambiguous.next().expect("found when the brick was classified at"))
                },
            );
        }
    }
}
