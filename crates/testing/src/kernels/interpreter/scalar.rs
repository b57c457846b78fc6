//! Scalars and their arithmetic.
//!
//! * Integers wrap. `x / 0 = x`, `x % 0 = 0`, `MIN / −1 = MIN`, `MIN % −1 = 0`. Shift amounts count
//!   modulo the width.
//! * `f32` and `f64` follow IEEE 754 without contraction. An operator of `f16` is computed in `f32`
//!   and rounded.
//! * `x % y` of floats is `x − y · trunc(x / y)`, each operation rounded.
//! * Conversions to integers go towards zero, and saturate at the last integer that the type of the
//!   float represents; NaN becomes 0. Conversions between `f16`
//!   and anything but `f32` pass through `f32`.

use half::f16;
use naga::{BinaryOperator, ScalarKind, UnaryOperator};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalarValue {
    Bool(bool),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F16(f16),
    F32(f32),
    F64(f64),
}

use ScalarValue::{Bool, F16, F32, F64, I16, I32, I64, U16, U32, U64};

/// Applies an expression to integers of one type; `None` for other scalars.
macro_rules! integers {
    ($a:expr, $b:expr, |$x:ident, $y:ident| $result:expr) => {
        match ($a, $b) {
            (I16($x), I16($y)) => Some(I16($result)),
            (U16($x), U16($y)) => Some(U16($result)),
            (I32($x), I32($y)) => Some(I32($result)),
            (U32($x), U32($y)) => Some(U32($result)),
            (I64($x), I64($y)) => Some(I64($result)),
            (U64($x), U64($y)) => Some(U64($result)),
            _ => None,
        }
    };
}

/// Applies an expression to floats of one type; `None` for other scalars.
macro_rules! floats {
    ($a:expr, $b:expr, |$x:ident, $y:ident| $result:expr) => {
        match ($a, $b) {
            (F16(x), F16(y)) => {
                let ($x, $y) = (x.to_f32(), y.to_f32());
                Some(F16(f16::from_f32($result)))
            }
            (F32($x), F32($y)) => Some(F32($result)),
            (F64($x), F64($y)) => Some(F64($result)),
            _ => None,
        }
    };
}

/// Compares scalars of one type; `None` for different types.
macro_rules! compare {
    ($a:expr, $b:expr, $operator:tt) => {
        match ($a, $b) {
            (Bool(x), Bool(y)) => Some(Bool(x $operator y)),
            (I16(x), I16(y)) => Some(Bool(x $operator y)),
            (U16(x), U16(y)) => Some(Bool(x $operator y)),
            (I32(x), I32(y)) => Some(Bool(x $operator y)),
            (U32(x), U32(y)) => Some(Bool(x $operator y)),
            (I64(x), I64(y)) => Some(Bool(x $operator y)),
            (U64(x), U64(y)) => Some(Bool(x $operator y)),
            (F16(x), F16(y)) => Some(Bool(x.to_f32() $operator y.to_f32())),
            (F32(x), F32(y)) => Some(Bool(x $operator y)),
            (F64(x), F64(y)) => Some(Bool(x $operator y)),
            _ => None,
        }
    };
}

/// Converts a scalar to a primitive type of Rust by `as`.
macro_rules! cast {
    ($scalar:expr, $ty:ty) => {
        match $scalar {
            Bool(x) => u8::from(x) as $ty,
            I16(x) => x as $ty,
            U16(x) => x as $ty,
            I32(x) => x as $ty,
            U32(x) => x as $ty,
            I64(x) => x as $ty,
            U64(x) => x as $ty,
            F16(x) => x.to_f32() as $ty,
            F32(x) => x as $ty,
            F64(x) => x as $ty,
        }
    };
}

impl ScalarValue {
    pub fn zero(ty: naga::Scalar) -> Result<Self, String> {
        Self::from_bits(ty, 0)
    }

