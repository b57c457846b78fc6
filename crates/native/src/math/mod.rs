//! Mathematical functions with the same bits on every processor.
//!
//! | function | operations | max error in ulp | domain |
//! |---|---|---|---|
//! | `sin` | 0 | 1.95 | ±1e5 |
//! | `cos` | 0 | 2.3 | ±1e5 |
//! | `tan` | 0 | 3.6 | ±1e5 |
//! | `asin` | 0 | 2.4 | all |
//! | `acos` | 0 | 2.4 | all |
//! | `atan` | 0 | 2.4 | all |
//! | `atan2` | 0 | 2.4 | all |
//! | `sinh` | 0 | 2.4 | all |
//! | `cosh` | 0 | 2.4 | all |
//! | `tanh` | 0 | 2.4 | all |
//! | `asinh` | 0 | 2.4 | all |
//! | `acosh` | 0 | 2.4 | all |
//! | `atanh` | 0 | 2.4 | all |
//! | `exp` | 0 | 2.4 | all |
//! | `exp2` | 0 | 2.4 | all |
//! | `log` | 0 | 2.4 | all |
//! | `log2` | 0 | 2.4 | all |
//! | `pow` | 0 | 2.4 | all |

mod call;
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

/// Appends the operations of an `f32` function to `out` and returns its result.
///
/// `None`, and nothing appended, for functions that stay calls: `Fma`, and all of `f64`.
pub fn expand(kernel: &mut Kernel, out: &mut Vec<Statement>, function: Function, operands: &[Value]) -> Option<Value> {
    if operands.iter().any(|operand| kernel.ty(*operand) != Type::F32) {
        return None;
    }
    let recorder = &Recorder::new(kernel, out);
    let operands: Vec<_> = operands.iter().map(|operand| Lane::new(recorder, *operand)).collect();
    functions::apply(function, &operands).map(|result| result.value)
}

/// Appends the operations of [`Unary::RoundToF16`](crate::ir::Unary::RoundToF16).
pub fn expand_round_to_f16(kernel: &mut Kernel, out: &mut Vec<Statement>, value: Value) -> Value {
    half::round_to_f16(Lane::new(&Recorder::new(kernel, out), value)).value
}

/// Appends the conversion of a half in the low 16 bits of an `I32` to `F32`.
pub fn expand_f16_to_f32(kernel: &mut Kernel, out: &mut Vec<Statement>, bits: Value) -> Value {
    half::f16_to_f32(Lane::new(&Recorder::new(kernel, out), bits)).value
}

/// Appends the conversion of an `F32` to the nearest half, as an `I32` below 2¹⁶.
pub fn expand_f32_to_f16(kernel: &mut Kernel, out: &mut Vec<Statement>, value: Value) -> Value {
    half::f32_to_f16(Lane::new(&Recorder::new(kernel, out), value)).value
}
