//! Conversion of positions to floats relative to an origin.

/// Minimum ratio of a coordinate to the extent of a mesh that is far from the origin of space.
const FAR_RATIO: f64 = 16.0;

/// Converts positions to floats, and returns them with their origin.
///
/// The origin is 0 along an axis where floats hold all coordinates exactly or the mesh is near 0;
/// else it is the smallest coordinate.
pub(super) fn floats(positions: &[[f64; 3]]) -> (Vec<[f32; 3]>, [f64; 3]) {
    let (mut low, mut high, mut is_exact) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], [true; 3]);
    for position in positions {
        for axis in 0..3 {
            let x = position[axis];
            (low[axis], high[axis]) = (low[axis].min(x), high[axis].max(x));
            is_exact[axis] &= f64::from(x as f32) == x || x.is_nan();
        }
    }
    let extent = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    let origin = [0, 1, 2].map(|axis| {
        let size = low[axis].abs().max(high[axis].abs());
        let is_far = extent > 0.0 && size.is_finite() && size > FAR_RATIO * extent;
        if is_far && !is_exact[axis] { low[axis] } else { 0.0 }
    });
    let from_origin = |position: &[f64; 3]| [0, 1, 2].map(|axis| (position[axis] - origin[axis]) as f32);
    (positions.iter().map(from_origin).collect(), origin)
}
