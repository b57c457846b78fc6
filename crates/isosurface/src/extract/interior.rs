//! Vertices inside a cell.

use crate::cell::ends;

/// Steps towards the surface; each about doubles the right digits.
const STEPS: usize = 4;

/// Where in the cell, whose corners have these values, a vertex lies that begins in the middle of the vertices on some
/// edges (bits). It is moved onto the surface along the gradient, but not out of the cell.
pub fn vertex(values: &[f64; 8], edges: u16) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for edge in (0..12).filter(|edge| edges >> edge & 1 == 1) {
        let (a, b) = ends(edge);
        let along = values[usize::from(a)] / (values[usize::from(a)] - values[usize::from(b)]);
        for (axis, sum) in sum.iter_mut().enumerate() {
            *sum += f64::from(a >> axis & 1) + if axis == usize::from(edge / 4) { along } else { 0.0 };
        }
        count += 1.0;
    }
    let mut place = sum.map(|sum| sum / count);
    for _ in 0..STEPS {
        let (value, gradient) = interpolated(values, place);
        let square: f64 = gradient.iter().map(|slope| slope * slope).sum();
        let step = value / square;
        if !step.is_finite() {
            break;
        }
        place = std::array::from_fn(|axis| (place[axis] - step * gradient[axis]).clamp(0.0, 1.0));
    }
    place
}

/// Vectors at the corners of a cell, interpolated at a place in it.
pub fn between(corners: &[[f64; 3]; 8], place: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|component| interpolated(&corners.map(|vector| vector[component]), place).0)
}

/// The trilinear interpolant and its gradient.
fn interpolated(values: &[f64; 8], place: [f64; 3]) -> (f64, [f64; 3]) {
    let weight = |corner: usize, axis: usize| if corner >> axis & 1 == 1 { place[axis] } else { 1.0 - place[axis] };
    let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
    let (mut value, mut gradient) = (0.0, [0.0; 3]);
    for (corner, at) in values.iter().enumerate() {
        let [x, y, z] = [0, 1, 2].map(|axis| weight(corner, axis));
        value += at * x * y * z;
        gradient[0] += at * sign(corner, 0) * y * z;
        gradient[1] += at * x * sign(corner, 1) * z;
        gradient[2] += at * x * y * sign(corner, 2);
    }
    (value, gradient)
}
