//! Functions of one `f64`, from `libm`.
//!
//! Functions of `libm` have the same bits on all processors, because they consist of operations
//! that IEEE 754 defines; so do the instructions of its feature `arch`. The x87 instructions for
//! x86 without SSE2 are irrelevant, as the code generator has no such target.

macro_rules! double_functions {
    ($($name:ident($($operand:ident)*);)*) => { $(
        #[doc = concat!("`", stringify!($name), "` of `libm`.")]
        pub extern "C" fn $name($($operand: f64),*) -> f64 {
            libm::$name($($operand),*)
        }
    )* };
}

/// `acosh` of `libm`, and NaN for operands below 1: `libm` returns finite values for some operands
/// below −1.
pub extern "C" fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

double_functions! {
    sin(x);
    cos(x);
    tan(x);
    asin(x);
    acos(x);
    atan(x);
    atan2(y x);
    sinh(x);
    cosh(x);
    tanh(x);
    asinh(x);
    atanh(x);
    exp(x);
    exp2(x);
    log(x);
    log2(x);
    pow(x y);
    fma(a b c);
}
