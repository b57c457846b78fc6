//! Functions of floats that no processor computes in one operation.

/// Function with one or two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Exp2,
    Log,
    Log2,
    /// Of `(y, x)`.
    Atan2,
    Pow,
}

/// A library of functions. Functions with one operand ignore `y`.
///
/// `f16` uses `f32` and rounds the result.
pub trait Functions: Sync {
    fn single(&self, function: Function, x: f32, y: f32) -> f32;
    fn double(&self, function: Function, x: f64, y: f64) -> f64;
}

/// The functions of the crate `libm`.
pub struct Libm;

impl Functions for Libm {
    fn single(&self, function: Function, x: f32, y: f32) -> f32 {
        match function {
            Function::Sin => libm::sinf(x),
            Function::Cos => libm::cosf(x),
            Function::Tan => libm::tanf(x),
            Function::Asin => libm::asinf(x),
            Function::Acos => libm::acosf(x),
            Function::Atan => libm::atanf(x),
            Function::Sinh => libm::sinhf(x),
            Function::Cosh => libm::coshf(x),
            Function::Tanh => libm::tanhf(x),
            Function::Asinh => libm::asinhf(x),
            Function::Acosh => libm::acoshf(x),
            Function::Atanh => libm::atanhf(x),
            Function::Exp => libm::expf(x),
            Function::Exp2 => libm::exp2f(x),
            Function::Log => libm::logf(x),
            Function::Log2 => libm::log2f(x),
            Function::Atan2 => libm::atan2f(x, y),
            Function::Pow => libm::powf(x, y),
        }
    }

    fn double(&self, function: Function, x: f64, y: f64) -> f64 {
        match function {
            Function::Sin => libm::sin(x),
            Function::Cos => libm::cos(x),
            Function::Tan => libm::tan(x),
            Function::Asin => libm::asin(x),
            Function::Acos => libm::acos(x),
            Function::Atan => libm::atan(x),
            Function::Sinh => libm::sinh(x),
            Function::Cosh => libm::cosh(x),
            Function::Tanh => libm::tanh(x),
            Function::Asinh => libm::asinh(x),
            Function::Acosh => libm::acosh(x),
            Function::Atanh => libm::atanh(x),
            Function::Exp => libm::exp(x),
            Function::Exp2 => libm::exp2(x),
            Function::Log => libm::log(x),
            Function::Log2 => libm::log2(x),
            Function::Atan2 => libm::atan2(x, y),
            Function::Pow => libm::pow(x, y),
        }
    }
}
