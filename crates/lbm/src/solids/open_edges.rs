//! Open edges of a surface, and the volume that the surface encloses with its holes closed.

use std::collections::HashMap;

use super::triangle::{CornerBits, Triangle, area_vector, corner_bits, dot, edges, subtract};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OpenEdges {
    /// Number of edges with an odd number of triangles.
    pub open: usize,
    /// Number of all edges.
    pub total: usize,
    /// Volume inside of the surface and of flat faces over its holes, in cells.
    pub volume: f64,
}

/// Edge in the direction of the last triangle that has it.
struct EdgeUse {
    triangles: u32,
    ends: [[f64; 3]; 2],
}

impl OpenEdges {
    pub(super) fn find(triangles: impl Iterator<Item = Triangle> + Clone) -> Self {
        let mut uses: HashMap<[CornerBits; 2], EdgeUse> = HashMap::new();
        for ends in triangles.clone().flat_map(edges) {
            let [a, b] = ends.map(corner_bits);
            if a != b {
                uses.entry([a.min(b), a.max(b)]).or_insert(EdgeUse { triangles: 0, ends }).triangles += 1;
            }
        }
        let open = || uses.values().filter(|edge| edge.triangles % 2 == 1).map(|edge| edge.ends);
        let apex = triangles.clone().next().map_or([0.0; 3], |triangle| triangle[0]);
        let cone_volume = |triangle: Triangle| {
            let triangle = triangle.map(|corner| subtract(corner, apex));
            dot(area_vector(&triangle), triangle[0]) / 3.0
        };
        let mut rims = Rims::default();
        open().for_each(|[a, b]| rims.join(corner_bits(a), corner_bits(b)));
        let mut centres: HashMap<CornerBits, ([f64; 3], f64)> = HashMap::new();
        for [a, b] in open() {
            let (sum, count) = centres.entry(rims.root(corner_bits(a))).or_default();
            (0..3).for_each(|axis| sum[axis] += 0.5 * (a[axis] + b[axis]));
            *count += 1.0;
        }
        // A fan around the centre of each rim closes the hole, against the direction of its edges.
        let mut volume: f64 = triangles.map(cone_volume).sum();
        for [a, b] in open() {
            let (sum, count) = centres[&rims.root(corner_bits(a))];
            volume += cone_volume([b, a, sum.map(|x| x / count)]);
        }
        Self { open: open().count(), total: uses.len(), volume: volume.abs() }
    }

    /// Warning, if doubtful cells show that holes matter.
    pub(super) fn warning(&self, solid_cells: u64, doubtful_cells: u64) -> Option<String> {
        let Self { open, total, volume } = self;
        // Triangles without common corners have only open edges and no holes.
        let is_connected = 2 * open <= *total;
        (*open > 0 && is_connected && doubtful_cells > 0).then(|| {
            format!(
                "the surface is open: {open} of its {total} edges have a triangle on one side only, and {doubtful_cells} cells \
                 near its holes are neither inside nor outside. With flat faces over the holes it encloses {volume:.1} cells, \
                 and the solid has {solid_cells}: close its holes"
            )
        })
    }
}

/// Connected groups of corners of open edges, as a union-find forest.
#[derive(Default)]
struct Rims {
    parents: HashMap<CornerBits, CornerBits>,
}

impl Rims {
    fn root(&mut self, mut corner: CornerBits) -> CornerBits {
        while let Some(&parent) = self.parents.get(&corner).filter(|parent| **parent != corner) {
            let grandparent = self.parents[&parent];
            self.parents.insert(corner, grandparent);
            corner = grandparent;
        }
        corner
    }

    fn join(&mut self, a: CornerBits, b: CornerBits) {
        for corner in [a, b] {
            self.parents.entry(corner).or_insert(corner);
        }
        let (root_a, root_b) = (self.root(a), self.root(b));
        self.parents.insert(root_a, root_b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Vec<Triangle> {
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
        let found = OpenEdges::find(whole.iter().copied());
        assert_eq!((found.open, found.total), (0, 18));
        assert!((found.volume - 8.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.warning(8, 0), None);
        for (first, open) in [(1, 3), (2, 4)] {
            let found = OpenEdges::find(whole[first..].iter().copied());
            assert_eq!(found.open, open);
            assert!((found.volume - 8.0).abs() < 1e-12, "{found:?}");
        }
        let twice: Vec<Triangle> = whole.iter().chain(&whole).copied().collect();
        assert_eq!(OpenEdges::find(twice.iter().copied()).open, 0);
    }
}
