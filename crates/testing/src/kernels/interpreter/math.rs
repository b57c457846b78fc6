//! Built-in functions by their definitions in the WGSL specification.
//!
//! A function of `f16` is computed in `f32`, and its result is rounded once.
//!
//! The specification leaves some orders of operations open. Here, sums go from the first component
//! to the last, `((a₀b₀ + a₁b₁) + a₂b₂) + a₃b₃`, and products from left to right in these
//! definitions:
//!
//! * `clamp(x, l, h) = min(max(x, l), h)`, `saturate(x) = clamp(x, 0, 1)`
//! * `sign(x) = 0 < x ? 1 : x < 0 ? −1 : 0`, so 0 for −0 and NaN
//! * `fract(x) = x − floor(x)`; `modf(x)`: `x − trunc(x)` and `trunc(x)`
//! * `frexp(x)`: `(x, 0)` for zeros, infinities and NaN; the exponent is as wide as `x`
//! * `ldexp(x, e) = x · 2ᵉ`, rounded once
//! * `degrees(x) = x · 57.29577951308232`, `radians(x) = x · 0.017453292519943295`
//! * `inverseSqrt(x) = 1 / sqrt(x)`
//! * `mix(x, y, t) = x · (1 − t) + y · t`, `step(e, x) = e <= x ? 1 : 0`
//! * `smoothstep(l, h, x) = (t · t) · (3 − 2 · t)` with `t = clamp((x − l) / (h − l), 0, 1)`
//! * `length(v) = sqrt(dot(v, v))`, `length(x) = abs(x)`, `distance(a, b) = length(a − b)`
//! * `normalize(v) = v / length(v)`, `faceForward(n, i, r) = dot(i, r) < 0 ? n : −n`
//! * `reflect(i, n) = i − (2 · dot(n, i)) · n`
//! * `refract(i, n, e)`: 0 where `k < 0`, else `e · i − (e · dot(n, i) + sqrt(k)) · n`, with
//!   `k = 1 − (e · e) · (1 − dot(n, i) · dot(n, i))`
//! * `cross(a, b).x = a.y · b.z − a.z · b.y` and cyclically
//! * `determinant`: by the first column, `m₀ · d₀ − m₁ · d₁ + m₂ · d₂ − m₃ · d₃`, with the
//!   determinants `dᵢ` of the other columns and rows

use half::f16;
use naga::MathFunction;

use super::functions::{Functions, LibraryFunction};
use super::scalar::{self, ScalarValue, add, divide, map_float, multiply, subtract};
use super::value::{Value, for_each_scalar_of};
use super::{bits, packing};

/// Applies `f` to each component of vectors, or to scalars. A scalar among vectors applies to each
/// component.
pub(super) fn componentwise(
    arguments: &[Value],
    mut f: impl FnMut(&[ScalarValue]) -> Result<ScalarValue, String>,
) -> Result<Value, String> {
    let mut operands = [ScalarValue::Bool(false); 4];
    let mut apply = |component: usize| {
        for (operand, argument) in operands.iter_mut().zip(arguments) {
            *operand = match argument {
                Value::Scalar(scalar) => *scalar,
                _ => *argument.components()?.get(component).ok_or("vectors of different sizes")?,
            };
        }
        f(&operands[..arguments.len()])
    };
    match arguments.iter().find(|argument| !matches!(argument, Value::Scalar(_))) {
        None => apply(0).map(Value::Scalar),
        Some(vector) => (0..vector.components()?.len()).map(apply).collect::<Result<_, _>>().map(Value::Vector),
    }
}

pub(super) fn evaluate(
    functions: &dyn Functions,
    function: MathFunction,
    mut arguments: Vec<Value>,
) -> Result<Value, String> {
    let mut is_half = false;
    for argument in &mut arguments {
        for_each_scalar_of(argument, &mut |scalar| {
            if let ScalarValue::F16(x) = *scalar {
                is_half = true;
                *scalar = ScalarValue::F32(x.to_f32());
            }
        });
    }
    let mut result = evaluate_wide(functions, function, &arguments)?;
    if is_half {
        for_each_scalar_of(&mut result, &mut |scalar| match *scalar {
            ScalarValue::F32(x) => *scalar = ScalarValue::F16(f16::from_f32(x)),
            // `frexp` has an integer exponent.
            ScalarValue::I32(x) => *scalar = ScalarValue::I16(x as i16),
            _ => {}
        });
    }
    Ok(result)
}

