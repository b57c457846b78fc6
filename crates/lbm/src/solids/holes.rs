//! Holes of a surface, and the volume that it encloses without them.

use std::collections::HashMap;

use super::angle::{area, dot, less};

type Corners = [[f64; 3]; 3];
type Corner = [u64; 3];

/// The open edges of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holes {
    /// Edges of one triangle only, or of an odd number of them.
    pub open_edges: usize,
    pub edges: usize,
    /// The volume inside of the surface and of flat faces over its holes, in cells.
    pub volume: f64,
}

impl Holes {
    /// Finds the open edges of triangles in cells.
    pub fn of(triangles: impl Iterator<Item = Corners> + Clone) -> Self {
        let bits = |corner: [f64; 3]| corner.map(|x| (x + 0.0).to_bits());
        // Of each edge, how many triangles have it, and its direction in the last one.
        let mut edges: HashMap<[Corner; 2], (u32, [[f64; 3]; 2])> = HashMap::new();
        for corners in triangles.clone() {
            for (a, b) in (0..3).map(|k| (corners[k], corners[(k + 1) % 3])) {
                let (one, other) = (bits(a), bits(b));
                if one != other {
                    let edge = edges.entry([one.min(other), one.max(other)]).or_insert((0, [a, b]));
                    edge.0 += 1;
                }
            }
        }
        let open = || edges.values().filter(|(count, _)| count % 2 == 1).map(|(_, ends)| *ends);
        let centre = triangles.clone().next().map_or([0.0; 3], |corners| corners[0]);
        let cone = |[a, b, c]: Corners| {
            let corners = [a, b, c].map(|corner| less(corner, centre));
            dot(area(&corners), corners[0]) / 3.0
        };
        let mut rims = Rims::default();
        open().for_each(|[a, b]| rims.join(bits(a), bits(b)));
        let mut middles: HashMap<Corner, ([f64; 3], f64)> = HashMap::new();
        for [a, b] in open() {
            let (sum, count) = middles.entry(rims.root(bits(a))).or_default();
            (0..3).for_each(|axis| sum[axis] += 0.5 * (a[axis] + b[axis]));
            *count += 1.0;
        }
        // A fan from the middle of a rim closes it, against the direction of its edges.
        let mut volume: f64 = triangles.map(cone).sum();
        for [a, b] in open() {
            let (sum, count) = middles[&rims.root(bits(a))];
            volume += cone([b, a, sum.map(|x| x / count)]);
        }
        Self { open_edges: open().count(), edges: edges.len(), volume: volume.abs() }
    }

    /// A text for people where cells that are neither inside nor outside show that holes matter.
    pub fn warning(&self, solid: u64, doubtful: u64) -> Option<String> {
        let Self { open_edges, edges, volume } = self;
        // Where most edges are open, triangles have no corners in common, and these are no holes.
        let is_connected = 2 * open_edges <= *edges;
        (*open_edges > 0 && is_connected && doubtful > 0).then(|| {
            format!(
                "the surface is open: {open_edges} of its {edges} edges have a triangle on one side only, and {doubtful} cells near its \
                 holes are neither inside nor outside. With flat faces over the holes it encloses {volume:.1} cells, and the solid \
                 has {solid}: close its holes"
            )
        })
    }
}

/// Corners of open edges that are connected.
#[derive(Default)]
struct Rims(HashMap<Corner, Corner>);

impl Rims {
    fn root(&mut self, mut corner: Corner) -> Corner {
        while let Some(&parent) = self.0.get(&corner).filter(|parent| **parent != corner) {
            let grandparent = self.0[&parent];
            self.0.insert(corner, grandparent);
            corner = grandparent;
        }
        corner
    }

    fn join(&mut self, one: Corner, other: Corner) {
        for corner in [one, other] {
            self.0.entry(corner).or_insert(corner);
        }
        let (one, other) = (self.root(one), self.root(other));
        self.0.insert(one, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The twelve triangles of a cube of side 2.
    fn cube() -> Vec<Corners> {
        let mut triangles = Vec::new();
        for axis in 0..3 {
            for end in [0.0, 2.0] {
                let corner = |u: f64, v: f64| {
                    let mut at = [0.0; 3];
                    (at[axis], at[(axis + 1) % 3], at[(axis + 2) % 3]) = (end, u, v);
                    at
                };
                let [a, b, c, d] = [corner(0.0, 0.0), corner(2.0, 0.0), corner(2.0, 2.0), corner(0.0, 2.0)];
                let two = if end > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                triangles.extend(two);
            }
        }
        triangles
    }

    #[test]
    fn volume_with_holes_closed_is_that_of_the_whole_surface() {
        let whole = cube();
        let found = Holes::of(whole.iter().copied());
        assert_eq!((found.open_edges, found.edges), (0, 18));
        assert!((found.volume - 8.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.warning(8, 0), None);
        // Without a triangle, and without a face.
        for (first, open_edges) in [(1, 3), (2, 4)] {
            let found = Holes::of(whole[first..].iter().copied());
            assert_eq!(found.open_edges, open_edges);
            assert!((found.volume - 8.0).abs() < 1e-12, "{found:?}");
        }
        // Twice the same surface has no holes.
        let twice: Vec<Corners> = whole.iter().chain(&whole).copied().collect();
        assert_eq!(Holes::of(twice.iter().copied()).open_edges, 0);
    }
}
