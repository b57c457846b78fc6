/// Built-in value of the invocation, a `u32`. The number is the axis: 0, 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    GlobalId(u8),
    LocalId(u8),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    LocalIndex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Integer negation, wrapping.
    Negate,
    /// Complement of an integer or a bool.
    Not,
    CountLeadingZeros,
    CountTrailingZeros,
    CountOnes,
    ReverseBits,
    FloatNegate,
    FloatAbs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, ties to even.
    Round,
    /// `f32` to the nearest value of `f16`, ties to even, overflow to infinity; kept as `f32`.
    RoundToF16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    /// Signed quotient towards zero. `a / 0 = a`, `MIN / −1 = MIN`.
    SignedDivide,
    /// Unsigned quotient. `a / 0 = a`.
    UnsignedDivide,
    /// Signed remainder with the sign of the dividend. `a % 0 = 0`, `MIN % −1 = 0`.
    SignedRemainder,
    /// Unsigned remainder. `a % 0 = 0`.
    UnsignedRemainder,
    And,
    Or,
    Xor,
    /// The shift amount has the type of the first operand and counts modulo its width.
    ShiftLeft,
    SignedShiftRight,
    UnsignedShiftRight,
    SignedMin,
    SignedMax,
    UnsignedMin,
    UnsignedMax,
    FloatAdd,
    FloatSubtract,
    FloatMultiply,
    FloatDivide,
    /// `b < a ? b : a`
    FloatMin,
    /// `a < b ? b : a`
    FloatMax,
}

/// Comparison. All comparisons of floats except `FloatNotEqual` are false for NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    Equal,
    NotEqual,
    SignedLess,
    SignedLessEqual,
    UnsignedLess,
    UnsignedLessEqual,
    FloatEqual,
    FloatNotEqual,
    FloatLess,
    FloatLessEqual,
}

/// Conversion between types. The type of the value is the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Convert {
    /// Same bits, other type of the same width.
    Bits,
    /// `i64` to the low bits as `i32`.
    Narrow,
    SignedWiden,
    UnsignedWiden,
    /// Float to integer, towards zero, saturating; NaN becomes 0.
    FloatToSigned,
    FloatToUnsigned,
    /// Integer to the nearest float, ties to even.
    SignedToFloat,
    UnsignedToFloat,
    /// Between `f32` and `f64`.
    FloatToFloat,
    /// Bool to 0 or 1 of an integer type.
    BoolToInteger,
}

/// Function of floats without an instruction on all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
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
    Pow,
    /// `a · b + c`, rounded once.
    Fma,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomicOperation {
    Load,
    Store,
    Add,
    Subtract,
    And,
    Or,
    Xor,
    SignedMin,
    SignedMax,
    UnsignedMin,
    UnsignedMax,
    Exchange,
    FloatAdd,
    /// Stores `operand` if the old value equals `expected`.
    CompareExchange,
}
