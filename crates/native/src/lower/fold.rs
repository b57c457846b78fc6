//! Constant folding, and identities of integer operations.

use super::bounds::unsigned_bounds;
use crate::ir::{Binary, Compare, Convert, Definition, Format, Kernel, Type, Unary, Value};

/// Result of an operation that needs no new definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    Constant(u64),
    Value(Value),
}

/// Folds a pure definition of type `ty`.
///
/// Integers fold by algebraic identities, and with constant operands. Floats fold only with
/// constant operands, for operations that IEEE 754 defines completely.
pub(crate) fn fold(kernel: &Kernel, ty: Type, definition: &Definition) -> Option<Fold> {
    let bits = |value: Value| match kernel.definition(value) {
        Definition::Constant(bits) => Some(*bits),
        _ => None,
    };
    match *definition {
        Definition::Unary(operation, a) => match (operation, bits(a)) {
            (Unary::RoundToF16, _) if is_f16(kernel, a, 4) => Some(Fold::Value(a)),
            (_, Some(bits)) => unary(ty, operation, bits).map(Fold::Constant),
            _ => double_unary(kernel, operation, a),
        },
        Definition::Binary(Binary::UnsignedMin, a, b)
            if ty == Type::I32 && unsigned_bounds(kernel, a)[1] <= unsigned_bounds(kernel, b)[0] =>
        {
            Some(Fold::Value(a))
        }
        Definition::Binary(Binary::UnsignedMin, a, b)
            if ty == Type::I32 && unsigned_bounds(kernel, b)[1] <= unsigned_bounds(kernel, a)[0] =>
        {
            Some(Fold::Value(b))
        }
        Definition::Binary(operation, a, b) => match (bits(a), bits(b)) {
            (Some(a), Some(b)) => binary(ty, operation, a, b).map(Fold::Constant),
            (None, None) => same_operands(operation, a, b),
            (Some(constant), None) => left_constant(ty, operation, constant, b),
            (None, Some(constant)) => right_constant(ty, operation, a, constant),
        },
        Definition::Compare(comparison, a, b) => match (bits(a), bits(b)) {
            (Some(x), Some(y)) => Some(Fold::Constant(u64::from(compare(kernel.ty(a), comparison, x, y)))),
            _ if a == b => same_compared(comparison).map(|result| Fold::Constant(u64::from(result))),
            (_, Some(0)) if comparison == Compare::UnsignedLess => Some(Fold::Constant(0)),
            (Some(0), _) if comparison == Compare::UnsignedLessEqual => Some(Fold::Constant(1)),
            _ => None,
        },
        Definition::Select { condition, accept, reject } => match bits(condition) {
            Some(0) => Some(Fold::Value(reject)),
            Some(_) => Some(Fold::Value(accept)),
            None if accept == reject => Some(Fold::Value(accept)),
            None if ty == Type::Bool && bits(accept) == Some(1) && bits(reject) == Some(0) => {
                Some(Fold::Value(condition))
            }
            None => None,
        },
        Definition::Convert(conversion, a) => match bits(a) {
            _ if conversion == Convert::Bits && kernel.ty(a) == ty => Some(Fold::Value(a)),
            Some(bits) => convert(kernel.ty(a), ty, conversion, bits).map(Fold::Constant),
            None => None,
        },
        _ => None,
    }
}

fn is_f16(kernel: &Kernel, value: Value, depth: u32) -> bool {
    if kernel.ty(value) != Type::F32 {
        return false;
    }
    let part = |value: Value| depth > 0 && is_f16(kernel, value, depth - 1);
    match *kernel.definition(value) {
        Definition::Unary(Unary::RoundToF16, _) => true,
        Definition::Unary(operation, a) => {
            use Unary::{Ceil, FloatAbs, FloatNegate, Floor, Round, Trunc};
            matches!(operation, FloatNegate | FloatAbs | Floor | Ceil | Trunc | Round) && part(a)
        }
        Definition::Binary(Binary::FloatMin | Binary::FloatMax, a, b) => part(a) && part(b),
        Definition::Select { accept, reject, .. } => part(accept) && part(reject),
        Definition::Load(access) => access.format == Format::F16,
        Definition::Constant(bits) => is_f16_constant(f32::from_bits(bits as u32)),
        _ => false,
    }
}