    pub fn from_bits(ty: naga::Scalar, bits: u64) -> Result<Self, String> {
        Ok(match (ty.kind, ty.width) {
            (ScalarKind::Bool, _) => Bool(bits != 0),
            (ScalarKind::Sint, 2) => I16(bits as i16),
            (ScalarKind::Uint, 2) => U16(bits as u16),
            (ScalarKind::Sint, 4) => I32(bits as i32),
            (ScalarKind::Uint, 4) => U32(bits as u32),
            (ScalarKind::Sint, 8) => I64(bits as i64),
            (ScalarKind::Uint, 8) => U64(bits),
            (ScalarKind::Float, 2) => F16(f16::from_bits(bits as u16)),
            (ScalarKind::Float, 4) => F32(f32::from_bits(bits as u32)),
            (ScalarKind::Float, 8) => F64(f64::from_bits(bits)),
            _ => return Err(format!("no scalar type {ty:?}")),
        })
    }

    /// Bits, zero-extended; a bool is 0 or 1.
    pub fn bits(self) -> u64 {
        match self {
            Bool(x) => u64::from(x),
            I16(x) => u64::from(x as u16),
            U16(x) => u64::from(x),
            I32(x) => u64::from(x as u32),
            U32(x) => u64::from(x),
            I64(x) => x as u64,
            U64(x) => x,
            F16(x) => u64::from(x.to_bits()),
            F32(x) => u64::from(x.to_bits()),
            F64(x) => x.to_bits(),
        }
    }

    pub fn ty(self) -> naga::Scalar {
        match self {
            Bool(_) => naga::Scalar::BOOL,
            I16(_) => naga::Scalar::I16,
            U16(_) => naga::Scalar::U16,
            I32(_) => naga::Scalar::I32,
            U32(_) => naga::Scalar::U32,
            I64(_) => naga::Scalar::I64,
            U64(_) => naga::Scalar::U64,
            F16(_) => naga::Scalar::F16,
            F32(_) => naga::Scalar::F32,
            F64(_) => naga::Scalar::F64,
        }
    }

    pub fn is_nan(self) -> bool {
        match self {
            F16(x) => x.is_nan(),
            F32(x) => x.is_nan(),
            F64(x) => x.is_nan(),
            _ => false,
        }
    }

    /// The number `value` in the type of `self`, rounded.
    pub fn same_type(self, value: f64) -> Self {
        match self {
            Bool(_) => Bool(value != 0.0),
            I16(_) => I16(value as i16),
            U16(_) => U16(value as u16),
            I32(_) => I32(value as i32),
            U32(_) => U32(value as u32),
            I64(_) => I64(value as i64),
            U64(_) => U64(value as u64),
            F16(_) => F16(f16::from_f64(value)),
            F32(_) => F32(value as f32),
            F64(_) => F64(value),
        }
    }

    pub fn as_bool(self) -> Result<bool, String> {
        match self {
            Bool(x) => Ok(x),
            _ => Err(format!("{self:?} is no bool")),
        }
    }

    /// Bits of an index of type `i32` or `u32`; a negative index becomes a large one.
    pub fn as_index(self) -> Result<u32, String> {
        match self {
            I32(x) => Ok(x as u32),
            U32(x) => Ok(x),
            _ => Err(format!("{self:?} is no index")),
        }
    }

    /// Greatest integer below `2^bits` that the scalar's type represents.
    fn greatest_integer(self, bits: u32) -> u64 {
        let digits = match self {
            F32(_) => f32::MANTISSA_DIGITS,
            F64(_) => f64::MANTISSA_DIGITS,
            _ => u64::BITS,
        };
        (u64::MAX >> (u64::BITS - bits)) & (u64::MAX << bits.saturating_sub(digits))
    }