fn evaluate_wide(functions: &dyn Functions, function: MathFunction, arguments: &[Value]) -> Result<Value, String> {
    use MathFunction as Mf;
    if let Some(function) = library_function(function) {
        return componentwise(arguments, |x| call_library(functions, function, x));
    }
    if let Some(result) = packing::evaluate(function, arguments) {
        return result;
    }
    match function {
        Mf::Dot => dot(arguments[0].components()?, arguments[1].components()?).map(Value::Scalar),
        Mf::Cross => cross(arguments[0].components()?, arguments[1].components()?).map(Value::Vector),
        Mf::Length => length(&arguments[0]).map(Value::Scalar),
        Mf::Distance => length(&componentwise(arguments, |x| subtract(x[0], x[1]))?).map(Value::Scalar),
        Mf::Normalize => {
            let length = length(&arguments[0])?;
            componentwise(&arguments[..1], |x| divide(x[0], length))
        }
        Mf::FaceForward => {
            let product = dot(arguments[1].components()?, arguments[2].components()?)?;
            let keep = scalar::less(product, product.same_type(0.0))?;
            componentwise(&arguments[..1], |x| if keep { Ok(x[0]) } else { negate(x[0]) })
        }
        Mf::Reflect => {
            let product = dot(arguments[1].components()?, arguments[0].components()?)?;
            let twice = multiply(product.same_type(2.0), product)?;
            componentwise(arguments, |x| subtract(x[0], multiply(twice, x[1])?))
        }
        Mf::Refract => refract(arguments),
        Mf::Outer => {
            let rows = arguments[0].components()?;
            let columns = arguments[1].components()?.iter();
            let columns = columns.map(|&y| rows.iter().map(|&x| multiply(x, y)).collect());
            columns.collect::<Result<_, _>>().map(Value::Matrix)
        }
        Mf::Transpose => {
            let columns = arguments[0].columns()?;
            let rows = 0..columns[0].len();
            Ok(Value::Matrix(rows.map(|row| columns.iter().map(|column| column[row]).collect()).collect()))
        }
        Mf::Determinant => determinant(arguments[0].columns()?).map(Value::Scalar),
        Mf::Modf => {
            let whole = componentwise(arguments, |x| scalar::truncate(x[0]))?;
            let fraction = componentwise(arguments, |x| subtract(x[0], scalar::truncate(x[0])?))?;
            Ok(Value::Composite(vec![fraction, whole]))
        }
        Mf::Frexp => {
            let fraction = componentwise(arguments, |x| Ok(frexp(x[0])?.0))?;
            let exponent = componentwise(arguments, |x| {
                let width = x[0].ty().width;
                ScalarValue::I32(frexp(x[0])?.1).convert(naga::Scalar { kind: naga::ScalarKind::Sint, width })
            })?;
            Ok(Value::Composite(vec![fraction, exponent]))
        }
        _ => componentwise(arguments, |x| one_component(function, x)),
    }
}

