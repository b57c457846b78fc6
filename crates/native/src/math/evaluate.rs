use super::lane::{Float, Lane, Operations};
use crate::ir::{Binary, Compare, Convert, Type, Unary};

/// Direct evaluation of operations. A value is its bits; a bool is 0 or 1.
#[derive(Clone, Copy)]
pub(super) struct Evaluate;

#[inline(always)]
pub(super) fn evaluate(x: f32, formula: impl FnOnce(Float<Evaluate>) -> Float<Evaluate>) -> f32 {
    f32::from_bits(formula(Lane::new(Evaluate, x.to_bits())).value)
}

/// Value of a formula of two operands.
#[inline(always)]
pub(super) fn evaluate_pair(
    x: f32,
    y: f32,
    formula: impl FnOnce(Float<Evaluate>, Float<Evaluate>) -> Float<Evaluate>,
) -> f32 {
    evaluate(x, |x| formula(x, Lane::new(Evaluate, y.to_bits())))
}

/// Formulas consist of methods of [`Lane`], which use only these operations.
impl Operations for Evaluate {
    type Value = u32;

    #[inline(always)]
    fn constant(self, _: Type, bits: u32) -> u32 {
        bits
    }

    #[inline(always)]
    fn unary(self, _: Type, operation: Unary, a: u32) -> u32 {
        match operation {
            Unary::FloatNegate => a ^ (1 << 31),
            Unary::FloatAbs => a & !(1 << 31),
            Unary::Sqrt => f32::from_bits(a).sqrt().to_bits(),
            _ => unreachable!("no method of a lane uses {operation:?}"),
        }
    }

    #[inline(always)]
    fn binary(self, _: Type, operation: Binary, a: u32, b: u32) -> u32 {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        match operation {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::ShiftLeft => a << (b & 31),
            Binary::SignedShiftRight => (a.cast_signed() >> (b & 31)).cast_unsigned(),
            Binary::UnsignedShiftRight => a >> (b & 31),
            Binary::SignedMax => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
            Binary::FloatAdd => (x + y).to_bits(),
            Binary::FloatSubtract => (x - y).to_bits(),
            Binary::FloatMultiply => (x * y).to_bits(),
            Binary::FloatDivide => (x / y).to_bits(),
            Binary::FloatMin => {
                if y < x {
                    b
                } else {
                    a
                }
            }
            Binary::FloatMax => {
                if x < y {
                    b
                } else {
                    a
                }
            }
            _ => unreachable!("no method of a lane uses {operation:?}"),
        }
    }

    #[inline(always)]
    fn compare(self, comparison: Compare, a: u32, b: u32) -> u32 {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        u32::from(match comparison {
            Compare::Equal => a == b,
            Compare::SignedLess => a.cast_signed() < b.cast_signed(),
            Compare::FloatEqual => x == y,
            Compare::FloatLess => x < y,
            _ => unreachable!("no method of a lane uses {comparison:?}"),
        })
    }

    #[inline(always)]
    fn select(self, _: Type, condition: u32, accept: u32, reject: u32) -> u32 {
        if condition != 0 { accept } else { reject }
    }

    #[inline(always)]
    fn convert(self, _: Type, conversion: Convert, a: u32) -> u32 {
        match conversion {
            Convert::Bits => a,
            Convert::SignedToFloat => (a.cast_signed() as f32).to_bits(),
            _ => unreachable!("no method of a lane uses {conversion:?}"),
        }
    }
}
