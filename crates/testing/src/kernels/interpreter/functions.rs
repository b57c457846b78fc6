//! Library functions of floats.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryFunction {
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
    /// `atan2(y, x)`: the first operand is y.
    Atan2,
    Pow,
}

/// Functions of one operand ignore `y`. For `f16`, the interpreter rounds the result of `f32`.
pub trait Functions: Sync {
    fn single(&self, function: LibraryFunction, x: f32, y: f32) -> f32;
    fn double(&self, function: LibraryFunction, x: f64, y: f64) -> f64;
}

pub struct Libm;

impl Functions for Libm {
    fn single(&self, function: LibraryFunction, x: f32, y: f32) -> f32 {
        match function {
            LibraryFunction::Sin => libm::sinf(x),
            LibraryFunction::Cos => libm::cosf(x),
            LibraryFunction::Tan => libm::tanf(x),
            LibraryFunction::Asin => libm::asinf(x),
            LibraryFunction::Acos => libm::acosf(x),
            LibraryFunction::Atan => libm::atanf(x),
            LibraryFunction::Sinh => libm::sinhf(x),
            LibraryFunction::Cosh => libm::coshf(x),
            LibraryFunction::Tanh => libm::tanhf(x),
            LibraryFunction::Asinh => libm::asinhf(x),
            LibraryFunction::Acosh => libm::acoshf(x),
            LibraryFunction::Atanh => libm::atanhf(x),
            LibraryFunction::Exp => libm::expf(x),
            LibraryFunction::Exp2 => libm::exp2f(x),
            LibraryFunction::Log => libm::logf(x),
            LibraryFunction::Log2 => libm::log2f(x),
            LibraryFunction::Atan2 => libm::atan2f(x, y),
            LibraryFunction::Pow => libm::powf(x, y),
        }
    }

    fn double(&self, function: LibraryFunction, x: f64, y: f64) -> f64 {
        match function {
            LibraryFunction::Sin => libm::sin(x),
            LibraryFunction::Cos => libm::cos(x),
            LibraryFunction::Tan => libm::tan(x),
            LibraryFunction::Asin => libm::asin(x),
            LibraryFunction::Acos => libm::acos(x),
            LibraryFunction::Atan => libm::atan(x),
            LibraryFunction::Sinh => libm::sinh(x),
            LibraryFunction::Cosh => libm::cosh(x),
            LibraryFunction::Tanh => libm::tanh(x),
            LibraryFunction::Asinh => libm::asinh(x),
            LibraryFunction::Acosh => libm::acosh(x),
            LibraryFunction::Atanh => libm::atanh(x),
            LibraryFunction::Exp => libm::exp(x),
            LibraryFunction::Exp2 => libm::exp2(x),
            LibraryFunction::Log => libm::log(x),
            LibraryFunction::Log2 => libm::log2(x),
            LibraryFunction::Atan2 => libm::atan2(x, y),
            LibraryFunction::Pow => libm::pow(x, y),
        }
    }
}
