//! Triangulation of one grid cell: a cube with a value at each of its eight corners. The triangles
//! have the topology of the zero set of the trilinear interpolant:
//!
//! 1. The faces give closed contours. The sign of the bilinear saddle decides a face with four
//!    crossings (`faces`, the asymptotic decider of G. Nielson and B. Hamann, 1991).
//! 2. Each contour bounds a disc. If two groups of corners are separate on the faces and connected
//!    inside the cell (`inside`), their two contours bound a band instead: a tunnel.
//! 3. No edge of a disc (`disc`) or a band (`band`) lies in a face, where the neighbour cell could
//!    have the same edge: shared edges have two triangles, never four.
//!
//! All cases are computed once (`table`). Topology after R. Grosso, *Construction of topologically
//! correct and manifold isosurfaces* (2016), and L. Custodio et al. (2013, 2019).
//!
//! Corner `i` has the coordinates `(i & 1, i >> 1 & 1, i >> 2)`. Edge `4 * axis + k` is parallel to
//! its axis; `k` holds its other two coordinates, the lower axis in bit 0. Face: `2 * axis + side`.
//!
//! At most one connection per cell follows from rule 2 (true for 30 million random cells). Contours
//! of more than six edges, and cells without a solution for rule 3, get interior vertices.
//!
//! Values are differences from the isovalue in `f64`: differences rounded to `f32` decide some
//! faces of whole numbers wrongly.

mod band;
mod contours;
mod disc;
mod faces;
mod groups;
mod inside;
mod table;

pub(crate) use self::faces::{ambiguous, joined};
pub(crate) use self::inside::connected;
pub(crate) use self::table::{MOST_INTERIOR, Shape, ShapeNumber, table};

/// Number of a corner of a cell, `0..8`.
pub(crate) type Corner = u8;

/// Number of an edge of a cell, `0..12`.
pub(crate) type Edge = u8;

/// Number of edges of a cell. The interior vertices of a shape follow in the numbers of vertices.
pub(crate) const EDGE_COUNT: usize = 12;

/// Corners of each face in circular order. Both cells that share a face start at the same corner.
const FACES: [[Corner; 4]; 6] = faces_of_cube();

const fn faces_of_cube() -> [[Corner; 4]; 6] {
    let mut faces = [[0; 4]; 6];
    let mut face = 0;
    while face < 6 {
        let (axis, side) = (face / 2, face % 2);
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        let start = (side << axis) as u8;
        faces[face] = [start, start | u, start | u | v, start | v];
        face += 1;
    }
    faces
}

/// Ends of an edge; the first is lower along the edge's axis.
pub(crate) const fn ends(edge: Edge) -> (Corner, Corner) {
    let (axis, k) = (edge / 4, edge % 4);
    let first = match axis {
        0 => k << 1,
        1 => (k & 1) | (k >> 1) << 2,
        _ => k,
    };
    (first, first | 1 << axis)
}

fn edge_between(a: Corner, b: Corner) -> Edge {
    let (axis, low) = ((a ^ b).trailing_zeros() as u8, a & b);
    let k = match axis {
        0 => low >> 1,
        1 => (low & 1) | (low >> 2) << 1,
        _ => low,
    };
    4 * axis + k
}

fn share_a_face(a: Edge, b: Edge) -> bool {
    let holds = |face: &[Corner; 4], edge: Edge| face.contains(&ends(edge).0) && face.contains(&ends(edge).1);
    FACES.iter().any(|face| holds(face, a) && holds(face, b))
}

/// Middle of an edge, in halves of the cell.
fn middle(edge: Edge) -> [i32; 3] {
    let (a, b) = ends(edge);
    std::array::from_fn(|axis| i32::from(a >> axis & 1) + i32::from(b >> axis & 1))
}

/// Squared distance between the middles of two edges.
fn squared_distance(a: Edge, b: Edge) -> i32 {
    let (a, b) = (middle(a), middle(b));
    (0..3).map(|axis| (a[axis] - b[axis]).pow(2)).sum()
}

const fn is_inside(case: u8, corner: Corner) -> bool {
    case >> corner & 1 == 1
}

#[cfg(test)]
mod tests;
