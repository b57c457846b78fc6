//! Trilinear interpolation in a cell.

/// Interpolates vectors at the corners of a cell.
pub(crate) fn between(corners: &[[f64; 3]; 8], position: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|component| value_and_gradient(&corners.map(|vector| vector[component]), position).0)
}

/// Value and gradient of the trilinear interpolant.
pub(crate) fn value_and_gradient(values: &[f64; 8], position: [f64; 3]) -> (f64, [f64; 3]) {
    let weight =
        |corner: usize, axis: usize| if corner >> axis & 1 == 1 { position[axis] } else { 1.0 - position[axis] };
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
