//! Triangulation of the band between two contours: the wall of a tunnel.

use super::table::{Shape, Vertex};
use super::{Edge, share_a_face, squared_distance};

/// Adds the triangles of the band between two contours.
pub(super) fn add(shape: &mut Shape, a: &[Edge], b: &[Edge]) {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // The contours run in opposite directions around the band.
    let back: Vec<Edge> = b.iter().rev().copied().collect();
    let spoke = |i: usize, j: usize| (!share_a_face(a[i], back[j])).then(|| squared_distance(a[i], back[j]));
    if let Some(steps) = shortest_spoke_path(a.len(), b.len(), spoke) {
        return stitch(shape, a, &back, &steps);
    }
    // Every direct edge between the contours lies in a face.
    let steps = shortest_spoke_path(a.len(), b.len(), |i, j| Some(squared_distance(a[i], back[j])))
        .expect("nothing is forbidden");
    let ring: Vec<Vertex> = (0..a.len())
        .map(|i| {
            let beside = steps.iter().filter(|step| step.0 % a.len() == i).map(|step| back[step.1 % b.len()]);
            shape.add_interior(&[&[a[i]][..], &beside.collect::<Vec<_>>()].concat())
        })
        .collect();
    let straight: Vec<(usize, usize)> = (0..a.len()).flat_map(|i| [(i, i), (i + 1, i)]).collect();
    stitch(shape, a, &ring, &straight);
    stitch(shape, &ring, &back, &steps);
}

/// Finds the shortest closed path of spokes around a band, without its last spoke (equal to the
/// first). Each step advances one side.
fn shortest_spoke_path(a: usize, b: usize, spoke: impl Fn(usize, usize) -> Option<i32>) -> Option<Vec<(usize, usize)>> {
    let mut search = Search { a, b, spoke, steps: Vec::new(), best: None };
    (0..b).for_each(|start| search.extend(0, start, start, 0));
    search.best.map(|(_, steps)| steps)
}

struct Search<F> {
    a: usize,
    b: usize,
    spoke: F,
    steps: Vec<(usize, usize)>,
    best: Option<(i32, Vec<(usize, usize)>)>,
}

impl<F: Fn(usize, usize) -> Option<i32>> Search<F> {
    /// Continues paths from a spoke; the current path has total length `length`.
    fn extend(&mut self, i: usize, j: usize, start: usize, length: i32) {
        let (a, b) = (self.a, self.b);
        if self.best.as_ref().is_some_and(|(best, _)| length >= *best) {
            return;
        }
        if i == a && j == start + b {
            self.best = Some((length, self.steps.clone()));
            return;
        }
        let met = self.steps.iter().any(|&(x, y)| x % a == i % a && y % b == j % b);
        let Some(more) = (self.spoke)(i % a, j % b).filter(|_| !met) else { return };
        self.steps.push((i, j));
        if i < a {
            self.extend(i + 1, j, start, length + more);
        }
        if j < start + b {
            self.extend(i, j + 1, start, length + more);
        }
        self.steps.pop();
    }
}

/// Triangulates the strip between a contour `a` and the reversed other contour.
fn stitch(shape: &mut Shape, a: &[Vertex], back: &[Vertex], steps: &[(usize, usize)]) {
    for (n, &(i, j)) in steps.iter().enumerate() {
        let (from_a, from_b) = (a[i % a.len()], back[j % back.len()]);
        let moved_a = match steps.get(n + 1) {
            Some(&(next, _)) => next > i,
            // Returns to the first spoke along the incomplete side.
            None => i < a.len(),
        };
        shape.triangles.push(if moved_a {
            [from_a, a[(i + 1) % a.len()], from_b]
        } else {
            [from_a, back[(j + 1) % back.len()], from_b]
        });
    }
}
