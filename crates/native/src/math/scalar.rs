//! Functions of one `f32`, with the bits of their expansions.

use super::evaluate::{evaluate, evaluate_pair};
use super::lane::Lane;
use super::{evaluate::Evaluate, exponential, half, hyperbolic, inverse, logarithm, power, trigonometric};

macro_rules! formulas {
    ($($name:ident = $formula:path, $summary:literal;)*) => { $(
        #[doc = $summary]
        pub extern "C" fn $name(x: f32) -> f32 {
            evaluate(x, $formula)
        }
    )* };
}

formulas! {
    sin = trigonometric::sin, "Sine.";
    cos = trigonometric::cos, "Cosine.";
    tan = trigonometric::tan, "Tangent.";
    asin = inverse::asin, "Arcsine.";
    acos = inverse::acos, "Arccosine.";
    atan = inverse::atan, "Arctangent.";
    sinh = hyperbolic::sinh, "Hyperbolic sine.";
    cosh = hyperbolic::cosh, "Hyperbolic cosine.";
    tanh = hyperbolic::tanh, "Hyperbolic tangent.";
    asinh = hyperbolic::asinh, "Inverse hyperbolic sine.";
    acosh = hyperbolic::acosh, "Inverse hyperbolic cosine.";
    atanh = hyperbolic::atanh, "Inverse hyperbolic tangent.";
    exp = exponential::exp, "e^x";
    exp2 = exponential::exp2, "2^x";
    log = logarithm::log, "Natural logarithm.";
    log2 = logarithm::log2, "Logarithm to base 2.";
    round_to_f16 = half::round_to_f16, "The nearest half, kept as `f32`.";
}

/// Angle of the point (x, y) in radians.
pub extern "C" fn atan2(y: f32, x: f32) -> f32 {
    evaluate_pair(y, x, inverse::atan2)
}

/// x^y
pub extern "C" fn pow(x: f32, y: f32) -> f32 {
    evaluate_pair(x, y, power::pow)
}

/// Value of a half.
pub fn f16_to_f32(bits: u16) -> f32 {
    f32::from_bits(half::f16_to_f32(Lane::new(Evaluate, bits.into())).value)
}

/// Bits of the nearest half.
pub fn f32_to_f16(x: f32) -> u16 {
    half::f32_to_f16(Lane::new(Evaluate, x.to_bits())).value as u16
}

/// `a · b + c`, rounded once. `libm::fmaf` rounds some subnormal results twice on processors
/// without the instruction.
pub extern "C" fn fma(a: f32, b: f32, c: f32) -> f32 {
    // Exact: 48 bits of 53.
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    // Knuth's two-sum: the exact error of the sum.
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    // Rounding to odd: the sum becomes a tie of the second rounding only if the exact result is
    // one.
    let bits = sum.to_bits();
    if !sum.is_finite() || error == 0.0 || bits & 1 == 1 {
        return sum as f32;
    }
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away_from_zero { bits + 1 } else { bits - 1 }) as f32
}
