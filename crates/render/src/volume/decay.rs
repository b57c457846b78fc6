//! Exponentials with the same operations as `shaders/volume/decay.wgsl`; built-in functions of
//! drivers differ by more than the tolerance of samples.

/// `1 - exp(-depth)` for `depth >= 0`, with a relative error of a few units in the last place.
pub(super) fn absorbed(depth: f32) -> f32 {
    let (power, rest) = decay_of(depth);
    (1.0 - power) + power * rest
}

/// `base` to the power of `exponent`, for a base of 0 to 1 and a positive exponent.
pub(super) fn power_of(base: f32, exponent: f32) -> f32 {
    // Logarithm: base = m 2^e with m near 1, and ln m by the artanh series.
    let bits = base.max(1e-30).to_bits();
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let whole = (shifted as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((whole << 23) as u32));
    let z = (m - 1.0) / (m + 1.0);
    let z2 = z * z;
    let series = 2.0 * z * (1.0 + z2 * (1.0 / 3.0 + z2 * (0.2 + z2 * (1.0 / 7.0 + z2 * (1.0 / 9.0)))));
    let ln = whole as f32 * std::f32::consts::LN_2 + series;
    let (power, rest) = decay_of((-ln * exponent).max(0.0));
    power - power * rest
}

/// `exp(-depth)` as `power * (1 - rest)`, with a power of two and a small rest.
fn decay_of(depth: f32) -> (f32, f32) {
    let depth = depth.min(80.0);
    let whole = (depth * std::f32::consts::LOG2_E + 0.5).floor();
    // ln 2 in two parts. The first has few digits, so that the difference is exact.
    let r = (depth - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let sixth = 1.0 / 120.0 - r * (1.0 / 720.0 - r * (1.0 / 5040.0));
    let rest = r * (1.0 - r * (0.5 - r * (1.0 / 6.0 - r * (1.0 / 24.0 - r * sixth))));
    (f32::from_bits((127 - whole as u32) << 23), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_to_a_few_units() {
        for step in 0..40_000 {
            let depth = 1e-6 * 1.0006_f64.powi(step);
            let (found, wanted) = (f64::from(absorbed(depth as f32)), -f64::from(-(depth as f32)).exp_m1());
            assert!((found / wanted - 1.0).abs() < 2.5e-7, "{depth}: {found} {wanted}");
        }
        assert_eq!((absorbed(0.0), absorbed(1e9), absorbed(f32::INFINITY)), (0.0, 1.0, 1.0));
    }

    #[test]
    fn powers_are_those_of_the_library() {
        for exponent in [1.0, 2.5, 10.0, 100.0, 1000.0] {
            for step in 0..=1000 {
                let base = step as f32 / 1000.0;
                let (found, wanted) = (f64::from(power_of(base, exponent)), f64::from(base).powf(exponent.into()));
                assert!(
                    (found - wanted).abs() < 4e-7 * f64::from(exponent).max(1.0).sqrt(),
                    "{base}^{exponent}: {found} {wanted}"
                );
            }
            assert!(
                power_of(1.0, exponent) == 1.0
                    && power_of(1.000_000_1, exponent) == 1.0
                    && power_of(0.0, exponent) < 1e-29
            );
        }
    }
}
