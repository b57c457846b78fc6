//! Tests of expansions against scalar functions, and of scalar functions against `f64`.

mod accuracy;
mod calls;
mod expansion;
mod half;
mod interpreter;
mod portable;

use zippy_testing::random::XorShift;

use crate::ir::Function;

const FORMULAS: [(Function, usize); 18] = [
    (Function::Sin, 1),
    (Function::Cos, 1),
    (Function::Tan, 1),
    (Function::Asin, 1),
    (Function::Acos, 1),
    (Function::Atan, 1),
    (Function::Atan2, 2),
    (Function::Sinh, 1),
    (Function::Cosh, 1),
    (Function::Tanh, 1),
    (Function::Asinh, 1),
    (Function::Acosh, 1),
    (Function::Atanh, 1),
    (Function::Exp, 1),
    (Function::Exp2, 1),
    (Function::Log, 1),
    (Function::Log2, 1),
    (Function::Pow, 2),
];

/// Magnitudes at the boundaries of formulas and formats.
const EDGES: [f32; 48] = [
    0.0,
    1e-45,
    2.8e-45,
    1e-40,
    1.175_494_2e-38,
    f32::MIN_POSITIVE,
    1.2e-38,
    1e-30,
    1e-20,
    5.96e-8,
    1.2e-7,
    3.452_669_8e-4,
    0.1,
    0.25,
    0.499_999_97,
    0.5,
    0.500_000_06,
    0.625,
    std::f32::consts::LN_2,
    std::f32::consts::FRAC_1_SQRT_2,
    std::f32::consts::FRAC_PI_4,
    0.999_999_94,
    1.0,
    1.000_000_1,
    std::f32::consts::SQRT_2,
    1.5,
    std::f32::consts::FRAC_PI_2,
    2.0,
    std::f32::consts::E,
    3.0,
    std::f32::consts::PI,
    4.0,
    7.5,
    9.02,
    10.0,
    87.336_55,
    88.722_84,
    89.42,
    103.972_08,
    127.0,
    128.0,
    149.0,
    151.0,
    99_999.0,
    16_777_215.0,
    67_108_864.0,
    f32::MAX,
    f32::INFINITY,
];

/// [`EDGES`] with both signs, and NaN.
fn special_values() -> Vec<f32> {
    EDGES.into_iter().flat_map(|edge| [edge, -edge]).chain([f32::NAN]).collect()
}

fn scalar(function: Function, x: f32, y: f32) -> f32 {
    use super::scalar;
    match function {
        Function::Sin => scalar::sin(x),
        Function::Cos => scalar::cos(x),
        Function::Tan => scalar::tan(x),
        Function::Asin => scalar::asin(x),
        Function::Acos => scalar::acos(x),
        Function::Atan => scalar::atan(x),
        Function::Atan2 => scalar::atan2(x, y),
        Function::Sinh => scalar::sinh(x),
        Function::Cosh => scalar::cosh(x),
        Function::Tanh => scalar::tanh(x),
        Function::Asinh => scalar::asinh(x),
        Function::Acosh => scalar::acosh(x),
        Function::Atanh => scalar::atanh(x),
        Function::Exp => scalar::exp(x),
        Function::Exp2 => scalar::exp2(x),
        Function::Log => scalar::log(x),
        Function::Log2 => scalar::log2(x),
        Function::Pow => scalar::pow(x, y),
        Function::Fma => unreachable!("has no formula"),
    }
}

struct Random(XorShift);

impl Random {
    fn new(seed: u64) -> Self {
        Self(XorShift::new(seed))
    }

    fn next_bits(&mut self) -> u32 {
        (self.0.next_u64() >> 16) as u32
    }

    /// Any bit pattern.
    fn next_float(&mut self) -> f32 {
        f32::from_bits(self.next_bits())
    }

    fn next_between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next_bits() as f32 / 4_294_967_296.0)
    }
}
