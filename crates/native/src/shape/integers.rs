use super::{Inference, Shape, Speculation};
use crate::ir::{Binary, Definition, Type, Value};

impl Inference<'_> {
    pub(super) fn binary(&self, operation: Binary, a: Value, b: Value) -> (Shape, Option<Speculation>) {
        use Shape::{Affine, Uniform, Varying};
        let constant = |value: Value| self.constant(value);
        let step = |shape| match shape {
            Affine(step) => Some(step),
            Uniform => Some(0),
            Varying => None,
        };
        let affine = |step: i32| (if step == 0 { Uniform } else { Affine(step) }, None);
        let shapes = (self.out.of(a), self.out.of(b));
        let speculates = self.is_pure && self.kernel.ty(a) == Type::I32;
        match (operation, step(shapes.0), step(shapes.1)) {
            (Binary::Add, Some(a), Some(b)) => affine(a.wrapping_add(b)),
            (Binary::Subtract, Some(a), Some(b)) => affine(a.wrapping_sub(b)),
            (Binary::Multiply, Some(a), Some(0)) if constant(b).is_some() => {
                affine(a.wrapping_mul(constant(b).unwrap_or(0)))
            }
            (Binary::Multiply, Some(0), Some(b)) if constant(a).is_some() => {
                affine(b.wrapping_mul(constant(a).unwrap_or(0)))
            }
            (Binary::ShiftLeft, Some(a), Some(0)) if constant(b).is_some() => {
                affine(a.wrapping_shl(constant(b).unwrap_or(0) as u32))
            }
            (Binary::And, Some(a), Some(0)) => (self.masked(a, constant(b)), None),
            (Binary::And, Some(0), Some(b)) => (self.masked(b, constant(a)), None),
            (Binary::Or | Binary::Xor, Some(a), Some(0)) if constant(b).is_some_and(|b| b & !low_bits(a) == 0) => {
                affine(a)
            }
            (Binary::SignedShiftRight | Binary::UnsignedShiftRight, Some(a), Some(0))
                if speculates && a != i32::MIN && constant(b).is_some() =>
            {
                let bits = constant(b).unwrap_or(0) as u32 % 32;
                if a.trailing_zeros() >= bits {
                    (affine(a >> bits).0, Some(Speculation::NoWrap))
                } else if a > 0 {
                    (Varying, Some(Speculation::NoWrap))
                } else {
                    (Varying, None)
                }
            }
            (Binary::SignedMin | Binary::SignedMax | Binary::UnsignedMin | Binary::UnsignedMax, Some(_), Some(_))
                if speculates =>
            {
                match shapes {
                    (Affine(a), Uniform) => (Affine(a), Some(Speculation::First)),
                    (Uniform, Affine(b)) => (Affine(b), Some(Speculation::Second)),
                    _ => (Varying, None),
                }
            }
            (Binary::UnsignedRemainder, Some(a), Some(0)) if speculates && a == 1 && constant(b).is_none() => {
                (Affine(a), Some(Speculation::SameQuotient))
            }
            (Binary::UnsignedDivide, Some(1), Some(0)) if speculates && constant(b).is_none() => {
                (Uniform, Some(Speculation::SameQuotient))
            }
            _ => (Varying, None),
        }
    }

    fn constant(&self, value: Value) -> Option<i32> {
        match self.kernel.definition(value) {
            Definition::Constant(bits) => Some(*bits as u32 as i32),
            _ => None,
        }
    }

    /// Shape of the bits of an affine value that a constant mask keeps.
    fn masked(&self, step: i32, mask: Option<i32>) -> Shape {
        match mask {
            // The step does not change the bits below its lowest bit.
            Some(mask) if mask & !low_bits(step) == 0 => Shape::Uniform,
            Some(mask) if mask | low_bits(step) == -1 => Shape::Affine(step),
            _ => Shape::Varying,
        }
    }

    /// True for quotients of an affine value, and for their sums with uniform values.
    pub(super) fn is_ordered(&self, value: Value, shape: Shape) -> bool {
        let Definition::Binary(operation, a, b) = *self.kernel.definition(value) else { return false };
        let is_uniform = |value| self.out.of(value) == Shape::Uniform;
        shape == Shape::Varying
            && self.kernel.ty(value) == Type::I32
            && match operation {
                Binary::SignedShiftRight | Binary::UnsignedShiftRight => {
                    self.out.speculations.get(&value) == Some(&Speculation::NoWrap)
                }
                Binary::Add => self.out.is_ordered(a) && is_uniform(b) || self.out.is_ordered(b) && is_uniform(a),
                Binary::Subtract => self.out.is_ordered(a) && is_uniform(b),
                _ => false,
            }
    }
}

fn low_bits(step: i32) -> i32 {
    match step {
        0 => -1,
        _ => (step & step.wrapping_neg()).wrapping_sub(1),
    }
}
