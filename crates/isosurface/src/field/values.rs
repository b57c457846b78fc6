//! What samples mean that are no ordinary numbers, and where between two samples the surface is. In
//! kernels: `shaders/field/values.wgsl`.

/// How far a sample is above the isovalue: not negative exactly if it is inside. What is no number is outside, as far as
/// can be; so is minus infinity. Finite, so that every cell can be decided.
///
/// In `f64`, where the difference of two numbers that are not of very different size is exact. Rounded to `f32` it would
/// not do: faces of whole numbers often have saddles very close to a decimal fraction.
pub fn difference(sample: f32, isovalue: f32) -> f64 {
    // Beyond every difference of numbers, and powers of it that decisions take are finite.
    const FAR: f64 = 1e60;
    if sample.is_nan() { -FAR } else { (f64::from(sample) - f64::from(isovalue)).clamp(-FAR, FAR) }
}

/// Where between two samples the surface is, one of which is inside and the other is not: 0 at the first, 1 at the
/// second. At an infinite sample's neighbour, and halfway where both are infinite.
pub fn between(first: f32, second: f32, isovalue: f32) -> f64 {
    let [a, b] = [first, second].map(|sample| difference(sample, isovalue));
    a / (a - b)
}
