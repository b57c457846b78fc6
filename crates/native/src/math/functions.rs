use super::lane::{Float, Operations};
use super::{exponential, hyperbolic, inverse, logarithm, power, trigonometric};
use crate::ir::Function;

/// Applies the formula of a function; `None` for a function without formula, or a wrong number of
/// operands.
pub(super) fn apply<O: Operations>(function: Function, operands: &[Float<O>]) -> Option<Float<O>> {
    let result = match (function, operands) {
        (Function::Sin, &[x]) => trigonometric::sin(x),
        (Function::Cos, &[x]) => trigonometric::cos(x),
        (Function::Tan, &[x]) => trigonometric::tan(x),
        (Function::Asin, &[x]) => inverse::asin(x),
        (Function::Acos, &[x]) => inverse::acos(x),
        (Function::Atan, &[x]) => inverse::atan(x),
        (Function::Atan2, &[y, x]) => inverse::atan2(y, x),
        (Function::Sinh, &[x]) => hyperbolic::sinh(x),
        (Function::Cosh, &[x]) => hyperbolic::cosh(x),
        (Function::Tanh, &[x]) => hyperbolic::tanh(x),
        (Function::Asinh, &[x]) => hyperbolic::asinh(x),
        (Function::Acosh, &[x]) => hyperbolic::acosh(x),
        (Function::Atanh, &[x]) => hyperbolic::atanh(x),
        (Function::Exp, &[x]) => exponential::exp(x),
        (Function::Exp2, &[x]) => exponential::exp2(x),
        (Function::Log, &[x]) => logarithm::log(x),
        (Function::Log2, &[x]) => logarithm::log2(x),
        (Function::Pow, &[x, y]) => power::pow(x, y),
        _ => return None,
    };
    Some(result)
}
