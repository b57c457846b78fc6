//! Consistent orientation of triangles.

use super::triangle::edges;

type Triangle32 = [[f32; 3]; 3];

/// Edge of a triangle, for the search of neighbours.
struct TriangleEdge {
    /// Hash of the two corners, the same in both directions.
    key: u64,
    triangle: u32,
    /// True if the triangle passes the edge from the lesser corner to the greater corner.
    is_forward: bool,
}

/// Two triangles that share an edge with no other triangle.
struct NeighbourPair {
    triangles: [u32; 2],
    /// True if both triangles pass the edge in the same direction.
    disagree: bool,
}

/// Flips the triangles with the minority orientation in their connected component; returns the
/// number of flipped triangles.
///
/// Triangles are neighbours if exactly two share an edge. Consistent neighbours pass it in opposite
/// directions.
pub(super) fn orient_triangles(triangles: &mut [Triangle32]) -> usize {
    let pairs = find_neighbours(triangles);
    if !pairs.iter().any(|pair| pair.disagree) {
        return 0;
    }
    let mut components = Components::new(triangles.len());
    pairs.iter().for_each(|pair| components.join(pair));
    // Triangles of each component, by their orientation relative to the root.
    let mut counts = vec![[0_usize; 2]; triangles.len()];
    let found: Vec<Orientation> = (0..triangles.len() as u32).map(|index| components.find(index)).collect();
    for Orientation { root, is_flipped } in &found {
        counts[*root as usize][usize::from(*is_flipped)] += 1;
    }
    let mut flipped = 0;
    for (corners, Orientation { root, is_flipped }) in triangles.iter_mut().zip(found) {
        let [like_root, unlike_root] = counts[root as usize];
        if is_flipped == (unlike_root <= like_root) {
            corners.swap(0, 1);
            flipped += 1;
        }
    }
    flipped
}

fn find_neighbours(triangles: &[Triangle32]) -> Vec<NeighbourPair> {
    let mut all: Vec<TriangleEdge> = Vec::with_capacity(3 * triangles.len());
    for (index, corners) in triangles.iter().enumerate() {
        // Both zeros are one corner.
        let corners = corners.map(|corner| corner.map(|x| (x + 0.0).to_bits()));
        for [a, b] in edges(corners).into_iter().filter(|[a, b]| a != b) {
            let key = hash_edge([a.min(b), a.max(b)]);
            all.push(TriangleEdge { key, triangle: index as u32, is_forward: a < b });
        }
    }
    all.sort_unstable_by_key(|edge| edge.key);
    let pair = |group: &[TriangleEdge]| match group {
        [a, b] => Some(NeighbourPair { triangles: [a.triangle, b.triangle], disagree: a.is_forward == b.is_forward }),
        _ => None,
    };
    all.chunk_by(|a, b| a.key == b.key).filter_map(pair).collect()
}

/// Component of a triangle, and its orientation relative to the component's root.
struct Orientation {
    root: u32,
    is_flipped: bool,
}

/// Connected components of a surface, as a union-find forest with orientations relative to parents.
struct Components {
    parents: Vec<u32>,
    is_flipped: Vec<bool>,
}

impl Components {
    fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect(), is_flipped: vec![false; count] }
    }

    fn find(&mut self, triangle: u32) -> Orientation {
        let (mut root, mut is_flipped) = (triangle, false);
        while self.parents[root as usize] != root {
            is_flipped ^= self.is_flipped[root as usize];
            root = self.parents[root as usize];
        }
        let (mut at, mut to_root) = (triangle, is_flipped);
        while self.parents[at as usize] != at {
            let (next, to_next) = (self.parents[at as usize], self.is_flipped[at as usize]);
            (self.parents[at as usize], self.is_flipped[at as usize]) = (root, to_root);
            (at, to_root) = (next, to_root ^ to_next);
        }
        Orientation { root, is_flipped }
    }

    fn join(&mut self, pair: &NeighbourPair) {
        let [a, b] = pair.triangles.map(|triangle| self.find(triangle));
        // A component with one side, such as a Möbius strip, keeps an edge that disagrees.
        if a.root != b.root {
            self.parents[b.root as usize] = a.root;
            self.is_flipped[b.root as usize] = a.is_flipped ^ b.is_flipped ^ pair.disagree;
        }
    }
}

fn hash_edge(corners: [[u32; 3]; 2]) -> u64 {
    corners.as_flattened().iter().fold(0, |sum: u64, &word| {
        let mixed = (sum ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    })
}

#[cfg(test)]
mod tests {
    use super::orient_triangles;

    fn cylinder_side(is_flipped: impl Fn(usize) -> bool) -> Vec<[[f32; 3]; 3]> {
        let at = |k: usize, z: f32| {
            let angle = (k % 40) as f32 * std::f32::consts::TAU / 40.0;
            [angle.cos(), angle.sin(), z]
        };
        let quads = (0..40)
            .flat_map(|k| [[at(k, 0.0), at(k + 1, 0.0), at(k + 1, 1.0)], [at(k, 0.0), at(k + 1, 1.0), at(k, 1.0)]]);
        let flip = |(k, [a, b, c]): (usize, [[f32; 3]; 3])| if is_flipped(k) { [b, a, c] } else { [a, b, c] };
        quads.enumerate().map(flip).collect()
    }

    #[test]
    fn minority_of_triangles_is_flipped() {
        let whole = cylinder_side(|_| false);
        for is_flipped in [|k| k % 7 == 3, |k| (20..50).contains(&k), |k| k == 0] {
            let mut triangles = cylinder_side(is_flipped);
            assert_eq!(orient_triangles(&mut triangles), (0..80).filter(|&k| is_flipped(k)).count());
            assert_eq!(triangles, whole);
        }
    }

    #[test]
    fn consistent_components_stay() {
        let whole = cylinder_side(|_| false);
        // The second component is inside out as a whole.
        let (mut one, mut two) = (whole.clone(), [whole.clone(), cylinder_side(|_| true)].concat());
        two.iter_mut().take(80).flatten().for_each(|corner| corner[0] += 9.0);
        let before = two.clone();
        assert_eq!((orient_triangles(&mut one), orient_triangles(&mut two)), (0, 0));
        assert_eq!((one, two), (whole, before));
    }
}
