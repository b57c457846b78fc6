//! Solid angles: exact for one triangle, by moments for many distant triangles.

use super::triangle::{Triangle, area_vector, centroid, cross, dot, length, subtract};

/// Moments of a group of triangles, for their solid angle from a distance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TriangleMoments {
    /// Mean of the centroids, weighted by area.
    pub centre: [f64; 3],
    /// Sum of the area vectors.
    pub normal: [f64; 3],
    /// Sum of area × (centroid − centre)ᵢ × normalⱼ.
    pub first: [[f64; 3]; 3],
}

/// Solid angle of a triangle (van Oosterom and Strackee 1983), positive on the side opposite to the
/// normal; `None` for a point on the triangle.
pub(super) fn exact_solid_angle(triangle: &Triangle, point: [f64; 3]) -> Option<f64> {
    /// Rounding error of a sum, relative to its terms.
    const ROUNDING: f64 = 1e-14;
    let [a, b, c] = triangle.map(|corner| subtract(corner, point));
    let (la, lb, lc) = (length(a), length(b), length(c));
    let scale = la * lb * lc;
    let volume = dot(a, cross(b, c));
    let denominator = scale + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    if volume.abs() <= ROUNDING * scale {
        // In the plane of the triangle: on the triangle, or outside with a solid angle of 0.
        return (denominator > ROUNDING * scale).then_some(0.0);
    }
    Some(2.0 * volume.atan2(denominator))
}

impl TriangleMoments {
    pub(super) fn new(triangles: impl Iterator<Item = Triangle> + Clone) -> Self {
        let (mut weighted, mut total_area, mut normal) = ([0.0; 3], 0.0, [0.0; 3]);
        let (mut unweighted, mut count) = ([0.0; 3], 0.0);
        for triangle in triangles.clone() {
            let (vector, centroid) = (area_vector(&triangle), centroid(&triangle));
            let area = length(vector);
            for axis in 0..3 {
                weighted[axis] += area * centroid[axis];
                unweighted[axis] += centroid[axis];
                normal[axis] += vector[axis];
            }
            total_area += area;
            count += 1.0;
        }
        let centre = if total_area > 0.0 { weighted.map(|x| x / total_area) } else { unweighted.map(|x| x / count) };
        let mut first = [[0.0; 3]; 3];
        for triangle in triangles {
            let (vector, offset) = (area_vector(&triangle), subtract(centroid(&triangle), centre));
            for (row, offset) in first.iter_mut().zip(offset) {
                row.iter_mut().zip(vector).for_each(|(x, n)| *x += offset * n);
            }
        }
        Self { centre, normal, first }
    }

    /// Solid angle from the point `centre - r`.
    pub(super) fn solid_angle(&self, r: [f64; 3]) -> f64 {
        let square = dot(r, r);
        let cube = square * square.sqrt();
        let trace: f64 = (0..3).map(|axis| self.first[axis][axis]).sum();
        let along = dot(r, self.first.map(|row| dot(row, r)));
        (dot(self.normal, r) + trace - 3.0 * along / square) / cube
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::{TriangleMoments, exact_solid_angle};

    /// A face of an octahedron covers an eighth of all directions from the centre.
    #[test]
    fn octahedron_face_from_inside_outside_and_on_it() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert!((exact_solid_angle(&corners, [0.0; 3]).unwrap() - PI / 2.0).abs() < 1e-14);
        let third = 2.0 / 3.0;
        let mirrored = exact_solid_angle(&corners, [third; 3]).unwrap();
        assert!((mirrored + PI / 2.0).abs() < 1e-14, "{mirrored}");
        assert_eq!(exact_solid_angle(&corners, [1.0 / 3.0; 3]), None);
        assert_eq!(exact_solid_angle(&corners, [0.5, 0.5, 0.0]), None);
        assert_eq!(exact_solid_angle(&corners, [0.0, 0.0, 1.0]), None);
        assert_eq!(exact_solid_angle(&corners, [1.0, 1.0, -1.0]), Some(0.0));
    }

    /// The error of two moments falls with the fourth power of the distance.
    #[test]
    fn moments_are_of_second_order() {
        let at = |i: i32, j: i32| {
            let (x, y) = (f64::from(i) / 3.0, f64::from(j) / 3.0);
            [x, y, -0.4 * x * x - 0.2 * x * y * y + 0.1 * y]
        };
        let square =
            |i: i32, j: i32| [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]];
        let patch: Vec<_> = (-3..3).flat_map(|i| (-3..3).flat_map(move |j| square(i, j))).collect();
        let moments = TriangleMoments::new(patch.iter().copied());
        for direction in [[1.0, 0.2, 0.3], [0.1, -0.4, 1.0], [0.7, 0.7, -0.6]] {
            let error = |distance: f64| {
                let point: [f64; 3] = std::array::from_fn(|axis| moments.centre[axis] - distance * direction[axis]);
                let sum: f64 = patch.iter().map(|corners| exact_solid_angle(corners, point).unwrap()).sum();
                (moments.solid_angle(direction.map(|x| distance * x)) - sum).abs()
            };
            let order = (error(8.0) / error(16.0)).log2();
            assert!(order > 3.7, "{direction:?}: {}, {}, order {order}", error(8.0), error(16.0));
        }
    }
}
