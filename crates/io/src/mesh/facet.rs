//! Triangles of binary STL files.

use super::part::with_origin;

pub(super) const FACET_BYTES: u64 = 50;

/// The corners are relative to the origin, if there is one.
pub(super) fn facet(corners: &[[f32; 3]; 3], origin: Option<[f64; 3]>, out: &mut Vec<u8>) {
    let at = |corner: &[f32; 3]| origin.map_or(*corner, |origin| with_origin(corner, origin).map(|part| part as f32));
    let positions = [at(&corners[0]), at(&corners[1]), at(&corners[2])];
    let numbers = normal(corners).into_iter().chain(positions.as_flattened().iter().copied());
    numbers.for_each(|number| out.extend(number.to_le_bytes()));
    out.extend([0; 2]);
}

/// Unit normal of counterclockwise corners; zeros for a triangle without area.
fn normal(corners: &[[f32; 3]; 3]) -> [f32; 3] {
    let [a, b, c] = corners.map(|corner| corner.map(f64::from));
    let edge = |end: [f64; 3]| [0, 1, 2].map(|axis| end[axis] - a[axis]);
    let (u, v) = (edge(b), edge(c));
    let cross = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| u[i] * v[j] - u[j] * v[i]);
    let length = cross.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() { cross.map(|part| (part / length) as f32) } else { [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_follow_the_right_hand_rule() {
        let [zero, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!([[zero, x, y], [zero, y, z], [zero, z, x]].map(|corners| normal(&corners)), [z, x, y]);
        assert_eq!(normal(&[zero, y, x]), [0.0, 0.0, -1.0]);
        // A plane x + y + z = 1, and one with sides of 3 and 4.
        let third = (1.0 / 3.0_f64).sqrt() as f32;
        assert_eq!(normal(&[x, y, z]), [third; 3]);
        assert_eq!(normal(&[zero, [4.0, 0.0, 3.0], y]), [-0.6, 0.0, 0.8]);
    }

    #[test]
    fn normals_are_independent_of_size_and_zero_without_area() {
        let zero = [0.0; 3];
        let tiny = f32::from_bits(1);
        assert_eq!(normal(&[zero, [tiny, 0.0, 0.0], [0.0, tiny, 0.0]]), [0.0, 0.0, 1.0]);
        let most = f32::MAX;
        assert_eq!(normal(&[[-most, 0.0, 0.0], [most, 0.0, 0.0], [0.0, most, 0.0]]), [0.0, 0.0, 1.0]);
        let line = [zero, [1.0; 3], [3.0; 3]];
        for corners in [[zero; 3], line, [[f32::NAN; 3], zero, zero], [[f32::INFINITY; 3], zero, [1.0; 3]]] {
            assert_eq!(normal(&corners), zero);
        }
    }
}
