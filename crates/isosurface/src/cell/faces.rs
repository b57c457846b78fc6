//! Ambiguous faces: those whose inside corners are two opposite ones.

use super::{FACES, is_inside};

/// The faces of a case (bit `face`) on which two opposite corners are inside and the other two are not.
pub fn ambiguous(case: u8) -> u8 {
    let mut faces = 0;
    for (face, corners) in FACES.iter().enumerate() {
        let inside = corners.map(|corner| is_inside(case, corner));
        let crossed = inside[0] == inside[2] && inside[1] == inside[3] && inside[0] != inside[1];
        faces |= u8::from(crossed) << face;
    }
    faces
}

/// On which of the ambiguous faces of a cell the inside corners are joined: the bilinear interpolant's saddle is not
/// below zero. Both cells of a face find the same.
pub fn joined(case: u8, values: &[f64; 8]) -> u8 {
    let mut faces = 0;
    for (face, corners) in FACES.iter().enumerate() {
        let [a, b, c, d] = corners.map(|corner| values[usize::from(corner)]);
        let first = is_inside(case, corners[0]);
        // The saddle is (ac - bd) / (a + c - b - d); what it is divided by has the sign of the inside diagonal.
        let is_joined = if first { a * c >= b * d } else { b * d >= a * c };
        faces |= u8::from(is_joined) << face;
    }
    faces & ambiguous(case)
}