fn is_f16_constant(value: f32) -> bool {
    let magnitude = value.abs();
    // 2⁻²⁴ is the spacing of the smallest values; larger ones have 11 significant bits.
    let steps = if magnitude < 6.103_515_6e-5 { magnitude * 16_777_216.0 } else { 0.0 };
    magnitude <= 65504.0 && steps.fract() == 0.0 && (steps != 0.0 || magnitude.to_bits() & 0x1fff == 0)
}

fn double_unary(kernel: &Kernel, operation: Unary, a: Value) -> Option<Fold> {
    match *kernel.definition(a) {
        Definition::Unary(inner, b)
            if inner == operation && matches!(operation, Unary::Negate | Unary::Not | Unary::FloatNegate) =>
        {
            Some(Fold::Value(b))
        }
        _ => None,
    }
}

fn same_operands(operation: Binary, a: Value, b: Value) -> Option<Fold> {
    if a != b {
        return None;
    }
    match operation {
        Binary::And | Binary::Or => Some(Fold::Value(a)),
        Binary::SignedMin | Binary::SignedMax | Binary::UnsignedMin | Binary::UnsignedMax => Some(Fold::Value(a)),
        Binary::Xor | Binary::Subtract => Some(Fold::Constant(0)),
        _ => None,
    }
}

fn left_constant(ty: Type, operation: Binary, constant: u64, b: Value) -> Option<Fold> {
    match operation {
        Binary::Add
        | Binary::Multiply
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::UnsignedMin
        | Binary::UnsignedMax => right_constant(ty, operation, b, constant),
        Binary::ShiftLeft | Binary::UnsignedShiftRight if constant == 0 => Some(Fold::Constant(0)),
        _ => None,
    }
}

fn right_constant(ty: Type, operation: Binary, a: Value, constant: u64) -> Option<Fold> {
    let ones = match ty {
        Type::Bool => 1,
        Type::I64 => u64::MAX,
        _ => u64::from(u32::MAX),
    };
    match (operation, constant) {
        (Binary::Add | Binary::Subtract | Binary::Or | Binary::Xor, 0) => Some(Fold::Value(a)),
        (Binary::ShiftLeft | Binary::SignedShiftRight | Binary::UnsignedShiftRight, 0) => Some(Fold::Value(a)),
        (Binary::Multiply | Binary::And | Binary::UnsignedMin, 0) => Some(Fold::Constant(0)),
        (Binary::UnsignedMax, 0) => Some(Fold::Value(a)),
        (Binary::Multiply | Binary::SignedDivide | Binary::UnsignedDivide, 1) => Some(Fold::Value(a)),
        (Binary::UnsignedRemainder, 1) => Some(Fold::Constant(0)),
        (Binary::And | Binary::UnsignedMin, c) if c == ones => Some(Fold::Value(a)),
        (Binary::Or | Binary::UnsignedMax, c) if c == ones => Some(Fold::Constant(ones)),
        _ => None,
    }
}

fn same_compared(comparison: Compare) -> Option<bool> {
    match comparison {
        Compare::Equal | Compare::SignedLessEqual | Compare::UnsignedLessEqual => Some(true),
        Compare::NotEqual | Compare::SignedLess | Compare::UnsignedLess | Compare::FloatLess => Some(false),
        Compare::FloatEqual | Compare::FloatNotEqual | Compare::FloatLessEqual => None,
    }
}

/// Bits of a float result; `None` for NaN, as its bits differ among processors.
fn float_bits(ty: Type, value: f64) -> Option<u64> {
    match ty {
        _ if value.is_nan() => None,
        Type::F64 => Some(value.to_bits()),
        _ => Some(u64::from((value as f32).to_bits())),
    }
}

