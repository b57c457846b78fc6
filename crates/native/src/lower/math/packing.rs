//! Functions that pack values into a `u32` and unpack them.

use naga::{MathFunction, Scalar};

use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};
use crate::lower::builder::Builder;

/// Form of a packed normalized value.
#[derive(Clone, Copy)]
struct Normalized {
    bits: u32,
    signed: bool,
}

fn normalized(function: MathFunction) -> Option<Normalized> {
    use MathFunction as M;
    Some(match function {
        M::Pack4x8snorm | M::Unpack4x8snorm => Normalized { bits: 8, signed: true },
        M::Pack4x8unorm | M::Unpack4x8unorm => Normalized { bits: 8, signed: false },
        M::Pack2x16snorm | M::Unpack2x16snorm => Normalized { bits: 16, signed: true },
        M::Pack2x16unorm | M::Unpack2x16unorm => Normalized { bits: 16, signed: false },
        _ => return None,
    })
}

impl Normalized {
    /// Integer that represents 1.
    fn one(self) -> u32 {
        u32::MAX >> (32 - self.bits + u32::from(self.signed))
    }
}

impl Builder {
    pub(super) fn pack(&mut self, function: MathFunction, values: &[Value]) -> Value {
        use MathFunction as M;
        let fields: Vec<_> = values
            .iter()
            .map(|value| match (normalized(function), function) {
                (Some(form), _) => self.normalize_to_integer(form, *value),
                (None, M::Pack2x16float) => self.half_bits(*value),
                (None, M::Pack4xI8Clamp) => {
                    let (low, high) = (self.integer(Type::I32, -128), self.integer(Type::I32, 127));
                    self.clamp(Scalar::I32, *value, low, high)
                }
                (None, M::Pack4xU8Clamp) => {
                    let (low, high) = (self.u32(0), self.u32(255));
                    self.clamp(Scalar::U32, *value, low, high)
                }
                _ => *value,
            })
            .collect();
        self.join_fields(&fields, if fields.len() == 2 { 16 } else { 8 })
    }

    pub(super) fn unpack(&mut self, function: MathFunction, packed: Value) -> Vec<Value> {
        use MathFunction as M;
        if function == M::Unpack2x16float {
            return [0, 16].into_iter().map(|offset| self.half_value(packed, offset)).collect();
        }
        let form = normalized(function);
        let signed = form.map_or(function == M::Unpack4xI8, |form| form.signed);
        let bits = form.map_or(8, |form| form.bits);
        let mut results = Vec::new();
        for offset in (0..32).step_by(bits as usize) {
            let field = self.field(signed, packed, offset, bits);
            results.push(match form {
                Some(form) => self.integer_to_normalized(form, field),
                None => field,
            });
        }
        results
    }

    /// `⌊0.5 + one · clamp(value)⌋`
    fn normalize_to_integer(&mut self, form: Normalized, value: Value) -> Value {
        let low = self.float(Type::F32, if form.signed { -1.0 } else { 0.0 });
        let high = self.float(Type::F32, 1.0);
        let clamped = self.clamp(Scalar::F32, value, low, high);
        let one = self.float(Type::F32, f64::from(form.one()));
        let scaled = self.binary(Binary::FloatMultiply, clamped, one);
        let half = self.float(Type::F32, 0.5);
        let shifted = self.binary(Binary::FloatAdd, half, scaled);
        let floor = self.unary(Unary::Floor, shifted);
        self.convert(Convert::FloatToSigned, Type::I32, floor)
    }

    fn integer_to_normalized(&mut self, form: Normalized, field: Value) -> Value {
        let float = self.integer_to_f32(form.signed, field);
        let one = self.float(Type::F32, f64::from(form.one()));
        let ratio = self.binary(Binary::FloatDivide, float, one);
        if !form.signed {
            return ratio;
        }
        let low = self.float(Type::F32, -1.0);
        self.binary(Binary::FloatMax, ratio, low)
    }

    /// Bits of the `f16` nearest to an `f32`.
    fn half_bits(&mut self, value: Value) -> Value {
        let rounded = self.unary(Unary::RoundToF16, value);
        let magnitude = self.unary(Unary::FloatAbs, rounded);
        let bits = self.convert(Convert::Bits, Type::I32, magnitude);
        // The exponents' biases differ by 112, the mantissas by 13 bits.
        let (thirteen, bias) = (self.u32(13), self.u32(112 << 10));
        let shifted = self.binary(Binary::UnsignedShiftRight, bits, thirteen);
        let normal = self.binary(Binary::Subtract, shifted, bias);
        let steps = self.float(Type::F32, 16_777_216.0);
        let scaled = self.binary(Binary::FloatMultiply, magnitude, steps);
        let subnormal = self.convert(Convert::FloatToUnsigned, Type::I32, scaled);
        let smallest = self.float(Type::F32, 1.0 / 16384.0);
        let is_subnormal = self.compare(Compare::FloatLess, magnitude, smallest);
        let finite = self.select(is_subnormal, subnormal, normal);
        let (infinity, nan) = (self.u32(0x7c00), self.u32(0x7e00));
        let largest = self.float(Type::F32, 65504.0);
        let is_infinite = self.compare(Compare::FloatLess, largest, magnitude);
        let number = self.select(is_infinite, infinity, finite);
        let is_nan = self.compare(Compare::FloatNotEqual, rounded, rounded);
        let unsigned = self.select(is_nan, nan, number);
        let all = self.convert(Convert::Bits, Type::I32, rounded);
        let (sixteen, sign) = (self.u32(16), self.u32(0x8000));
        let high = self.binary(Binary::UnsignedShiftRight, all, sixteen);
        let sign = self.binary(Binary::And, high, sign);
        self.binary(Binary::Or, unsigned, sign)
    }

    /// Value of the `f16` in the bits from `offset`.
    fn half_value(&mut self, packed: Value, offset: u32) -> Value {
        let half = self.field(false, packed, offset, 16);
        let (thirteen, kept) = (self.u32(13), self.u32(0x7fff));
        let magnitude = self.binary(Binary::And, half, kept);
        let shifted = self.binary(Binary::ShiftLeft, magnitude, thirteen);
        let (bias, special_bias) = (self.u32(112 << 23), self.u32(224 << 23));
        let (limit, special_limit) = (self.u32(0x0400), self.u32(0x7c00));
        let is_special = self.compare(Compare::UnsignedLessEqual, special_limit, magnitude);
        let bias = self.select(is_special, special_bias, bias);
        let normal = self.binary(Binary::Add, shifted, bias);
        let float = self.integer_to_f32(false, magnitude);
        let step = self.float(Type::F32, 1.0 / 16_777_216.0);
        let subnormal = self.binary(Binary::FloatMultiply, float, step);
        let subnormal = self.convert(Convert::Bits, Type::I32, subnormal);
        let is_subnormal = self.compare(Compare::UnsignedLess, magnitude, limit);
        let bits = self.select(is_subnormal, subnormal, normal);
        let (sixteen, sign) = (self.u32(16), self.u32(0x8000));
        let sign = self.binary(Binary::And, half, sign);
        let sign = self.binary(Binary::ShiftLeft, sign, sixteen);
        let bits = self.binary(Binary::Or, bits, sign);
        self.convert(Convert::Bits, Type::F32, bits)
    }
}
