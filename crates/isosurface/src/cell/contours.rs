//! Contours: closed intersections of the surface with the faces of a cell, over crossed edges.

use super::{EDGE_COUNT, Edge, FACES, edge_between, is_inside};

/// Contours of a case with decided ambiguous faces. Seen from lower values, the disc of a contour
/// is on the contour's left.
pub(super) fn contours(case: u8, joined: u8) -> Vec<Vec<Edge>> {
    let next = segments(case, joined);
    let mut visited = [false; EDGE_COUNT];
    let mut contours = Vec::new();
    for start in 0..EDGE_COUNT {
        let mut contour = Vec::new();
        let mut edge = start;
        while next[edge].is_some() && !visited[edge] {
            visited[edge] = true;
            contour.push(edge as Edge);
            edge = usize::from(next[edge].unwrap_or_default());
        }
        if !contour.is_empty() {
            contours.push(contour);
        }
    }
    contours
}

/// For each crossed edge, the next edge of its contour.
fn segments(case: u8, joined: u8) -> [Option<Edge>; EDGE_COUNT] {
    let mut next = [None; EDGE_COUNT];
    for (face, corners) in FACES.iter().enumerate() {
        let mut circle = *corners;
        // Counterclockwise as seen from outside the cell.
        if face % 2 == 0 {
            circle.reverse();
        }
        let (mut entries, mut exits) = (Vec::new(), Vec::new());
        for (i, &corner) in circle.iter().enumerate() {
            let to = circle[(i + 1) % 4];
            let edge = edge_between(corner, to);
            match (is_inside(case, corner), is_inside(case, to)) {
                (false, true) => entries.push(edge),
                (true, false) => exits.push(edge),
                _ => {}
            }
        }
        if is_inside(case, circle[0]) && exits.len() == 2 {
            entries.rotate_right(1);
        }
        if joined >> face & 1 == 1 {
            exits.reverse();
        }
        for (from, to) in entries.into_iter().zip(exits) {
            next[usize::from(from)] = Some(to);
        }
    }
    next
}