    pub fn convert(self, ty: naga::Scalar) -> Result<Self, String> {
        Ok(match (ty.kind, ty.width) {
            (ScalarKind::Bool, _) => Bool(cast!(self, f64) != 0.0),
            (ScalarKind::Sint, 2) => I16(cast!(self, i16)),
            (ScalarKind::Uint, 2) => U16(cast!(self, u16)),
            (ScalarKind::Sint, 4) => I32(cast!(self, i32).min(self.greatest_integer(31) as i32)),
            (ScalarKind::Uint, 4) => U32(cast!(self, u32).min(self.greatest_integer(32) as u32)),
            (ScalarKind::Sint, 8) => I64(cast!(self, i64).min(self.greatest_integer(63) as i64)),
            (ScalarKind::Uint, 8) => U64(cast!(self, u64).min(self.greatest_integer(64))),
            (ScalarKind::Float, 2) => F16(f16::from_f32(cast!(self, f32))),
            (ScalarKind::Float, 4) => F32(cast!(self, f32)),
            (ScalarKind::Float, 8) => F64(cast!(self, f64)),
            _ => return Err(format!("no scalar type {ty:?}")),
        })
    }

    pub fn bitcast(self, kind: ScalarKind) -> Result<Self, String> {
        Self::from_bits(naga::Scalar { kind, width: self.ty().width }, self.bits())
    }
}

pub fn unary(operator: UnaryOperator, a: ScalarValue) -> Result<ScalarValue, String> {
    Ok(match (operator, a) {
        (UnaryOperator::Negate, I16(x)) => I16(x.wrapping_neg()),
        (UnaryOperator::Negate, I32(x)) => I32(x.wrapping_neg()),
        (UnaryOperator::Negate, I64(x)) => I64(x.wrapping_neg()),
        (UnaryOperator::Negate, F16(x)) => F16(-x),
        (UnaryOperator::Negate, F32(x)) => F32(-x),
        (UnaryOperator::Negate, F64(x)) => F64(-x),
        (UnaryOperator::LogicalNot, Bool(x)) => Bool(!x),
        (UnaryOperator::BitwiseNot, I16(x)) => I16(!x),
        (UnaryOperator::BitwiseNot, U16(x)) => U16(!x),
        (UnaryOperator::BitwiseNot, I32(x)) => I32(!x),
        (UnaryOperator::BitwiseNot, U32(x)) => U32(!x),
        (UnaryOperator::BitwiseNot, I64(x)) => I64(!x),
        (UnaryOperator::BitwiseNot, U64(x)) => U64(!x),
        _ => return Err(format!("{operator:?} of {a:?}")),
    })
}

pub fn binary(operator: BinaryOperator, a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    use BinaryOperator as Op;
    let result = match operator {
        Op::Add => integers!(a, b, |x, y| x.wrapping_add(y)).or(floats!(a, b, |x, y| x + y)),
        Op::Subtract => integers!(a, b, |x, y| x.wrapping_sub(y)).or(floats!(a, b, |x, y| x - y)),
        Op::Multiply => integers!(a, b, |x, y| x.wrapping_mul(y)).or(floats!(a, b, |x, y| x * y)),
        Op::Divide => {
            integers!(a, b, |x, y| if y == 0 { x } else { x.wrapping_div(y) }).or(floats!(a, b, |x, y| x / y))
        }
        Op::Modulo => match integers!(a, b, |x, y| if y == 0 { 0 } else { x.wrapping_rem(y) }) {
            Some(result) => Some(result),
            None => Some(float_remainder(a, b)?),
        },
        Op::Equal => compare!(a, b, ==),
        Op::NotEqual => compare!(a, b, !=),
        Op::Less => compare!(a, b, <),
        Op::LessEqual => compare!(a, b, <=),
        Op::Greater => compare!(a, b, >),
        Op::GreaterEqual => compare!(a, b, >=),
        Op::And => integers!(a, b, |x, y| x & y).or(bools(a, b, |x, y| x & y)),
        Op::InclusiveOr => integers!(a, b, |x, y| x | y).or(bools(a, b, |x, y| x | y)),
        Op::ExclusiveOr => integers!(a, b, |x, y| x ^ y).or(bools(a, b, |x, y| x ^ y)),
        Op::LogicalAnd => bools(a, b, |x, y| x && y),
        Op::LogicalOr => bools(a, b, |x, y| x || y),
        Op::ShiftLeft => match (a, b) {
            (I16(x), U32(y)) => Some(I16(x.wrapping_shl(y))),
            (U16(x), U32(y)) => Some(U16(x.wrapping_shl(y))),
            (I32(x), U32(y)) => Some(I32(x.wrapping_shl(y))),
            (U32(x), U32(y)) => Some(U32(x.wrapping_shl(y))),
            (I64(x), U32(y)) => Some(I64(x.wrapping_shl(y))),
            (U64(x), U32(y)) => Some(U64(x.wrapping_shl(y))),
            _ => None,
        },
        Op::ShiftRight => match (a, b) {
            (I16(x), U32(y)) => Some(I16(x.wrapping_shr(y))),
            (U16(x), U32(y)) => Some(U16(x.wrapping_shr(y))),
            (I32(x), U32(y)) => Some(I32(x.wrapping_shr(y))),
            (U32(x), U32(y)) => Some(U32(x.wrapping_shr(y))),
            (I64(x), U32(y)) => Some(I64(x.wrapping_shr(y))),
            (U64(x), U32(y)) => Some(U64(x.wrapping_shr(y))),
            _ => None,
        },
    };
    result.ok_or_else(|| format!("{operator:?} of {a:?} and {b:?}"))
}

