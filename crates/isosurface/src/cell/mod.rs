//! Triangulation of one grid cell: a cube with a value at each of its eight corners. The triangles
//! approximate the zero set of the trilinear interpolant.
//!
//! The triangles have the topology of that surface. It follows from definitions instead of a
//! hand-made table:
//!
//! 1. The faces give closed contours. A face with four crossings is decided by the sign of its
//!    bilinear saddle (`faces`, the asymptotic decider of G. Nielson and B. Hamann, 1991).
//! 2. Each contour bounds a disc, unless two groups of corners that are separate on the faces are
//!    connected inside (`inside`): then their two contours bound a band, which is a tunnel.
//! 3. Discs and bands are triangulated such that no edge lies in a face where the neighbour cell
//!    could have the same edge (`disc`, `band`): shared edges have two triangles, never four.
//!
//! All cases are computed once (`table`). Topology after R. Grosso, *Construction of topologically
//! correct and manifold isosurfaces* (2016), and L. Custodio et al. (2013, 2019).
//!
//! Corner `i` has the coordinates `(i & 1, i >> 1 & 1, i >> 2)`. Edge `4 * axis + k` is parallel to
//! its axis; `k` holds its other two coordinates, the lower axis in bit 0. Face: `2 * axis + side`.
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

pub(crate) use self::faces::{ambiguous, joined};
pub(crate) use self::inside::connected;
pub(crate) use self::table::{MOST_INTERIOR, Shape, ShapeNumber, table};

/// A corner of a cell, `0..8`.
pub(crate) type Corner = u8;

/// An edge of a cell, `0..12`.
pub(crate) type Edge = u8;

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

/// Ends of an edge; the first one is lower along its axis.
pub(crate) const fn ends(edge: Edge) -> (Corner, Corner) {
    let (axis, k) = (edge / 4, edge % 4);
    let first = match axis {
        0 => k << 1,
        1 => (k & 1) | (k >> 1) << 2,
        _ => k,
    };
    (first, first | 1 << axis)
}

/// Edge between two corners that differ along one axis.
fn edge_between(a: Corner, b: Corner) -> Edge {
    let (axis, low) = ((a ^ b).trailing_zeros() as u8, a & b);
    let k = match axis {
        0 => low >> 1,
        1 => (low & 1) | (low >> 2) << 1,
        _ => low,
    };
    4 * axis + k
}

/// True if two edges belong to one face.
fn share_a_face(a: Edge, b: Edge) -> bool {
    let holds = |face: &[Corner; 4], edge: Edge| face.contains(&ends(edge).0) && face.contains(&ends(edge).1);
    FACES.iter().any(|face| holds(face, a) && holds(face, b))
}

/// Middle of an edge, in halves of the cell.
fn middle(edge: Edge) -> [i32; 3] {
    let (a, b) = ends(edge);
    std::array::from_fn(|axis| i32::from(a >> axis & 1) + i32::from(b >> axis & 1))
}

/// Squared distance between the middles of two edges, which triangulation minimises.
fn apart(a: Edge, b: Edge) -> i32 {
    let (a, b) = (middle(a), middle(b));
    (0..3).map(|axis| (a[axis] - b[axis]).pow(2)).sum()
}

/// True if corner `corner` of a case is inside.
const fn is_inside(case: u8, corner: Corner) -> bool {
    case >> corner & 1 == 1
}

#[cfg(test)]
mod tests;