fn float(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

fn signed(ty: Type, bits: u64) -> i64 {
    if ty == Type::I64 { bits as i64 } else { i64::from(bits as u32 as i32) }
}

pub(super) fn integer_bits(ty: Type, value: u64) -> u64 {
    match ty {
        Type::Bool => value & 1,
        Type::I64 => value,
        _ => u64::from(value as u32),
    }
}

fn unary(ty: Type, operation: Unary, bits: u64) -> Option<u64> {
    let width = ty.bytes() * 8;
    let integer = |value: u64| Some(integer_bits(ty, value));
    match operation {
        Unary::Negate => integer(bits.wrapping_neg()),
        Unary::Not => integer(!bits),
        Unary::CountLeadingZeros => integer(u64::from(bits.leading_zeros() - (64 - width))),
        Unary::CountTrailingZeros => integer(u64::from(bits.trailing_zeros().min(width))),
        Unary::CountOnes => integer(u64::from(bits.count_ones())),
        Unary::ReverseBits => integer(bits.reverse_bits() >> (64 - width)),
        Unary::FloatNegate => float_bits(ty, -float(ty, bits)),
        Unary::FloatAbs => float_bits(ty, float(ty, bits).abs()),
        Unary::Floor => float_bits(ty, float(ty, bits).floor()),
        Unary::Ceil => float_bits(ty, float(ty, bits).ceil()),
        Unary::Trunc => float_bits(ty, float(ty, bits).trunc()),
        Unary::Round => float_bits(ty, float(ty, bits).round_ties_even()),
        Unary::Sqrt | Unary::RoundToF16 => None,
    }
}

fn binary(ty: Type, operation: Binary, a: u64, b: u64) -> Option<u64> {
    let width = u64::from(ty.bytes() * 8);
    let (x, y) = (signed(ty, a), signed(ty, b));
    let shift = (b % width) as u32;
    let value = match operation {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::SignedDivide => (if y == 0 { x } else { x.wrapping_div(y) }) as u64,
        Binary::UnsignedDivide => a.checked_div(b).unwrap_or(a),
        Binary::SignedRemainder => (if y == 0 { 0 } else { x.wrapping_rem(y) }) as u64,
        Binary::UnsignedRemainder => a.checked_rem(b).unwrap_or(0),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a << shift,
        Binary::SignedShiftRight => (x >> shift) as u64,
        Binary::UnsignedShiftRight => a >> shift,
        Binary::SignedMin => x.min(y) as u64,
        Binary::SignedMax => x.max(y) as u64,
        Binary::UnsignedMin => a.min(b),
        Binary::UnsignedMax => a.max(b),
        Binary::FloatAdd
        | Binary::FloatSubtract
        | Binary::FloatMultiply
        | Binary::FloatDivide
        | Binary::FloatMin
        | Binary::FloatMax => return float_binary(ty, operation, a, b),
    };
    Some(integer_bits(ty, value))
}

fn float_binary(ty: Type, operation: Binary, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (float(ty, a), float(ty, b));
    // For these operations, an f64 result rounded to f32 is the f32 result.
    let value = match operation {
        Binary::FloatAdd => x + y,
        Binary::FloatSubtract => x - y,
        Binary::FloatMultiply => x * y,
        Binary::FloatDivide => x / y,
        Binary::FloatMin if y < x => y,
        Binary::FloatMax if x < y => y,
        _ => x,
    };
    float_bits(ty, value)
}

fn compare(ty: Type, comparison: Compare, a: u64, b: u64) -> bool {
    let (x, y) = (signed(ty, a), signed(ty, b));
    let (p, q) = (float(ty, a), float(ty, b));
    match comparison {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::SignedLess => x < y,
        Compare::SignedLessEqual => x <= y,
        Compare::UnsignedLess => a < b,
        Compare::UnsignedLessEqual => a <= b,
        Compare::FloatEqual => p == q,
        Compare::FloatNotEqual => p != q,
        Compare::FloatLess => p < q,
        Compare::FloatLessEqual => p <= q,
    }
}

fn convert(from: Type, to: Type, conversion: Convert, bits: u64) -> Option<u64> {
    let value = float(from, bits);
    match conversion {
        Convert::Bits | Convert::BoolToInteger | Convert::UnsignedWiden => Some(bits),
        Convert::Narrow => Some(integer_bits(Type::I32, bits)),
        Convert::SignedWiden => Some(signed(from, bits) as u64),
        Convert::FloatToSigned if to == Type::I64 => Some(value as i64 as u64),
        Convert::FloatToSigned => Some(u64::from(value as i32 as u32)),
        Convert::FloatToUnsigned if to == Type::I64 => Some(value as u64),
        Convert::FloatToUnsigned => Some(u64::from(value as u32)),
        Convert::SignedToFloat if to == Type::F64 => Some((signed(from, bits) as f64).to_bits()),
        Convert::SignedToFloat => Some(u64::from((signed(from, bits) as f32).to_bits())),
        Convert::UnsignedToFloat if to == Type::F64 => Some((bits as f64).to_bits()),
        Convert::UnsignedToFloat => Some(u64::from((bits as f32).to_bits())),
        Convert::FloatToFloat => float_bits(to, value),
    }
}
