//! Formulas over one lane of a vector, evaluated or recorded.
//!
//! A formula is a generic function over [`Lane`]s. [`Evaluate`](super::evaluate::Evaluate) computes
//! its value, and [`Recorder`](super::record::Recorder) appends its operations to a kernel, with
//! the same bits.

use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Sub};

use crate::ir::{Binary, Compare, Convert, Type, Unary};

/// Operations on 32-bit scalars, the elements of formulas.
pub trait Operations: Copy {
    type Value: Copy;

    fn constant(self, ty: Type, bits: u32) -> Self::Value;
    fn unary(self, ty: Type, operation: Unary, a: Self::Value) -> Self::Value;
    fn binary(self, ty: Type, operation: Binary, a: Self::Value, b: Self::Value) -> Self::Value;
    fn compare(self, comparison: Compare, a: Self::Value, b: Self::Value) -> Self::Value;
    fn select(self, ty: Type, condition: Self::Value, accept: Self::Value, reject: Self::Value) -> Self::Value;
    fn convert(self, ty: Type, conversion: Convert, a: Self::Value) -> Self::Value;
}

pub trait Element: Copy {
    const TYPE: Type;
    fn bits(self) -> u32;
}

pub trait Number: Element {
    const ADD: Binary;
    const SUBTRACT: Binary;
    const MULTIPLY: Binary;
    const EQUAL: Compare;
    const LESS: Compare;
}

/// Scalar of element type `T` in a formula.
#[derive(Clone, Copy)]
pub struct Lane<O: Operations, T> {
    pub operations: O,
    pub value: O::Value,
    element: PhantomData<T>,
}

pub(super) type Float<O> = Lane<O, f32>;
pub(super) type Integer<O> = Lane<O, i32>;
pub(super) type Condition<O> = Lane<O, bool>;

impl Element for f32 {
    const TYPE: Type = Type::F32;

    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Element for i32 {
    const TYPE: Type = Type::I32;

    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }
}

impl Element for bool {
    const TYPE: Type = Type::Bool;

    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

impl Number for f32 {
    const ADD: Binary = Binary::FloatAdd;
    const SUBTRACT: Binary = Binary::FloatSubtract;
    const MULTIPLY: Binary = Binary::FloatMultiply;
    const EQUAL: Compare = Compare::FloatEqual;
    const LESS: Compare = Compare::FloatLess;
}

/// Addition, subtraction and multiplication wrap; comparison is signed.
impl Number for i32 {
    const ADD: Binary = Binary::Add;
    const SUBTRACT: Binary = Binary::Subtract;
    const MULTIPLY: Binary = Binary::Multiply;
    const EQUAL: Compare = Compare::Equal;
    const LESS: Compare = Compare::SignedLess;
}

impl<O: Operations, T: Element> Lane<O, T> {
    #[inline(always)]
    pub fn new(operations: O, value: O::Value) -> Self {
        Self { operations, value, element: PhantomData }
    }

    /// Constant of the same formula.
    #[inline(always)]
    pub fn constant<U: Element>(self, value: U) -> Lane<O, U> {
        Lane::new(self.operations, self.operations.constant(U::TYPE, value.bits()))
    }

    #[inline(always)]
    fn unary(self, operation: Unary) -> Self {
        Self::new(self.operations, self.operations.unary(T::TYPE, operation, self.value))
    }

    #[inline(always)]
    fn binary(self, operation: Binary, other: Self) -> Self {
        Self::new(self.operations, self.operations.binary(T::TYPE, operation, self.value, other.value))
    }

    #[inline(always)]
    fn compare(self, comparison: Compare, other: Self) -> Condition<O> {
        Lane::new(self.operations, self.operations.compare(comparison, self.value, other.value))
    }

    #[inline(always)]
    fn convert<U: Element>(self, conversion: Convert) -> Lane<O, U> {
        Lane::new(self.operations, self.operations.convert(U::TYPE, conversion, self.value))
    }
}

impl<O: Operations, T: Number> Lane<O, T> {
    #[inline(always)]
    pub fn is_less(self, other: Self) -> Condition<O> {
        self.compare(T::LESS, other)
    }

    #[inline(always)]
    pub fn is_below(self, limit: T) -> Condition<O> {
        self.is_less(self.constant(limit))
    }

    #[inline(always)]
    pub fn is_above(self, limit: T) -> Condition<O> {
        self.constant(limit).is_less(self)
    }

    #[inline(always)]
    pub fn is_equal(self, other: Self) -> Condition<O> {
        self.compare(T::EQUAL, other)
    }

    #[inline(always)]
    pub fn equals(self, value: T) -> Condition<O> {
        self.is_equal(self.constant(value))
    }
}

impl<O: Operations> Float<O> {
    #[inline(always)]
    pub fn abs(self) -> Self {
        self.unary(Unary::FloatAbs)
    }

