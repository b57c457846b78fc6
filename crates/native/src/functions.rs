//! Functions of the host that generated code calls.

use crate::ir::{Function, Type};

macro_rules! unary {
    ($($name:ident $f32:path, $f64:path;)*) => {
        mod single { $(pub extern "C" fn $name(a: f32) -> f32 { $f32(a) })* }
        mod double { $(pub extern "C" fn $name(a: f64) -> f64 { $f64(a) })* }
    };
}

unary! {
    sin libm::sinf, libm::sin;
    cos libm::cosf, libm::cos;
    tan libm::tanf, libm::tan;
    asin libm::asinf, libm::asin;
    acos libm::acosf, libm::acos;
    atan libm::atanf, libm::atan;
    sinh libm::sinhf, libm::sinh;
    cosh libm::coshf, libm::cosh;
    tanh libm::tanhf, libm::tanh;
    asinh libm::asinhf, libm::asinh;
    acosh libm::acoshf, libm::acosh;
    atanh libm::atanhf, libm::atanh;
    exp libm::expf, libm::exp;
    exp2 libm::exp2f, libm::exp2;
    log libm::logf, libm::log;
    log2 libm::log2f, libm::log2;
}

extern "C" fn atan2_single(a: f32, b: f32) -> f32 {
    libm::atan2f(a, b)
}

extern "C" fn atan2_double(a: f64, b: f64) -> f64 {
    libm::atan2(a, b)
}

extern "C" fn pow_single(a: f32, b: f32) -> f32 {
    libm::powf(a, b)
}

extern "C" fn pow_double(a: f64, b: f64) -> f64 {
    libm::pow(a, b)
}

extern "C" fn fma_single(a: f32, b: f32, c: f32) -> f32 {
    libm::fmaf(a, b, c)
}

extern "C" fn fma_double(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

/// Address of a function of floats of a type.
pub fn address(function: Function, ty: Type) -> *const u8 {
    macro_rules! pick {
        ($name:ident) => {
            if ty == Type::F64 { double::$name as *const u8 } else { single::$name as *const u8 }
        };
        ($single:ident, $double:ident) => {
            if ty == Type::F64 { $double as *const u8 } else { $single as *const u8 }
        };
    }
    match function {
        Function::Sin => pick!(sin),
        Function::Cos => pick!(cos),
        Function::Tan => pick!(tan),
        Function::Asin => pick!(asin),
        Function::Acos => pick!(acos),
        Function::Atan => pick!(atan),
        Function::Sinh => pick!(sinh),
        Function::Cosh => pick!(cosh),
        Function::Tanh => pick!(tanh),
        Function::Asinh => pick!(asinh),
        Function::Acosh => pick!(acosh),
        Function::Atanh => pick!(atanh),
        Function::Exp => pick!(exp),
        Function::Exp2 => pick!(exp2),
        Function::Log => pick!(log),
        Function::Log2 => pick!(log2),
        Function::Atan2 => pick!(atan2_single, atan2_double),
        Function::Pow => pick!(pow_single, pow_double),
        Function::Fma => pick!(fma_single, fma_double),
    }
}
