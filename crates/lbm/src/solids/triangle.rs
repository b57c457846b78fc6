//! Triangles in space, and vectors.

pub(super) type Triangle = [[f64; 3]; 3];

/// List of triangles that are computed on access.
pub(super) struct TriangleList<F: Fn(usize) -> Triangle> {
    pub count: usize,
    pub get: F,
}

impl<F: Fn(usize) -> Triangle> TriangleList<F> {
    pub(super) fn iter(&self) -> impl Iterator<Item = Triangle> + Clone {
        (0..self.count).map(&self.get)
    }
}

pub(super) type CornerBits = [u64; 3];

pub(super) fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub(super) fn centroid([a, b, c]: &Triangle) -> [f64; 3] {
    std::array::from_fn(|axis| (a[axis] + b[axis] + c[axis]) / 3.0)
}

/// Area × unit normal.
pub(super) fn area_vector([a, b, c]: &Triangle) -> [f64; 3] {
    cross(subtract(*b, *a), subtract(*c, *a)).map(|x| 0.5 * x)
}

/// The three edges, in the direction of the triangle.
pub(super) fn edges<T: Copy>(corners: [T; 3]) -> [[T; 2]; 3] {
    let [a, b, c] = corners;
    [[a, b], [b, c], [c, a]]
}

/// Bits of a corner, with one zero.
pub(super) fn corner_bits(corner: [f64; 3]) -> CornerBits {
    corner.map(|x| (x + 0.0).to_bits())
}
