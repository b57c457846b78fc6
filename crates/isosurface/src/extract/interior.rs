//! Vertices inside a cell. In kernels: `shaders/extract/interior.wgsl`.

use crate::cell::ends;
use crate::field::trilinear::value_and_gradient;

/// Number of Newton steps; each about doubles the number of correct digits.
const STEPS: usize = 4;

/// Position of an interior vertex in a cell: the mean of the vertices on `edges` (bits), moved
/// along the gradient onto the surface and clamped to the cell.
pub(super) fn vertex(values: &[f64; 8], edges: u16) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for edge in (0..12).filter(|edge| edges >> edge & 1 == 1) {
        let (a, b) = ends(edge);
        let along = values[usize::from(a)] / (values[usize::from(a)] - values[usize::from(b)]);
        for (axis, sum) in sum.iter_mut().enumerate() {
            *sum += f64::from(a >> axis & 1) + if axis == usize::from(edge / 4) { along } else { 0.0 };
        }
        count += 1.0;
    }
    let mut position = sum.map(|sum| sum / count);
    for _ in 0..STEPS {
        let (value, gradient) = value_and_gradient(values, position);
        let square: f64 = gradient.iter().map(|slope| slope * slope).sum();
        let step = value / square;
        if !step.is_finite() {
            break;
        }
        position = std::array::from_fn(|axis| (position[axis] - step * gradient[axis]).clamp(0.0, 1.0));
    }
    position
}
