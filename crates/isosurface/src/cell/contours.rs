//! Contours: closed intersections of the surface with the faces of a cell, over crossed edges.

use super::{Edge, FACES, edge_between, is_inside};

/// Contours of a case with decided ambiguous faces. Seen from the side of lower values, the disc of
/// each contour is on its left.
pub(super) fn contours(case: u8, joined: u8) -> Vec<Vec<Edge>> {
    let next = segments(case, joined);
    let mut visited = [false; 12];
    let mut contours = Vec::new();
    for start in 0..12 {
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
fn segments(case: u8, joined: u8) -> [Option<Edge>; 12] {
    let mut next = [None; 12];
    for (face, corners) in FACES.iter().enumerate() {
        let mut circle = *corners;
        // Counterclockwise as seen from outside the cell.
        if face % 2 == 0 {
            circle.reverse();
        }
        let (mut entered, mut left) = (Vec::new(), Vec::new());
        for (i, &corner) in circle.iter().enumerate() {
            let to = circle[(i + 1) % 4];
            let edge = edge_between(corner, to);
            match (is_inside(case, corner), is_inside(case, to)) {
                (false, true) => entered.push(edge),
                (true, false) => left.push(edge),
                _ => {}
            }
        }
        // Each of two inside corners on a circle that begins outside is entered and then left.
        if is_inside(case, circle[0]) && left.len() == 2 {
            entered.rotate_right(1);
        }
        if joined >> face & 1 == 1 {
            left.reverse();
        }
        for (from, to) in entered.into_iter().zip(left) {
            next[usize::from(from)] = Some(to);
        }
    }
    next
}
