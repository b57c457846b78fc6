use naga::{Scalar, ScalarKind};

use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};
use crate::lower::builder::Builder;

impl Builder {
    pub(super) fn absolute(&mut self, scalar: Scalar, a: Value) -> Value {
        if scalar.kind != ScalarKind::Sint {
            return a;
        }
        let negated = self.unary(Unary::Negate, a);
        self.binary(Binary::SignedMax, a, negated)
    }

    /// Index of the lowest 1 bit; all bits 1 for zero.
    pub(super) fn first_trailing_bit(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        let (zero, none) = (self.zero(ty), self.integer(ty, -1));
        let count = self.unary(Unary::CountTrailingZeros, a);
        let empty = self.compare(Compare::Equal, a, zero);
        self.select(empty, none, count)
    }

    /// Index of the highest bit that differs from the sign bit, or of the highest 1 bit of an
    /// unsigned integer. All bits are 1 if no such bit exists.
    pub(super) fn first_leading_bit(&mut self, scalar: Scalar, a: Value) -> Value {
        let ty = self.ty(a);
        let last = self.integer(ty, i64::from(ty.bytes()) * 8 - 1);
        let bits = if scalar.kind == ScalarKind::Sint {
            let sign = self.binary(Binary::SignedShiftRight, a, last);
            self.binary(Binary::Xor, a, sign)
        } else {
            a
        };
        let count = self.unary(Unary::CountLeadingZeros, bits);
        // A count of all bits gives index −1.
        self.binary(Binary::Subtract, last, count)
    }

    /// Clamps `amount` to the width of `value`, in the type of `value`.
    fn bit_count(&mut self, value: Value, amount: Value) -> Value {
        let ty = self.ty(value);
        let amount = self.shift_amount(value, amount);
        let width = self.integer(ty, i64::from(ty.bytes()) * 8);
        self.binary(Binary::UnsignedMin, amount, width)
    }

    /// Extracts `count` bits from bit `offset`, sign-extended for a signed type.
    pub(super) fn extract_bits(&mut self, scalar: Scalar, a: Value, offset: Value, count: Value) -> Value {
        let ty = self.ty(a);
        let (offset, count) = (self.bit_count(a, offset), self.bit_count(a, count));
        let (zero, width) = (self.zero(ty), self.integer(ty, i64::from(ty.bytes()) * 8));
        let available = self.binary(Binary::Subtract, width, offset);
        let count = self.binary(Binary::UnsignedMin, count, available);
        let above = self.binary(Binary::Subtract, available, count);
        let unused = self.binary(Binary::Subtract, width, count);
        let high = self.binary(Binary::ShiftLeft, a, above);
        let signed = scalar.kind == ScalarKind::Sint;
        let shift = if signed { Binary::SignedShiftRight } else { Binary::UnsignedShiftRight };
        let bits = self.binary(shift, high, unused);
        let empty = self.compare(Compare::Equal, count, zero);
        self.select(empty, zero, bits)
    }

    /// Replaces `count` bits of `a`, from bit `offset`, by the low bits of `inserted`.
    pub(super) fn insert_bits(&mut self, a: Value, inserted: Value, offset: Value, count: Value) -> Value {
        let ty = self.ty(a);
        let (offset, count) = (self.bit_count(a, offset), self.bit_count(a, count));
        let (zero, ones) = (self.zero(ty), self.integer(ty, -1));
        let width = self.integer(ty, i64::from(ty.bytes()) * 8);
        let available = self.binary(Binary::Subtract, width, offset);
        let count = self.binary(Binary::UnsignedMin, count, available);
        let unused = self.binary(Binary::Subtract, width, count);
        let low = self.binary(Binary::UnsignedShiftRight, ones, unused);
        let mask = self.binary(Binary::ShiftLeft, low, offset);
        let moved = self.binary(Binary::ShiftLeft, inserted, offset);
        let chosen = self.binary(Binary::And, moved, mask);
        let complement = self.unary(Unary::Not, mask);
        let kept = self.binary(Binary::And, a, complement);
        let result = self.binary(Binary::Or, kept, chosen);
        let empty = self.compare(Compare::Equal, count, zero);
        self.select(empty, a, result)
    }

    /// Extracts `bits` bits of a `u32`, from bit `offset`, with sign or zero extension.
    pub(super) fn field(&mut self, signed: bool, a: Value, offset: u32, bits: u32) -> Value {
        let above = self.u32(32 - bits - offset);
        let unused = self.u32(32 - bits);
        let high = self.binary(Binary::ShiftLeft, a, above);
        let shift = if signed { Binary::SignedShiftRight } else { Binary::UnsignedShiftRight };
        self.binary(shift, high, unused)
    }

    /// Sum of the products of the bytes of two `u32`.
    pub(super) fn dot_packed(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let mut sum = self.u32(0);
        for offset in [0, 8, 16, 24] {
            let (x, y) = (self.field(signed, a, offset, 8), self.field(signed, b, offset, 8));
            let product = self.binary(Binary::Multiply, x, y);
            sum = self.binary(Binary::Add, sum, product);
        }
        sum
    }

    /// Joins the low `bits` bits of each value to a `u32`, the first value lowest.
    pub(super) fn join_fields(&mut self, values: &[Value], bits: u32) -> Value {
        let mask = self.u32(u32::MAX >> (32 - bits));
        let mut joined = self.u32(0);
        for (number, value) in values.iter().enumerate() {
            let field = self.binary(Binary::And, *value, mask);
            let shift = self.u32(number as u32 * bits);
            let moved = self.binary(Binary::ShiftLeft, field, shift);
            joined = self.binary(Binary::Or, joined, moved);
        }
        joined
    }

    pub(super) fn integer_to_f32(&mut self, signed: bool, a: Value) -> Value {
        self.convert(if signed { Convert::SignedToFloat } else { Convert::UnsignedToFloat }, Type::F32, a)
    }
}
