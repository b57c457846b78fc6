//! Mathematical functions with the same bits on every processor.
//!
//! A function of `f32` is a formula: a fixed sequence of operations that IEEE 754 defines
//! completely, without branches, tables or `fma`. [`expand`] writes the formula into a kernel,
//! where it runs in vectors; [`scalar`] evaluates the same formula for one number. Functions of
//! `f64`, and `fma` of both types, are calls ([`call_of`]).
//!
//! The table lists the number of operations without reinterpretations of bits, and the greatest
//! distance from the exact result in units in the last place (ulp), rounded up, for operands of a
//! domain. Samples are every third operand, or 7 · 10⁷ random pairs, including subnormal operands
//! and results.
//!
//! | function | operations | max error in ulp | domain |
//! |---|---|---|---|
//! | `sin` | 32 | 2.2 | ±1e5 |
//! | `cos` | 32 | 3.5 | ±1e5 |
//! | `tan` | 36 | 6.4 | ±1e5 |
//! | `asin` | 25 | 2.4 | all |
//! | `acos` | 29 | 1.2 | all |
//! | `atan` | 30 | 1.7 | all |
//! | `atan2` | 39 | 1.8 | all |
//! | `sinh` | 42 | 1.7 | all |
//! | `cosh` | 30 | 1.5 | all |
//! | `tanh` | 43 | 1.4 | all |
//! | `asinh` | 44 | 1.9 | all |
//! | `acosh` | 43 | 2.2 | all |
//! | `atanh` | 40 | 2.2 | all |
//! | `exp` | 27 | 1.1 | all |
//! | `exp2` | 23 | 1.2 | all |
//! | `log` | 32 | 1.0 | all |
//! | `log2` | 30 | 1.9 | all |
//! | `pow` | 128 | 1.3 | all |
//!
//! Special cases are those of C (IEEE 754, clause 9.2.1): signs of zeros, infinities, NaN beyond
//! the domain of a function. In particular:
//!
//! * Up to ±25,000, `cos` and `tan` err by at most 2.4 and 3.6 ulp; greater errors occur next to
//!   odd multiples of π/2 beyond.
//! * Beyond ±10⁵, `sin`, `cos` and `tan` remain finite, and sine and cosine within ±1. Up to ±10⁷
//!   the error of sine and cosine is at most 10⁻⁶ plus one ulp of the operand.
//! * `pow(x, y)` of a negative `x` has the sign of the parity of an integer `y`, and is NaN for
//!   other finite `y`. `pow(x, 0) = pow(1, y) = 1` even for NaN. `pow(x, 2) = x · x`, one operation
//!   for a constant exponent.
//! * `acosh(x)` is NaN for `x < 1`.
//!
//! Halves: [`expand_round_to_f16`] takes 10 operations, [`expand_f16_to_f32`] 13 and
//! [`expand_f32_to_f16`] 15.

mod call;
pub mod double;
mod evaluate;
mod exponential;
mod functions;
mod half;
mod hyperbolic;
mod inverse;
mod lane;
mod logarithm;
mod power;
mod record;
pub mod scalar;
mod trigonometric;

#[cfg(test)]
mod tests;

pub use call::{Call, call_of};

use crate::ir::{Function, Kernel, Statement, Type, Value};
use lane::Lane;
use record::Recorder;

/// Appends the operations of an `f32` function to `out`, and returns the result. `None`, without
/// operations, for functions that remain calls: `Fma`, and all functions of `f64`.
pub fn expand(kernel: &mut Kernel, out: &mut Vec<Statement>, function: Function, operands: &[Value]) -> Option<Value> {
    if operands.iter().any(|operand| kernel.ty(*operand) != Type::F32) {
        return None;
    }
    let recorder = Recorder::new(kernel, out);
    let operands: Vec<_> = operands.iter().map(|operand| Lane::new(&recorder, *operand)).collect();
    let result = functions::apply(function, &operands)?.value;
    Some(recorder.finish(result))
}

/// Appends the operations of [`Unary::RoundToF16`](crate::ir::Unary::RoundToF16).
pub fn expand_round_to_f16(kernel: &mut Kernel, out: &mut Vec<Statement>, value: Value) -> Value {
    let recorder = Recorder::new(kernel, out);
    let result = half::round_to_f16(Lane::new(&recorder, value)).value;
    recorder.finish(result)
}

/// Appends the conversion of a half in the low 16 bits of an `I32` to `F32`.
pub fn expand_f16_to_f32(kernel: &mut Kernel, out: &mut Vec<Statement>, bits: Value) -> Value {
    let recorder = Recorder::new(kernel, out);
    let result = half::f16_to_f32(Lane::new(&recorder, bits)).value;
    recorder.finish(result)
}

/// Appends the conversion of an `F32` to the nearest half, as an `I32` below 2¹⁶.
pub fn expand_f32_to_f16(kernel: &mut Kernel, out: &mut Vec<Statement>, value: Value) -> Value {
    let recorder = Recorder::new(kernel, out);
    let result = half::f32_to_f16(Lane::new(&recorder, value)).value;
    recorder.finish(result)
}
