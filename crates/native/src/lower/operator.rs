//! Unary and binary operators, relational functions and conversions.

use std::rc::Rc;

use naga::{BinaryOperator, Expression, Handle, RelationalFunction, Scalar, ScalarKind, TypeInner, UnaryOperator};

use super::arithmetic::is_half;
use super::{Lowering, Unsupported, value_type};
use crate::ir::{Binary, Compare, Convert, Type, Unary, Value};

/// Conversion limit of WGSL: the greatest integer below `2^bits` in a float type. `None` for the
/// limit `2^bits − 1`, and if every finite float is less.
fn greatest_integer(float: Scalar, bits: u32) -> Option<u64> {
    let digits = match float.width {
        4 => f32::MANTISSA_DIGITS,
        8 => f64::MANTISSA_DIGITS,
        _ => return None,
    };
    (bits > digits).then(|| (u64::MAX >> (u64::BITS - bits)) & (u64::MAX << (bits - digits)))
}

impl<'m> Lowering<'m> {
    pub(super) fn scalar_of(&self, expression: Handle<Expression>) -> Result<Scalar, Unsupported> {
        match *self.type_of(expression) {
            TypeInner::Scalar(scalar)
            | TypeInner::Vector { scalar, .. }
            | TypeInner::Matrix { scalar, .. }
            | TypeInner::Atomic(scalar) => Ok(scalar),
            _ => self.invalid("an operand that is not a number"),
        }
    }

