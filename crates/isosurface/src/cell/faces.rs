//! Ambiguous faces: exactly two opposite corners are inside.

use super::{FACES, is_inside};

/// Ambiguous faces of a case, as bits.
pub(crate) fn ambiguous(case: u8) -> u8 {
    let mut faces = 0;
    for (face, corners) in FACES.iter().enumerate() {
        let inside = corners.map(|corner| is_inside(case, corner));
        let crossed = inside[0] == inside[2] && inside[1] == inside[3] && inside[0] != inside[1];
        faces |= u8::from(crossed) << face;
    }
    faces
}

/// Faces (bits) on which opposite inside corners are joined: the saddle of the bilinear interpolant
/// is not negative. Both cells of a face compute the same result.
pub(crate) fn joined(case: u8, values: &[f64; 8]) -> u8 {
    let mut faces = 0;
    for (face, corners) in FACES.iter().enumerate() {
        let [a, b, c, d] = corners.map(|corner| values[usize::from(corner)]);
        let first = is_inside(case, corners[0]);
        // The saddle is (ac - bd) / (a + c - b - d); the divisor has the sign of the inside
        // diagonal.
        let is_joined = if first { a * c >= b * d } else { b * d >= a * c };
        faces |= u8::from(is_joined) << face;
    }
    faces & ambiguous(case)
}