fn one_component(function: MathFunction, x: &[ScalarValue]) -> Result<ScalarValue, String> {
    use MathFunction as Mf;
    let number = |value| x[0].same_type(value);
    match function {
        Mf::Abs => abs(x[0]),
        Mf::Sign => sign(x[0]),
        Mf::Min => scalar::min(x[0], x[1]),
        Mf::Max => scalar::max(x[0], x[1]),
        Mf::Clamp => scalar::clamp(x[0], x[1], x[2]),
        Mf::Saturate => scalar::clamp(x[0], number(0.0), number(1.0)),
        Mf::Radians => multiply(x[0], number(0.017453292519943295)),
        Mf::Degrees => multiply(x[0], number(57.29577951308232)),
        Mf::Ceil => map_float(x[0], f32::ceil, f64::ceil),
        Mf::Floor => map_float(x[0], f32::floor, f64::floor),
        Mf::Round => map_float(x[0], f32::round_ties_even, f64::round_ties_even),
        Mf::Trunc => scalar::truncate(x[0]),
        Mf::Fract => subtract(x[0], map_float(x[0], f32::floor, f64::floor)?),
        Mf::Sqrt => map_float(x[0], f32::sqrt, f64::sqrt),
        Mf::InverseSqrt => divide(number(1.0), map_float(x[0], f32::sqrt, f64::sqrt)?),
        Mf::Fma => scalar::fused_multiply_add(x[0], x[1], x[2]),
        Mf::Mix => add(multiply(x[0], subtract(number(1.0), x[2])?)?, multiply(x[1], x[2])?),
        Mf::Step => {
            Ok(number(if scalar::binary(naga::BinaryOperator::LessEqual, x[0], x[1])?.as_bool()? { 1.0 } else { 0.0 }))
        }
        Mf::SmoothStep => {
            let quotient = divide(subtract(x[2], x[0])?, subtract(x[1], x[0])?)?;
            let t = scalar::clamp(quotient, number(0.0), number(1.0))?;
            multiply(multiply(t, t)?, subtract(number(3.0), multiply(number(2.0), t)?)?)
        }
        Mf::Ldexp => match (x[0], x[1]) {
            (ScalarValue::F32(x), ScalarValue::I32(e)) => Ok(ScalarValue::F32(libm::ldexpf(x, e))),
            (ScalarValue::F64(x), ScalarValue::I32(e)) => Ok(ScalarValue::F64(libm::ldexp(x, e))),
            _ => Err(format!("ldexp of {x:?}")),
        },
        Mf::QuantizeToF16 => match x[0] {
            ScalarValue::F32(x) => Ok(ScalarValue::F32(f16::from_f32(x).to_f32())),
            _ => Err(format!("quantizeToF16 of {x:?}")),
        },
        _ => bits::evaluate(function, x),
    }
}

fn library_function(function: MathFunction) -> Option<LibraryFunction> {
    use MathFunction as Mf;
    Some(match function {
        Mf::Sin => LibraryFunction::Sin,
        Mf::Cos => LibraryFunction::Cos,
        Mf::Tan => LibraryFunction::Tan,
        Mf::Asin => LibraryFunction::Asin,
        Mf::Acos => LibraryFunction::Acos,
        Mf::Atan => LibraryFunction::Atan,
        Mf::Sinh => LibraryFunction::Sinh,
        Mf::Cosh => LibraryFunction::Cosh,
        Mf::Tanh => LibraryFunction::Tanh,
        Mf::Asinh => LibraryFunction::Asinh,
        Mf::Acosh => LibraryFunction::Acosh,
        Mf::Atanh => LibraryFunction::Atanh,
        Mf::Exp => LibraryFunction::Exp,
        Mf::Exp2 => LibraryFunction::Exp2,
        Mf::Log => LibraryFunction::Log,
        Mf::Log2 => LibraryFunction::Log2,
        Mf::Atan2 => LibraryFunction::Atan2,
        Mf::Pow => LibraryFunction::Pow,
        _ => return None,
    })
}

fn call_library(
    functions: &dyn Functions,
    function: LibraryFunction,
    x: &[ScalarValue],
) -> Result<ScalarValue, String> {
    match (x[0], x.get(1).copied().unwrap_or(x[0])) {
        (ScalarValue::F32(x), ScalarValue::F32(y)) => Ok(ScalarValue::F32(functions.single(function, x, y))),
        (ScalarValue::F64(x), ScalarValue::F64(y)) => Ok(ScalarValue::F64(functions.double(function, x, y))),
        _ => Err(format!("{function:?} of {x:?}")),
    }
}

fn negate(x: ScalarValue) -> Result<ScalarValue, String> {
    scalar::unary(naga::UnaryOperator::Negate, x)
}