    pub(super) fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: Handle<Expression>,
    ) -> Result<Rc<[Value]>, Unsupported> {
        let scalar = self.scalar_of(operand)?;
        let values = self.values(operand)?;
        let mut results = Vec::with_capacity(values.len());
        for value in values.iter() {
            results.push(match operator {
                UnaryOperator::Negate => self.builder.negate(scalar, *value),
                UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot => self.builder.unary(Unary::Not, *value),
            });
        }
        Ok(results.into())
    }

    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Rc<[Value]>, Unsupported> {
        let scalar = self.scalar_of(left)?;
        let (a, b) = (self.values(left)?, self.values(right)?);
        if operator == BinaryOperator::Multiply
            && let Some(product) = self.matrix_product(scalar, (self.type_of(left), &a), (self.type_of(right), &b))
        {
            return Ok(product);
        }
        let count = a.len().max(b.len());
        let mut results = Vec::with_capacity(count);
        for index in 0..count {
            let (a, b) = (a[index.min(a.len() - 1)], b[index.min(b.len() - 1)]);
            results.push(self.scalar_operation(operator, scalar, a, b));
        }
        Ok(results.into())
    }

    fn scalar_operation(&mut self, operator: BinaryOperator, scalar: Scalar, a: Value, b: Value) -> Value {
        let builder = &mut self.builder;
        match operator {
            BinaryOperator::Add => builder.add(scalar, a, b),
            BinaryOperator::Subtract => builder.subtract(scalar, a, b),
            BinaryOperator::Multiply => builder.multiply(scalar, a, b),
            BinaryOperator::Divide => builder.divide(scalar, a, b),
            BinaryOperator::Modulo => builder.remainder(scalar, a, b),
            BinaryOperator::Equal => builder.equal(scalar, a, b),
            BinaryOperator::NotEqual => builder.not_equal(scalar, a, b),
            BinaryOperator::Less => builder.less(scalar, a, b),
            BinaryOperator::LessEqual => builder.less_equal(scalar, a, b),
            BinaryOperator::Greater => builder.less(scalar, b, a),
            BinaryOperator::GreaterEqual => builder.less_equal(scalar, b, a),
            BinaryOperator::And | BinaryOperator::LogicalAnd => builder.binary(Binary::And, a, b),
            BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => builder.binary(Binary::Or, a, b),
            BinaryOperator::ExclusiveOr => builder.binary(Binary::Xor, a, b),
            BinaryOperator::ShiftLeft => {
                let amount = builder.shift_amount(a, b);
                builder.binary(Binary::ShiftLeft, a, amount)
            }
            BinaryOperator::ShiftRight => {
                let amount = builder.shift_amount(a, b);
                let signed = scalar.kind == ScalarKind::Sint;
                let operation = if signed { Binary::SignedShiftRight } else { Binary::UnsignedShiftRight };
                builder.binary(operation, a, amount)
            }
        }
    }

    pub(super) fn relational(
        &mut self,
        function: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Result<Rc<[Value]>, Unsupported> {
        let values = self.values(argument)?;
        match function {
            RelationalFunction::All => Ok([self.fold_bools(Binary::And, true, &values)].into()),
            RelationalFunction::Any => Ok([self.fold_bools(Binary::Or, false, &values)].into()),
            RelationalFunction::IsNan => {
                Ok(values.iter().map(|value| self.builder.compare(Compare::FloatNotEqual, *value, *value)).collect())
            }
            RelationalFunction::IsInf => Ok(values.iter().map(|value| self.is_infinite(*value)).collect()),
        }
    }

    fn fold_bools(&mut self, operation: Binary, neutral: bool, values: &[Value]) -> Value {
        let neutral = self.builder.bool(neutral);
        values.iter().fold(neutral, |folded, value| self.builder.binary(operation, folded, *value))
    }

    fn is_infinite(&mut self, value: Value) -> Value {
        let infinity = self.builder.float(self.builder.ty(value), f64::INFINITY);
        let magnitude = self.builder.unary(Unary::FloatAbs, value);
        self.builder.compare(Compare::FloatEqual, magnitude, infinity)
    }

    /// Converts each scalar to `kind` and `width`; without `width`, reinterprets the bits.
    pub(super) fn convert(
        &mut self,
        expression: Handle<Expression>,
        kind: ScalarKind,
        width: Option<u8>,
    ) -> Result<Rc<[Value]>, Unsupported> {
        let from = self.scalar_of(expression)?;
        let to = Scalar { kind, width: width.unwrap_or(from.width) };
        let Some(ty) = value_type(to) else { return self.unsupported("16-bit integers") };
        let values = self.values(expression)?;
        if width.is_none() && is_half(from) != is_half(to) {
            return self.unsupported("bit casts of `f16`");
        }
        let mut results = Vec::with_capacity(values.len());
        for value in values.iter() {
            results.push(match width {
                Some(_) => self.convert_scalar(from, to, ty, *value),
                None => self.builder.convert(Convert::Bits, ty, *value),
            });
        }
        Ok(results.into())
    }

    fn convert_scalar(&mut self, from: Scalar, to: Scalar, ty: Type, value: Value) -> Value {
        use ScalarKind::{Bool, Float, Sint};
        let builder = &mut self.builder;
        let source = builder.ty(value);
        match (from.kind, to.kind) {
            (Bool, Bool) => value,
            (Bool, Float) => {
                let (one, zero) = (builder.float(ty, 1.0), builder.float(ty, 0.0));
                builder.select(value, one, zero)
            }
            (Bool, _) => builder.convert(Convert::BoolToInteger, ty, value),
            (Float, Bool) => {
                let zero = builder.zero(source);
                builder.compare(Compare::FloatNotEqual, value, zero)
            }
            (_, Bool) => {
                let zero = builder.zero(source);
                builder.compare(Compare::NotEqual, value, zero)
            }
            (Float, Float) => {
                let converted = if source == ty { value } else { builder.convert(Convert::FloatToFloat, ty, value) };
                builder.rounded(to, converted)
            }
            (Float, kind) => {
                let (conversion, minimum, sign_bits) = match kind {
                    Sint => (Convert::FloatToSigned, Binary::SignedMin, 1),
                    _ => (Convert::FloatToUnsigned, Binary::UnsignedMin, 0),
                };
                let converted = builder.convert(conversion, ty, value);
                match greatest_integer(from, u32::from(to.width) * 8 - sign_bits) {
                    Some(greatest) => {
                        let greatest = builder.integer(ty, greatest as i64);
                        builder.binary(minimum, converted, greatest)
                    }
                    None => converted,
                }
            }
            (_, Float) => {
                let signed = from.kind == Sint;
                let conversion = if signed { Convert::SignedToFloat } else { Convert::UnsignedToFloat };
                let converted = builder.convert(conversion, ty, value);
                builder.rounded(to, converted)
            }
            _ => match (source, ty) {
                (Type::I32, Type::I64) if from.kind == Sint => builder.convert(Convert::SignedWiden, ty, value),
                (Type::I32, Type::I64) => builder.convert(Convert::UnsignedWiden, ty, value),
                (Type::I64, Type::I32) => builder.convert(Convert::Narrow, ty, value),
                _ => value,
            },
        }
    }
}
