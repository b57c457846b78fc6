//! Difference of samples and isovalue, including NaN and infinities, and the position of the
//! surface between two samples. Equivalent to `shaders/field/values.wgsl`.

/// Signed difference of a sample and the isovalue: not negative exactly if the sample is inside.
/// NaN and minus infinity are outside, at the maximum distance. Always finite, so that every cell
/// can be decided.
///
/// In `f64`, in which the difference of numbers of similar magnitude is exact. `f32` is
/// insufficient: faces of integers often have saddles very close to a decimal fraction.
pub(crate) fn difference(sample: f32, isovalue: f32) -> f64 {
    // Exceeds every difference of numbers; the powers of it that decisions use are finite.
    const FAR: f64 = 1e60;
    if sample.is_nan() { -FAR } else { (f64::from(sample) - f64::from(isovalue)).clamp(-FAR, FAR) }
}

/// Position of the surface between an inside and an outside sample: 0 at the first, 1 at the
/// second. Next to an infinite sample it is at the neighbour; between two infinite samples it is
/// halfway.
pub(crate) fn between(first: f32, second: f32, isovalue: f32) -> f64 {
    let [a, b] = [first, second].map(|sample| difference(sample, isovalue));
    a / (a - b)
}