    #[inline(always)]
    pub fn negate(self) -> Self {
        self.unary(Unary::FloatNegate)
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// The smaller operand; `self` if an operand is NaN.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.binary(Binary::FloatMin, other)
    }

    /// The larger operand; `self` if an operand is NaN.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.binary(Binary::FloatMax, other)
    }

    /// Clamps to two limits; NaN remains NaN.
    #[inline(always)]
    pub fn clamp(self, low: f32, high: f32) -> Self {
        self.max(self.constant(low)).min(self.constant(high))
    }

    #[inline(always)]
    pub fn to_bits(self) -> Integer<O> {
        self.convert(Convert::Bits)
    }

    /// The sign bit, all other bits zero.
    #[inline(always)]
    pub fn sign(self) -> Integer<O> {
        self.to_bits() & i32::MIN
    }

    /// Negates if the highest bit of `sign` is 1.
    #[inline(always)]
    pub fn flip_sign(self, sign: Integer<O>) -> Self {
        (self.to_bits() ^ sign).to_float_bits()
    }

    /// The value with the 12 highest bits of the significand, for exact products of two high parts.
    #[inline(always)]
    pub fn high_part(self) -> Self {
        (self.to_bits() & !0xfff).to_float_bits()
    }

    /// `c[0] + c[1] · self + c[2] · self² + …` by Horner's rule.
    #[inline(always)]
    pub fn polynomial<const N: usize>(self, coefficients: [f32; N]) -> Self {
        let mut sum = self.constant(coefficients[N - 1]);
        for &coefficient in coefficients[..N - 1].iter().rev() {
            sum = sum * self + coefficient;
        }
        sum
    }
}

impl<O: Operations> Integer<O> {
    /// The float with these bits.
    #[inline(always)]
    pub fn to_float_bits(self) -> Float<O> {
        self.convert(Convert::Bits)
    }

    #[inline(always)]
    pub fn to_float(self) -> Float<O> {
        self.convert(Convert::SignedToFloat)
    }

    #[inline(always)]
    pub fn max(self, limit: i32) -> Self {
        self.binary(Binary::SignedMax, self.constant(limit))
    }

    #[inline(always)]
    pub fn shift_left(self, count: i32) -> Self {
        self.binary(Binary::ShiftLeft, self.constant(count))
    }

    /// Shift right that repeats the sign bit.
    #[inline(always)]
    pub fn shift_right_signed(self, count: i32) -> Self {
        self.binary(Binary::SignedShiftRight, self.constant(count))
    }

    /// Shift right that inserts zeros.
    #[inline(always)]
    pub fn shift_right(self, count: i32) -> Self {
        self.binary(Binary::UnsignedShiftRight, self.constant(count))
    }
}

impl<O: Operations> Condition<O> {
    #[inline(always)]
    pub fn select<T: Element>(self, accept: Lane<O, T>, reject: Lane<O, T>) -> Lane<O, T> {
        let value = self.operations.select(T::TYPE, self.value, accept.value, reject.value);
        Lane::new(self.operations, value)
    }

    /// A choice of two constants.
    #[inline(always)]
    pub fn choose<T: Element>(self, accept: T, reject: T) -> Lane<O, T> {
        self.select(self.constant(accept), self.constant(reject))
    }
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident $operation:ident,)*) => { $(
        impl<O: Operations, T: Number> $operator for Lane<O, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.binary(T::$operation, other)
            }
        }

        impl<O: Operations, T: Number> $operator<T> for Lane<O, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: T) -> Self {
                self.binary(T::$operation, self.constant(other))
            }
        }

        impl<O: Operations> $operator<Float<O>> for f32 {
            type Output = Float<O>;
            #[inline(always)]
            fn $method(self, other: Float<O>) -> Float<O> {
                other.constant(self).binary(<f32 as Number>::$operation, other)
            }
        }
    )* };
}

arithmetic! {
    Add add ADD,
    Sub sub SUBTRACT,
    Mul mul MULTIPLY,
}

impl<O: Operations> Div for Float<O> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.binary(Binary::FloatDivide, other)
    }
}

impl<O: Operations> Div<Float<O>> for f32 {
    type Output = Float<O>;
    #[inline(always)]
    fn div(self, other: Float<O>) -> Float<O> {
        other.constant(self) / other
    }
}

macro_rules! logic {
    ($($operator:ident $method:ident $operation:ident,)*) => { $(
        /// Logical operator for integers and conditions.
        impl<O: Operations, T: Element> $operator for Lane<O, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.binary(Binary::$operation, other)
            }
        }

        impl<O: Operations> $operator<i32> for Integer<O> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: i32) -> Self {
                self.binary(Binary::$operation, self.constant(other))
            }
        }
    )* };
}

logic! {
    BitAnd bitand And,
    BitOr bitor Or,
    BitXor bitxor Xor,
}
