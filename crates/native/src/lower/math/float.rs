use naga::{MathFunction, Scalar};

use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};
use crate::lower::builder::Builder;

struct FloatBits {
    integer: Type,
    mantissa_bits: i64,
    /// Stored exponent of 1.
    bias: i64,
    /// Stored exponent of infinities and NaN.
    special: i64,
}

fn float_bits(ty: Type) -> FloatBits {
    match ty {
        Type::F64 => FloatBits { integer: Type::I64, mantissa_bits: 52, bias: 1023, special: 2047 },
        _ => FloatBits { integer: Type::I32, mantissa_bits: 23, bias: 127, special: 255 },
    }
}

impl Builder {
    pub(super) fn float_function(&mut self, function: MathFunction, scalar: Scalar, operands: &[Value]) -> Value {
        use MathFunction as M;
        let a = operands[0];
        let second = operands.get(1).copied().unwrap_or(a);
        let third = operands.get(2).copied().unwrap_or(a);
        let zero = self.number(scalar, a, 0.0);
        let one = self.number(scalar, a, 1.0);
        match function {
            M::Saturate => self.clamp(scalar, a, zero, one),
            M::Radians => {
                let factor = self.number(scalar, a, std::f64::consts::PI / 180.0);
                self.multiply(scalar, a, factor)
            }
            M::Degrees => {
                let factor = self.number(scalar, a, 180.0 / std::f64::consts::PI);
                self.multiply(scalar, a, factor)
            }
            M::Fract => {
                let floor = self.unary(Unary::Floor, a);
                self.subtract(scalar, a, floor)
            }
            M::InverseSqrt => {
                let root = self.unary(Unary::Sqrt, a);
                self.divide(scalar, one, root)
            }
            M::Mix => {
                let rest = self.subtract(scalar, one, third);
                let (x, y) = (self.multiply(scalar, a, rest), self.multiply(scalar, second, third));
                self.add(scalar, x, y)
            }
            M::Step => {
                let reached = self.less_equal(scalar, a, second);
                self.select(reached, one, zero)
            }
            M::SmoothStep => {
                let distance = self.subtract(scalar, third, a);
                let range = self.subtract(scalar, second, a);
                let ratio = self.divide(scalar, distance, range);
                let t = self.clamp(scalar, ratio, zero, one);
                let (two, three) = (self.number(scalar, a, 2.0), self.number(scalar, a, 3.0));
                let double = self.multiply(scalar, two, t);
                let rest = self.subtract(scalar, three, double);
                let square = self.multiply(scalar, t, t);
                self.multiply(scalar, square, rest)
            }
            _ => a,
        }
    }

    /// Sign: −1, 0 or 1; 0 for NaN.
    pub(super) fn sign(&mut self, scalar: Scalar, a: Value) -> Value {
        let (zero, one) = (self.number(scalar, a, 0.0), self.number(scalar, a, 1.0));
        let negative_one = self.number(scalar, a, -1.0);
        let positive = self.less(scalar, zero, a);
        if scalar.kind == naga::ScalarKind::Uint {
            return self.select(positive, one, zero);
        }
        let negative = self.less(scalar, a, zero);
        let rest = self.select(negative, negative_one, zero);
        self.select(positive, one, rest)
    }

    /// Fractional parts, then whole parts.
    pub(super) fn modf(&mut self, scalar: Scalar, values: &[Value]) -> Vec<Value> {
        let whole: Vec<_> = values.iter().map(|value| self.unary(Unary::Trunc, *value)).collect();
        let mut results: Vec<_> =
            values.iter().zip(&whole).map(|(value, whole)| self.subtract(scalar, *value, *whole)).collect();
        results.extend(whole);
        results
    }

    /// Fractions in [0.5, 1) with the values' signs, then exponents as `i32`. Zero, infinities and
    /// NaN are fractions with exponent 0.
    pub(super) fn frexp(&mut self, values: &[Value]) -> Vec<Value> {
        let parts: Vec<_> = values.iter().map(|value| self.fraction_and_exponent(*value)).collect();
        let fractions = parts.iter().map(|(fraction, _)| *fraction);
        fractions.chain(parts.iter().map(|(_, exponent)| *exponent)).collect()
    }

