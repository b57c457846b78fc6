//! Functions of one `f64`, from `libm`.
//!
//! The functions of `libm` are portable: they consist of operations of IEEE 754, which each
//! processor rounds alike. Its feature `arch`, on by default, replaces only square roots, rounding
//! and `fma` by instructions, whose results IEEE 754 defines, too. The feature is worth its speed,
//! and Cargo would join it from other dependents anyway. x86 without SSE2, where `libm` uses x87
//! instructions, is no target of the code generator.

macro_rules! double_functions {
    ($($name:ident($($operand:ident)*);)*) => { $(
        #[doc = concat!("`", stringify!($name), "` of `libm`.")]
        pub extern "C" fn $name($($operand: f64),*) -> f64 {
            libm::$name($($operand),*)
        }
    )* };
}

/// `acosh` of `libm`, which alone returns finite values for some operands below −1.
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