fn bools(a: ScalarValue, b: ScalarValue, operation: fn(bool, bool) -> bool) -> Option<ScalarValue> {
    match (a, b) {
        (Bool(x), Bool(y)) => Some(Bool(operation(x, y))),
        _ => None,
    }
}

fn float_remainder(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    let quotient = truncate(divide(a, b)?)?;
    subtract(a, multiply(b, quotient)?)
}

/// Applies a function of floats with an exact result, except for rounding to `f16`.
pub fn map_float(a: ScalarValue, single: fn(f32) -> f32, double: fn(f64) -> f64) -> Result<ScalarValue, String> {
    match a {
        F16(x) => Ok(F16(f16::from_f32(single(x.to_f32())))),
        F32(x) => Ok(F32(single(x))),
        F64(x) => Ok(F64(double(x))),
        _ => Err(format!("{a:?} is no float")),
    }
}

pub fn truncate(a: ScalarValue) -> Result<ScalarValue, String> {
    map_float(a, f32::trunc, f64::trunc)
}

pub fn add(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    binary(BinaryOperator::Add, a, b)
}

pub fn subtract(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    binary(BinaryOperator::Subtract, a, b)
}

pub fn multiply(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    binary(BinaryOperator::Multiply, a, b)
}

pub fn divide(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    binary(BinaryOperator::Divide, a, b)
}

pub fn less(a: ScalarValue, b: ScalarValue) -> Result<bool, String> {
    binary(BinaryOperator::Less, a, b)?.as_bool()
}

/// `b < a ? b : a`
pub fn min(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    Ok(if less(b, a)? { b } else { a })
}

/// `a < b ? b : a`
pub fn max(a: ScalarValue, b: ScalarValue) -> Result<ScalarValue, String> {
    Ok(if less(a, b)? { b } else { a })
}

/// `min(max(a, low), high)`
pub fn clamp(a: ScalarValue, low: ScalarValue, high: ScalarValue) -> Result<ScalarValue, String> {
    min(max(a, low)?, high)
}

/// `a · b + c` of `f32` or `f64`, rounded once.
pub fn fused_multiply_add(a: ScalarValue, b: ScalarValue, c: ScalarValue) -> Result<ScalarValue, String> {
    match (a, b, c) {
        (F32(a), F32(b), F32(c)) => Ok(F32(a.mul_add(b, c))),
        (F64(a), F64(b), F64(c)) => Ok(F64(a.mul_add(b, c))),
        _ => Err(format!("fma of {a:?}, {b:?} and {c:?}")),
    }
}