    fn fraction_and_exponent(&mut self, value: Value) -> (Value, Value) {
        let ty = self.ty(value);
        let FloatBits { integer, mantissa_bits, bias, special } = float_bits(ty);
        let constant = |builder: &mut Self, number| builder.integer(integer, number);
        // A multiplication by a power of two makes subnormal values normal.
        let scale = self.float(ty, 2.0_f64.powi(mantissa_bits as i32 + 1));
        let scaled = self.binary(Binary::FloatMultiply, value, scale);
        let smallest = self.float(ty, 2.0_f64.powi(1 - bias as i32));
        let magnitude = self.unary(Unary::FloatAbs, value);
        let subnormal = self.compare(Compare::FloatLess, magnitude, smallest);
        let normal = self.select(subnormal, scaled, value);
        let bits = self.convert(Convert::Bits, integer, normal);
        let (shift, mask) = (constant(self, mantissa_bits), constant(self, special));
        let shifted = self.binary(Binary::UnsignedShiftRight, bits, shift);
        let stored = self.binary(Binary::And, shifted, mask);
        let (zero, extra) = (constant(self, 0), constant(self, -(mantissa_bits + 1)));
        let correction = self.select(subnormal, extra, zero);
        let half = constant(self, 1 - bias);
        let exponent = self.binary(Binary::Add, stored, half);
        let exponent = self.binary(Binary::Add, exponent, correction);
        let kept = constant(self, !(special << mantissa_bits));
        let half = constant(self, (bias - 1) << mantissa_bits);
        let mantissa = self.binary(Binary::And, bits, kept);
        let fraction = self.binary(Binary::Or, mantissa, half);
        let fraction = self.convert(Convert::Bits, ty, fraction);
        let is_special = self.compare(Compare::Equal, stored, mask);
        let float_zero = self.float(ty, 0.0);
        let is_zero = self.compare(Compare::FloatEqual, value, float_zero);
        let unchanged = self.binary(Binary::Or, is_special, is_zero);
        let no_exponent = constant(self, 0);
        (self.select(unchanged, value, fraction), self.select(unchanged, no_exponent, exponent))
    }

    /// `value · 2^exponent`, rounded once.
    pub(super) fn ldexp(&mut self, value: Value, exponent: Value) -> Value {
        let ty = self.ty(value);
        let FloatBits { integer, mantissa_bits, bias, .. } = float_bits(ty);
        let mut exponent = match integer {
            Type::I64 => self.convert(Convert::SignedWiden, Type::I64, exponent),
            _ => exponent,
        };
        let mut value = value;
        // Two steps keep intermediate values normal, so that only the last multiplication rounds.
        let down = 1 - bias + mantissa_bits + 1;
        for _ in 0..2 {
            value = self.scale_where(value, &mut exponent, Compare::SignedLess, 1 - bias, down);
            value = self.scale_where(value, &mut exponent, Compare::SignedLessEqual, bias + 1, bias);
        }
        let (low, high) = (self.integer(integer, 1 - bias), self.integer(integer, bias));
        let raised = self.binary(Binary::SignedMax, exponent, low);
        let exponent = self.binary(Binary::SignedMin, raised, high);
        let bias = self.integer(integer, bias);
        let stored = self.binary(Binary::Add, exponent, bias);
        let shift = self.integer(integer, mantissa_bits);
        let bits = self.binary(Binary::ShiftLeft, stored, shift);
        let factor = self.convert(Convert::Bits, ty, bits);
        self.binary(Binary::FloatMultiply, value, factor)
    }

    /// Multiplies by `2^step`, and subtracts `step` from `exponent`, for an exponent beyond
    /// `limit`: less for `SignedLess`, not less for `SignedLessEqual`.
    fn scale_where(&mut self, value: Value, exponent: &mut Value, comparison: Compare, limit: i64, step: i64) -> Value {
        let ty = self.ty(value);
        let integer = self.ty(*exponent);
        let limit = self.integer(integer, limit);
        let beyond = match comparison {
            Compare::SignedLess => self.compare(comparison, *exponent, limit),
            _ => self.compare(comparison, limit, *exponent),
        };
        let step_value = self.integer(integer, step);
        let reduced = self.binary(Binary::Subtract, *exponent, step_value);
        *exponent = self.select(beyond, reduced, *exponent);
        let factor = self.float(ty, 2.0_f64.powi(step as i32));
        let scaled = self.binary(Binary::FloatMultiply, value, factor);
        self.select(beyond, scaled, value)
    }
}
