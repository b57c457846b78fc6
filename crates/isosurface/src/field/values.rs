//! Differences of samples and isovalue, including NaN and infinities, and positions of the surface
//! between samples. In kernels: `shaders/field/values.wgsl`.

/// Signed difference of a sample and the isovalue, never negative for inside samples. Always
/// finite: NaN and minus infinity are outside, at the maximum distance.
///
/// `f64` makes differences of similar numbers exact; in `f32`, faces of integers often have saddles
/// very close to a decimal fraction.
pub(crate) fn difference(sample: f32, isovalue: f32) -> f64 {
    // Exceeds every difference of numbers; its products in decisions are finite.
    const FAR: f64 = 1e60;
    if sample.is_nan() { -FAR } else { (f64::from(sample) - f64::from(isovalue)).clamp(-FAR, FAR) }
}

/// Position of the surface between an inside (0) and an outside (1) sample. Next to an infinite
/// sample it is at the neighbour, between two infinite samples halfway.
pub(crate) fn between(first: f32, second: f32, isovalue: f32) -> f64 {
    let [a, b] = [first, second].map(|sample| difference(sample, isovalue));
    a / (a - b)
}
