//! [`Faces`]: triangulation of faces with any number of corners.

use std::path::Path;

use crate::IoError;

/// Maximum corners of a concave face: the triangulation takes quadratic time.
const MOST_CORNERS: usize = 4096;

/// Faces of a file in order. Faces of fewer than three corners have no area and are dropped.
#[derive(Default)]
pub(super) struct Faces {
    triangles: Vec<[u64; 3]>,
    /// Corners of all faces with more than three.
    corners: Vec<u64>,
    polygons: Vec<Polygon>,
}

struct Polygon {
    /// Number of earlier triangles.
    before: usize,
    /// End of its corners in the list of all corners.
    end: usize,
    at: u64,
}

impl Faces {
    pub(super) fn count(&self) -> usize {
        self.triangles.len() + self.polygons.len()
    }

    pub(super) fn push(&mut self, corners: &[u64], at: u64) {
        match *corners {
            [] | [_] | [_, _] => {}
            [a, b, c] => self.triangles.push([a, b, c]),
            _ => {
                self.corners.extend(corners);
                self.polygons.push(Polygon { before: self.triangles.len(), end: self.corners.len(), at });
            }
        }
    }

    /// Adds the triangles of a strip, with alternating order of corners.
    pub(super) fn push_strip(&mut self, strip: &[u64]) {
        for (number, &[a, b, c]) in strip.array_windows::<3>().enumerate() {
            self.triangles.push(if number % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }

    /// Triangulates all faces in order; their corners must be valid indices of `positions`. A
    /// concave face with too many corners is an error.
    pub(super) fn into_triangles(self, positions: &[[f32; 3]], path: &Path) -> Result<Vec<[u64; 3]>, IoError> {
        if self.polygons.is_empty() {
            return Ok(self.triangles);
        }
        let (mut all, mut taken, mut start) = (Vec::new(), 0, 0);
        for Polygon { before, end, at } in self.polygons {
            all.extend(&self.triangles[taken..before]);
            taken = before;
            let corners = &self.corners[start..end];
            start = end;
            let triangulated = triangulate(corners, positions, &mut all);
            triangulated.map_err(|message| IoError::unsupported(path, at, message))?;
        }
        all.extend(&self.triangles[taken..]);
        Ok(all)
    }
}

/// Triangulates a polygon of n corners into n - 2 triangles. Every side of the polygon is a side of
/// one triangle, even with collinear corners, so that neighbouring faces stay connected. (Crates
/// for triangulation omit such corners.)
fn triangulate(corners: &[u64], positions: &[[f32; 3]], triangles: &mut Vec<[u64; 3]>) -> Result<(), String> {
    let flat = projected(corners, positions);
    let count = corners.len();
    let turn = |a: usize, b: usize, c: usize| signed_area(flat[a], flat[b], flat[c]);
    if (0..count).all(|at| turn(at, (at + 1) % count, (at + 2) % count) > 0.0) && is_once_around(&flat) {
        triangles.extend((1..count - 1).map(|at| [corners[0], corners[at], corners[at + 1]]));
        return Ok(());
    }
    if count > MOST_CORNERS {
        return Err(format!(
            "a face of {count} corners that is not convex; up to {MOST_CORNERS} are read (triangulate the mesh)"
        ));
    }
    let mut remaining: Vec<usize> = (0..count).collect();
    while remaining.len() > 3 {
        let with_neighbours = |at: usize| {
            let (before, after) = ((at + remaining.len() - 1) % remaining.len(), (at + 1) % remaining.len());
            [remaining[before], remaining[at], remaining[after]]
        };
        let is_ear = |&at: &usize| {
            let [a, b, c] = with_neighbours(at);
            let is_inside = |&other: &usize| {
                let at = flat[other];
                let is_corner = [a, b, c].iter().any(|&corner| flat[corner] == at);
                let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| signed_area(flat[from], flat[to], at));
                !is_corner && sides.iter().all(|&side| side >= 0.0)
            };
            turn(a, b, c) > 0.0 && !remaining.iter().any(is_inside)
        };
        // A polygon that crosses itself may have no ear; any corner then serves.
        let ear = (0..remaining.len()).find(is_ear).or_else(|| {
            let is_flat = |&at: &usize| {
                let [a, b, c] = with_neighbours(at);
                turn(a, b, c) == 0.0
            };
            (0..remaining.len()).find(is_flat)
        });
        let ear = ear.unwrap_or(0);
        triangles.push(with_neighbours(ear).map(|corner| corners[corner]));
        remaining.remove(ear);
    }
    triangles.push([corners[remaining[0]], corners[remaining[1]], corners[remaining[2]]]);
    Ok(())
}

/// Projects the corners to the plane of the polygon, in which they run counterclockwise.
fn projected(corners: &[u64], positions: &[[f32; 3]]) -> Vec<[f64; 2]> {
    let first = positions.get(corners[0] as usize).copied().unwrap_or_default();
    let at = |corner: &u64| {
        let position = positions.get(*corner as usize).copied().unwrap_or_default();
        [0, 1, 2].map(|row| f64::from(position[row]) - f64::from(first[row]))
    };
    let points: Vec<[f64; 3]> = corners.iter().map(at).collect();
    // Newell's normal: the areas of the three projections.
    let area = |(u, v): (usize, usize)| {
        let next = points.iter().cycle().skip(1);
        points.iter().zip(next).map(|(a, b)| a[u] * b[v] - b[u] * a[v]).sum::<f64>()
    };
    let planes = [(1, 2), (2, 0), (0, 1)];
    let areas = planes.map(area);
    let largest = (0..3).max_by(|&one, &other| areas[one].abs().total_cmp(&areas[other].abs())).unwrap_or(2);
    let (u, v) = planes[largest];
    let (u, v) = if areas[largest] < 0.0 { (v, u) } else { (u, v) };
    points.iter().map(|point| [point[u], point[v]]).collect()
}

/// Twice the signed area of a triangle; negative if it runs clockwise.
fn signed_area(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// True if a polygon with only left turns has winding number 1, unlike a star.
fn is_once_around(flat: &[[f64; 2]]) -> bool {
    let count = flat.len();
    let rises = |at: usize| flat[(at + 1) % count][1] > flat[at % count][1];
    (0..count).filter(|&at| rises(at) != rises(at + 1)).count() <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(triangles: &[[u64; 3]], positions: &[[f32; 3]]) -> f64 {
        let flat = |at: u64| positions[at as usize].map(f64::from);
        let of = |&[a, b, c]: &[u64; 3]| {
            let ([a, b, c], cross) = ([flat(a), flat(b), flat(c)], [(1, 2), (2, 0), (0, 1)]);
            let parts = cross.map(|(u, v)| (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]));
            parts.iter().map(|part| part * part).sum::<f64>().sqrt() / 2.0
        };
        triangles.iter().map(of).sum()
    }

    /// Each side of the polygon belongs to one triangle, and each other side to two, in opposite
    /// directions.
    fn assert_covers(corners: &[u64], triangles: &[[u64; 3]]) {
        assert_eq!(triangles.len(), corners.len() - 2);
        let mut sides: Vec<(u64, u64)> = triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        for (at, &corner) in corners.iter().enumerate() {
            let side = (corner, corners[(at + 1) % corners.len()]);
            let index = sides.iter().position(|&other| other == side).unwrap_or_else(|| panic!("no side {side:?}"));
            sides.swap_remove(index);
        }
        assert!(sides.iter().all(|&(a, b)| sides.contains(&(b, a))), "{sides:?}");
    }

    #[test]
    fn polygons_of_every_form_become_triangles_of_the_same_area() {
        let l: Vec<[f32; 2]> = vec![[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
        let comb: Vec<[f32; 2]> =
            vec![[0.0, 0.0], [5.0, 0.0], [5.0, 3.0], [4.0, 1.0], [3.0, 3.0], [2.0, 1.0], [1.0, 3.0], [0.0, 1.0]];
        let on_a_line: Vec<[f32; 2]> = vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [0.0, 2.0]];
        let dart: Vec<[f32; 2]> = vec![[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 1.0]];
        let square: Vec<[f32; 2]> = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for (outline, wanted) in [(l, 5.0), (comb, 10.0), (on_a_line, 4.0), (dart, 1.0), (square, 1.0)] {
            for reversed in [false, true] {
                for turn in 0..outline.len() {
                    for axes in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
                        let place = |[x, y]: [f32; 2]| {
                            let flat = [x, y, 7.0];
                            axes.map(|axis: usize| flat[axis])
                        };
                        let mut positions: Vec<[f32; 3]> = outline.iter().copied().map(place).collect();
                        positions.rotate_left(turn);
                        if reversed {
                            positions.reverse();
                        }
                        let corners: Vec<u64> = (0..positions.len() as u64).collect();
                        let mut triangles = Vec::new();
                        triangulate(&corners, &positions, &mut triangles).unwrap();
                        assert_covers(&corners, &triangles);
                        let found = area(&triangles, &positions);
                        assert!((found - wanted).abs() < 1e-5, "{positions:?}: {found}, {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn strange_polygons_become_some_triangles() {
        let star: Vec<[f32; 3]> = (0..5_u8)
            .map(|at| {
                let angle = f32::from(at) * 2.0 * std::f32::consts::TAU / 5.0;
                [angle.cos(), angle.sin(), 0.0]
            })
            .collect();
        let point = vec![[1.0; 3]; 6];
        let line: Vec<[f32; 3]> = (0..6_u8).map(|at| [f32::from(at), 0.0, 0.0]).collect();
        let not_numbers = vec![[f32::NAN; 3]; 5];
        for positions in [star, point, line, not_numbers] {
            let corners: Vec<u64> = (0..positions.len() as u64).collect();
            let mut triangles = Vec::new();
            triangulate(&corners, &positions, &mut triangles).unwrap();
            assert_covers(&corners, &triangles);
        }
        let zigzag: Vec<[f32; 3]> = (0..5000_u16).map(|at| [f32::from(at), f32::from(at % 2), 0.0]).collect();
        let corners: Vec<u64> = (0..5000).collect();
        let refused = triangulate(&corners, &zigzag, &mut Vec::new()).unwrap_err();
        assert!(refused.contains("5000 corners"), "{refused}");
    }
}
