//! Packing into and unpacking from `u32`.
//!
//! Normalized numbers are clamped first, so NaN becomes 0, and `floor(0.5 + x · 127)` rounds them.

use half::f16;
use naga::MathFunction;

use super::scalar::{self, ScalarValue};
use super::value::Value;

/// Evaluates a packing function; `None` for other functions.
pub(super) fn evaluate(function: MathFunction, arguments: &[Value]) -> Option<Result<Value, String>> {
    use MathFunction as Mf;
    let bits = |value: &Value| value.scalar().map(|scalar| scalar.bits() as u32);
    Some(match function {
        Mf::Pack4x8snorm => pack(&arguments[0], 8, |x| normalized(x, -1.0, 127.0)),
        Mf::Pack4x8unorm => pack(&arguments[0], 8, |x| normalized(x, 0.0, 255.0)),
        Mf::Pack2x16snorm => pack(&arguments[0], 16, |x| normalized(x, -1.0, 32767.0)),
        Mf::Pack2x16unorm => pack(&arguments[0], 16, |x| normalized(x, 0.0, 65535.0)),
        Mf::Pack2x16float => pack(&arguments[0], 16, |x| match x {
            ScalarValue::F32(x) => Ok(u32::from(f16::from_f32(x).to_bits())),
            _ => Err(format!("pack of {x:?}")),
        }),
        Mf::Pack4xI8 | Mf::Pack4xU8 => pack(&arguments[0], 8, |x| Ok(x.bits() as u32)),
        Mf::Pack4xI8Clamp => pack(&arguments[0], 8, |x| {
            Ok(scalar::clamp(x, ScalarValue::I32(-128), ScalarValue::I32(127))?.bits() as u32)
        }),
        Mf::Pack4xU8Clamp => pack(&arguments[0], 8, |x| Ok(scalar::min(x, ScalarValue::U32(255))?.bits() as u32)),
        Mf::Unpack4x8snorm => bits(&arguments[0]).map(|x| unpack(x, 8, |x| snorm((x as i8).into(), 127.0))),
        Mf::Unpack4x8unorm => bits(&arguments[0]).map(|x| unpack(x, 8, |x| ScalarValue::F32(x as f32 / 255.0))),
        Mf::Unpack2x16snorm => bits(&arguments[0]).map(|x| unpack(x, 16, |x| snorm((x as i16).into(), 32767.0))),
        Mf::Unpack2x16unorm => bits(&arguments[0]).map(|x| unpack(x, 16, |x| ScalarValue::F32(x as f32 / 65535.0))),
        Mf::Unpack2x16float => {
            bits(&arguments[0]).map(|x| unpack(x, 16, |x| ScalarValue::F32(f16::from_bits(x as u16).to_f32())))
        }
        Mf::Unpack4xI8 => bits(&arguments[0]).map(|x| unpack(x, 8, |x| ScalarValue::I32((x as i8).into()))),
        Mf::Unpack4xU8 => bits(&arguments[0]).map(|x| unpack(x, 8, ScalarValue::U32)),
        Mf::Dot4I8Packed => bits(&arguments[0])
            .and_then(|a| Ok((a.to_le_bytes(), bits(&arguments[1])?.to_le_bytes())))
            .map(|(a, b)| a.iter().zip(b).map(|(&a, b)| i32::from(a as i8) * i32::from(b as i8)).sum())
            .map(|sum: i32| Value::Scalar(ScalarValue::I32(sum))),
        Mf::Dot4U8Packed => bits(&arguments[0])
            .and_then(|a| Ok((a.to_le_bytes(), bits(&arguments[1])?.to_le_bytes())))
            .map(|(a, b)| a.iter().zip(b).map(|(&a, b)| u32::from(a) * u32::from(b)).sum())
            .map(|sum: u32| Value::Scalar(ScalarValue::U32(sum))),
        _ => return None,
    })
}

/// Joins fields of `width` bits, the first component lowest.
fn pack(vector: &Value, width: u32, field: impl Fn(ScalarValue) -> Result<u32, String>) -> Result<Value, String> {
    let mut word = 0;
    for (i, &component) in vector.components()?.iter().enumerate() {
        word |= (field(component)? & ((1 << width) - 1)) << (i as u32 * width);
    }
    Ok(Value::Scalar(ScalarValue::U32(word)))
}

fn unpack(word: u32, width: u32, component: impl Fn(u32) -> ScalarValue) -> Value {
    let fields = (0..32 / width).map(|i| word >> (i * width) & ((1 << width) - 1));
    Value::Vector(fields.map(component).collect())
}

fn normalized(x: ScalarValue, low: f32, factor: f32) -> Result<u32, String> {
    match scalar::clamp(x, ScalarValue::F32(low), ScalarValue::F32(1.0))? {
        ScalarValue::F32(x) => Ok((0.5 + factor * x).floor() as i32 as u32),
        _ => Err(format!("pack of {x:?}")),
    }
}

fn snorm(x: f32, factor: f32) -> ScalarValue {
    ScalarValue::F32((x / factor).max(-1.0))
}
