//! Triangles that face another way than their neighbours.

type Triangle = [[f32; 3]; 3];

/// One side of a triangle.
struct Edge {
    /// Hash of its two corners, whichever comes first.
    key: u64,
    triangle: u32,
    /// Whether the triangle goes from the lesser corner to the other one.
    is_forward: bool,
}

/// Turns triangles that face another way than most of the surface that they belong to; returns how
/// many. Triangles are neighbours where two alone share an edge: there each goes along it in its
/// own direction.
pub fn orient(triangles: &mut [Triangle]) -> usize {
    let mut edges: Vec<Edge> = Vec::with_capacity(3 * triangles.len());
    for (number, corners) in triangles.iter().enumerate() {
        // Both zeros are one corner.
        let corners = corners.map(|corner| corner.map(|x| (x + 0.0).to_bits()));
        for (a, b) in (0..3).map(|k| (corners[k], corners[(k + 1) % 3])).filter(|(a, b)| a != b) {
            edges.push(Edge { key: hash([a.min(b), a.max(b)]), triangle: number as u32, is_forward: a < b });
        }
    }
    edges.sort_unstable_by_key(|edge| edge.key);
    let pairs = || {
        let groups = edges.chunk_by(|one, other| one.key == other.key);
        groups.filter_map(|group| match group {
            [one, other] => Some((one.triangle, other.triangle, one.is_forward == other.is_forward)),
            _ => None,
        })
    };
    if !pairs().any(|(.., disagree)| disagree) {
        return 0;
    }
    let mut parts = Parts::new(triangles.len());
    pairs().for_each(|(one, other, disagree)| parts.join(one, other, disagree));
    // Triangles of each part, by whether they face as its root does.
    let mut counts = vec![[0_usize; 2]; triangles.len()];
    let found: Vec<(u32, bool)> = (0..triangles.len() as u32).map(|number| parts.root(number)).collect();
    found.iter().for_each(|&(root, is_turned)| counts[root as usize][usize::from(is_turned)] += 1);
    let mut turned = 0;
    for (corners, (root, is_turned)) in triangles.iter_mut().zip(found) {
        let [same, other] = counts[root as usize];
        if is_turned == (other <= same) {
            corners.swap(0, 1);
            turned += 1;
        }
    }
    turned
}

/// Parts of a surface, each triangle with whether it faces as the first one of its part does.
struct Parts {
    parents: Vec<u32>,
    is_turned: Vec<bool>,
}

impl Parts {
    fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect(), is_turned: vec![false; count] }
    }

    /// The root of a triangle's part, and whether the triangle faces another way than it.
    fn root(&mut self, triangle: u32) -> (u32, bool) {
        let (mut root, mut is_turned) = (triangle, false);
        while self.parents[root as usize] != root {
            is_turned ^= self.is_turned[root as usize];
            root = self.parents[root as usize];
        }
        // All on the way point to the root from now on.
        let (mut at, mut way) = (triangle, is_turned);
        while self.parents[at as usize] != at {
            let (next, step) = (self.parents[at as usize], self.is_turned[at as usize]);
            (self.parents[at as usize], self.is_turned[at as usize]) = (root, way);
            (at, way) = (next, way ^ step);
        }
        (root, is_turned)
    }

    fn join(&mut self, one: u32, other: u32, disagree: bool) {
        let ((a, turned_a), (b, turned_b)) = (self.root(one), self.root(other));
        if a != b {
            // A surface with one side alone, as Möbius's, keeps an edge where it disagrees.
            self.parents[b as usize] = a;
            self.is_turned[b as usize] = turned_a ^ turned_b ^ disagree;
        }
    }
}

fn hash(corners: [[u32; 3]; 2]) -> u64 {
    corners.as_flattened().iter().fold(0, |sum: u64, &word| {
        let mixed = (sum ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    })
}

#[cfg(test)]
mod tests {
    use super::orient;

    /// A cylinder's mantle of quads, with some triangles turned.
    fn mantle(turned: impl Fn(usize) -> bool) -> Vec<[[f32; 3]; 3]> {
        let at = |k: usize, z: f32| {
            let angle = (k % 40) as f32 * std::f32::consts::TAU / 40.0;
            [angle.cos(), angle.sin(), z]
        };
        let quads = (0..40)
            .flat_map(|k| [[at(k, 0.0), at(k + 1, 0.0), at(k + 1, 1.0)], [at(k, 0.0), at(k + 1, 1.0), at(k, 1.0)]]);
        let turn = |(k, [a, b, c]): (usize, [[f32; 3]; 3])| if turned(k) { [b, a, c] } else { [a, b, c] };
        quads.enumerate().map(turn).collect()
    }

    #[test]
    fn fewer_triangles_are_turned_to_face_as_most_do() {
        let whole = mantle(|_| false);
        for is_turned in [|k| k % 7 == 3, |k| (20..50).contains(&k), |k| k == 0] {
            let mut triangles = mantle(is_turned);
            assert_eq!(orient(&mut triangles), (0..80).filter(|&k| is_turned(k)).count());
            assert_eq!(triangles, whole);
        }
        let (mut plain, mut two) = (whole.clone(), [whole.clone(), mantle(|_| true)].concat());
        two.iter_mut().take(80).flatten().for_each(|corner| corner[0] += 9.0);
        let kept = two.clone();
        // Nothing is turned where all agree: neither a whole part that is inside out.
        assert_eq!((orient(&mut plain), orient(&mut two)), (0, 0));
        assert_eq!((plain, two), (whole, kept));
    }
}