fn abs(x: ScalarValue) -> Result<ScalarValue, String> {
    Ok(match x {
        ScalarValue::I16(x) => ScalarValue::I16(x.wrapping_abs()),
        ScalarValue::I32(x) => ScalarValue::I32(x.wrapping_abs()),
        ScalarValue::I64(x) => ScalarValue::I64(x.wrapping_abs()),
        ScalarValue::U16(_) | ScalarValue::U32(_) | ScalarValue::U64(_) => x,
        _ => return map_float(x, f32::abs, f64::abs),
    })
}

fn sign(x: ScalarValue) -> Result<ScalarValue, String> {
    let zero = x.same_type(0.0);
    Ok(if scalar::less(zero, x)? {
        x.same_type(1.0)
    } else if scalar::less(x, zero)? {
        x.same_type(-1.0)
    } else {
        zero
    })
}

/// Fraction in [0.5, 1) and exponent.
fn frexp(x: ScalarValue) -> Result<(ScalarValue, i32), String> {
    let ordinary = |x: f64| x != 0.0 && x.is_finite();
    Ok(match x {
        ScalarValue::F32(x) if ordinary(x.into()) => {
            let (fraction, exponent) = libm::frexpf(x);
            (ScalarValue::F32(fraction), exponent)
        }
        ScalarValue::F64(x) if ordinary(x) => {
            let (fraction, exponent) = libm::frexp(x);
            (ScalarValue::F64(fraction), exponent)
        }
        ScalarValue::F32(_) | ScalarValue::F64(_) => (x, 0),
        _ => return Err(format!("frexp of {x:?}")),
    })
}

pub(super) fn dot(a: &[ScalarValue], b: &[ScalarValue]) -> Result<ScalarValue, String> {
    let mut sum = multiply(a[0], b[0])?;
    for (&a, &b) in a.iter().zip(b).skip(1) {
        sum = add(sum, multiply(a, b)?)?;
    }
    Ok(sum)
}

fn cross(a: &[ScalarValue], b: &[ScalarValue]) -> Result<Vec<ScalarValue>, String> {
    let component = |i: usize, j: usize| subtract(multiply(a[i], b[j])?, multiply(a[j], b[i])?);
    Ok(vec![component(1, 2)?, component(2, 0)?, component(0, 1)?])
}

fn length(value: &Value) -> Result<ScalarValue, String> {
    match value {
        Value::Scalar(x) => abs(*x),
        _ => map_float(dot(value.components()?, value.components()?)?, f32::sqrt, f64::sqrt),
    }
}

fn refract(arguments: &[Value]) -> Result<Value, String> {
    let (incident, normal) = (arguments[0].components()?, arguments[1].components()?);
    let ratio = arguments[2].scalar()?;
    let product = dot(normal, incident)?;
    let (zero, one) = (ratio.same_type(0.0), ratio.same_type(1.0));
    let k = subtract(one, multiply(multiply(ratio, ratio)?, subtract(one, multiply(product, product)?)?)?)?;
    if scalar::less(k, zero)? {
        return Ok(Value::Vector(vec![zero; incident.len()]));
    }
    let factor = add(multiply(ratio, product)?, map_float(k, f32::sqrt, f64::sqrt)?)?;
    componentwise(&arguments[..2], |x| subtract(multiply(ratio, x[0])?, multiply(factor, x[1])?))
}

fn determinant(columns: &[Vec<ScalarValue>]) -> Result<ScalarValue, String> {
    let (first, others) = columns.split_first().ok_or("a matrix without columns")?;
    if others.is_empty() {
        return Ok(first[0]);
    }
    let mut sum = None;
    for (row, &factor) in first.iter().enumerate() {
        let others = others.iter().map(|column| [&column[..row], &column[row + 1..]].concat());
        let product = multiply(factor, determinant(&others.collect::<Vec<_>>())?)?;
        sum = Some(match sum {
            None => product,
            Some(sum) if row % 2 == 1 => subtract(sum, product)?,
            Some(sum) => add(sum, product)?,
        });
    }
    sum.ok_or_else(|| "a matrix without rows".into())
}
