//! One cell of the grid, a cube with a value at each of its eight corners: which triangles stand for the surface where
//! the trilinear interpolant of these values is zero.
//!
//! The triangles have the topology of that surface. It follows from definitions, not from a table that someone has drawn:
//!
//! 1. The faces give closed contours. A face with four crossings is decided by the sign of its bilinear saddle
//!    (`faces`, the asymptotic decider of G. Nielson and B. Hamann, 1991).
//! 2. Each contour bounds a disc, unless two groups of corners that the faces keep apart are connected inside
//!    (`inside`): then the two contours between them bound a band, which is a tunnel.
//! 3. Discs and bands are cut into triangles so that no edge lies in a face where the neighbour could have it, too
//!    (`disc`, `band`): shared edges have two triangles, never four.
//!
//! All that can happen is worked out once (`table`). What is topologically right here is after R. Grosso, *Construction
//! of topologically correct and manifold isosurfaces* (2016), and L. Custodio et al. (2013, 2019).
//!
//! Corner `i` stands at `(i & 1, i >> 1 & 1, i >> 2)`. Edge `4 * axis + k` runs along its axis; `k` holds the other two
//! coordinates of it, the lower axis in bit 0. Face `2 * axis + side`.
//!
//! A cell has at most one connection as in rule 2 (true for 30 million random cells). Where no cut
//! of a disc or a band obeys rule 3, and in contours of more than six edges, vertices inside the
//! cell help.
//!
//! Values are differences from the isovalue in `f64`: products of differences rounded to `f32`
//! decide some faces of whole numbers wrongly. Decisions use signs only. A search for roots in
//! floating point finds tunnels that do not exist where two edges are crossed in one plane, as with
//! whole numbers.

mod band;
mod contours;
mod disc;
mod faces;
mod groups;
mod inside;
mod table;

pub use self::faces::{ambiguous, joined};
pub use self::inside::connected;
pub use self::table::{MOST_INTERIOR, Shape, ShapeNumber, table};

/// A corner of a cell, `0..8`.
pub type Corner = u8;

/// An edge of a cell, `0..12`.
pub type Edge = u8;

/// The corners of each face, in a circle; of both cells that share a face the same ones first.
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

/// The ends of an edge; the first one is lower along its axis.
pub const fn ends(edge: Edge) -> (Corner, Corner) {
    let (axis, k) = (edge / 4, edge % 4);
    let first = match axis {
        0 => k << 1,
        1 => (k & 1) | (k >> 1) << 2,
        _ => k,
    };
    (first, first | 1 << axis)
}

/// The edge between two corners that differ along one axis.
fn edge_between(a: Corner, b: Corner) -> Edge {
    let (axis, low) = ((a ^ b).trailing_zeros() as u8, a & b);
    let k = match axis {
        0 => low >> 1,
        1 => (low & 1) | (low >> 2) << 1,
        _ => low,
    };
    4 * axis + k
}

/// Whether two edges belong to one face.
fn share_a_face(a: Edge, b: Edge) -> bool {
    let holds = |face: &[Corner; 4], edge: Edge| face.contains(&ends(edge).0) && face.contains(&ends(edge).1);
    FACES.iter().any(|face| holds(face, a) && holds(face, b))
}

/// The middle of an edge, in halves of the cell.
fn middle(edge: Edge) -> [i32; 3] {
    let (a, b) = ends(edge);
    std::array::from_fn(|axis| i32::from(a >> axis & 1) + i32::from(b >> axis & 1))
}

/// How far the middles of two edges are apart, squared; what cuts into triangles keeps small.
fn apart(a: Edge, b: Edge) -> i32 {
    let (a, b) = (middle(a), middle(b));
    (0..3).map(|axis| (a[axis] - b[axis]).pow(2)).sum()
}

/// Whether corner `corner` of a case is inside.
const fn is_inside(case: u8, corner: Corner) -> bool {
    case >> corner & 1 == 1
}

#[cfg(test)]
mod tests;
