use naga::{Scalar, ScalarKind};

use super::builder::Builder;
use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};

pub(super) fn is_half(scalar: Scalar) -> bool {
    scalar.kind == ScalarKind::Float && scalar.width == 2
}

pub(super) fn is_float(scalar: Scalar) -> bool {
    scalar.kind == ScalarKind::Float
}

/// Operations that depend on the WGSL type of their operands.
impl Builder {
    /// Rounds a result of type `f16`; returns other results unchanged.
    pub(super) fn rounded(&mut self, scalar: Scalar, value: Value) -> Value {
        if is_half(scalar) { self.unary(Unary::RoundToF16, value) } else { value }
    }

    fn arithmetic(&mut self, scalar: Scalar, integer: Binary, float: Binary, operands: [Value; 2]) -> Value {
        let [a, b] = operands;
        if is_float(scalar) {
            let value = self.binary(float, a, b);
            self.rounded(scalar, value)
        } else {
            self.binary(integer, a, b)
        }
    }

    pub(super) fn add(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.arithmetic(scalar, Binary::Add, Binary::FloatAdd, [a, b])
    }

    pub(super) fn subtract(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.arithmetic(scalar, Binary::Subtract, Binary::FloatSubtract, [a, b])
    }

    pub(super) fn multiply(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.arithmetic(scalar, Binary::Multiply, Binary::FloatMultiply, [a, b])
    }

    pub(super) fn divide(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let integer = match scalar.kind {
            ScalarKind::Sint => Binary::SignedDivide,
            _ => Binary::UnsignedDivide,
        };
        self.arithmetic(scalar, integer, Binary::FloatDivide, [a, b])
    }

    /// Remainder with the sign of the dividend; `a − b · trunc(a / b)` for floats.
    pub(super) fn remainder(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        match scalar.kind {
            ScalarKind::Sint => self.binary(Binary::SignedRemainder, a, b),
            ScalarKind::Float => {
                let quotient = self.divide(scalar, a, b);
                let whole = self.unary(Unary::Trunc, quotient);
                let product = self.multiply(scalar, b, whole);
                self.subtract(scalar, a, product)
            }
            _ => self.binary(Binary::UnsignedRemainder, a, b),
        }
    }

    pub(super) fn negate(&mut self, scalar: Scalar, a: Value) -> Value {
        self.unary(if is_float(scalar) { Unary::FloatNegate } else { Unary::Negate }, a)
    }

    pub(super) fn min(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let operation = match scalar.kind {
            ScalarKind::Sint => Binary::SignedMin,
            ScalarKind::Float => Binary::FloatMin,
            _ => Binary::UnsignedMin,
        };
        self.binary(operation, a, b)
    }

    pub(super) fn max(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let operation = match scalar.kind {
            ScalarKind::Sint => Binary::SignedMax,
            ScalarKind::Float => Binary::FloatMax,
            _ => Binary::UnsignedMax,
        };
        self.binary(operation, a, b)
    }

    pub(super) fn clamp(&mut self, scalar: Scalar, a: Value, low: Value, high: Value) -> Value {
        let raised = self.max(scalar, a, low);
        self.min(scalar, raised, high)
    }

    pub(super) fn less(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let comparison = match scalar.kind {
            ScalarKind::Sint => Compare::SignedLess,
            ScalarKind::Float => Compare::FloatLess,
            _ => Compare::UnsignedLess,
        };
        self.compare(comparison, a, b)
    }

    pub(super) fn less_equal(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let comparison = match scalar.kind {
            ScalarKind::Sint => Compare::SignedLessEqual,
            ScalarKind::Float => Compare::FloatLessEqual,
            _ => Compare::UnsignedLessEqual,
        };
        self.compare(comparison, a, b)
    }

    pub(super) fn equal(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        match scalar.kind {
            ScalarKind::Bool => {
                let differ = self.binary(Binary::Xor, a, b);
                self.unary(Unary::Not, differ)
            }
            ScalarKind::Float => self.compare(Compare::FloatEqual, a, b),
            _ => self.compare(Compare::Equal, a, b),
        }
    }

    pub(super) fn not_equal(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        match scalar.kind {
            ScalarKind::Bool => self.binary(Binary::Xor, a, b),
            ScalarKind::Float => self.compare(Compare::FloatNotEqual, a, b),
            _ => self.compare(Compare::NotEqual, a, b),
        }
    }

    pub(super) fn shift_amount(&mut self, shifted: Value, amount: Value) -> Value {
        match (self.ty(shifted), self.ty(amount)) {
            (Type::I64, Type::I32) => self.convert(Convert::UnsignedWiden, Type::I64, amount),
            (Type::I32, Type::I64) => self.convert(Convert::Narrow, Type::I32, amount),
            _ => amount,
        }
    }

    /// Sum of products, in the order of elements.
    pub(super) fn dot(&mut self, scalar: Scalar, a: &[Value], b: &[Value]) -> Value {
        let mut sum = None;
        for (a, b) in a.iter().zip(b) {
            let product = self.multiply(scalar, *a, *b);
            sum = Some(match sum {
                Some(sum) => self.add(scalar, sum, product),
                None => product,
            });
        }
        sum.unwrap_or_else(|| self.zero(Type::F32))
    }

    /// Constant `value` in the type of `like`, a float or an integer.
    pub(super) fn number(&mut self, scalar: Scalar, like: Value, value: f64) -> Value {
        let ty = self.ty(like);
        if is_float(scalar) { self.float(ty, value) } else { self.integer(ty, value as i64) }
    }
}
