//! Triangulation of the disc inside one contour.

use super::table::{Shape, Vertex};
use super::{Edge, share_a_face, squared_distance};

/// Longest contour without a middle vertex; longer contours are not nearly flat.
const LONGEST_WITHOUT_MIDDLE: usize = 6;

/// Adds the triangles of the disc inside a contour.
pub(super) fn add(shape: &mut Shape, contour: &[Edge]) {
    let whole = (contour.len() <= LONGEST_WITHOUT_MIDDLE).then(|| triangulate(contour)).flatten();
    if let Some(triangles) = whole {
        return shape.triangles.extend(triangles);
    }
    let middle = shape.add_interior(contour);
    for (i, &edge) in contour.iter().enumerate() {
        shape.triangles.push([edge, contour[(i + 1) % contour.len()], middle]);
    }
}

/// Triangulates a polygon with minimal total edge length and no inner edge in a face of the cell.
fn triangulate(contour: &[Edge]) -> Option<Vec<[Vertex; 3]>> {
    triangulate_between(contour, 0, contour.len() - 1).map(|(_, triangles)| triangles)
}

/// Triangulates a contour between two of its vertices; also returns the total edge length.
fn triangulate_between(contour: &[Edge], from: usize, to: usize) -> Option<(i32, Vec<[Vertex; 3]>)> {
    if to - from < 2 {
        return Some((0, Vec::new()));
    }
    let diagonal = |a: usize, b: usize| match b - a {
        1 => Some(0),
        along if along == contour.len() - 1 => Some(0),
        _ if share_a_face(contour[a], contour[b]) => None,
        _ => Some(squared_distance(contour[a], contour[b])),
    };
    let cuts = (from + 1..to).filter_map(|tip| {
        let edges = diagonal(from, tip)? + diagonal(tip, to)?;
        let ((first, mut triangles), (second, more)) =
            (triangulate_between(contour, from, tip)?, triangulate_between(contour, tip, to)?);
        triangles.push([contour[from], contour[tip], contour[to]]);
        triangles.extend(more);
        Some((edges + first + second, triangles))
    });
    cuts.min_by_key(|(edges, _)| *edges)
}
