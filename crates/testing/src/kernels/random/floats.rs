//! Random expressions of floats with a result that WGSL specifies.
//!
//! WGSL leaves the rounding of a result open, and the sign of a zero. Arithmetic is exact here, of
//! integers from 0 to 1023, and a difference is never zero.

use super::ast::{Expression, ScalarType, Type};
use super::generator::Generator;

impl Generator {
    /// True for types of numbers with sums and products that need not be exact, or always are.
    pub(super) fn has_specified_sums(&self, ty: &Type) -> bool {
        ty.is_numeric() && (self.unspecified_results || ty.scalar().is_some_and(ScalarType::is_integer))
    }

    /// An integer from 0 to 1023, or a bool, as a float.
    pub(super) fn exact_conversion(&mut self, ty: &Type, depth: usize) -> Expression {
        if self.rng.chance(10) {
            return self.builtin(ty.clone(), &ty.to_string(), &[ty.with(ScalarType::Bool)], depth);
        }
        let scalar = *self.rng.pick(&[ScalarType::I32, ScalarType::U32]);
        let operand = self.expression(&ty.with(scalar), depth);
        let operand = self.at_run_time(operand);
        let mask = Expression::literal(Type::Scalar(scalar), if scalar == ScalarType::I32 { "1023i" } else { "1023u" });
        let mask = match &operand.ty {
            Type::Vector(..) => Expression::call(operand.ty.clone(), operand.ty.to_string(), vec![mask]),
            _ => mask,
        };
        let operand = Expression::infix(operand.ty.clone(), "&", operand, mask);
        Expression::call(ty.clone(), ty.to_string(), vec![operand])
    }

    /// A sum, a difference or a product, sometimes by `fma`.
    pub(super) fn exact_arithmetic(&mut self, ty: &Type, depth: usize) -> Expression {
        let depth = depth.min(1);
        let [mut a, b] = [0, 1].map(|_| self.exact_conversion(ty, depth));
        if self.rng.chance(15) {
            let c = self.exact_conversion(ty, depth);
            return Expression::call(ty.clone(), "fma", vec![a, b, c]);
        }
        let operator = *self.rng.pick(&["+", "-", "*"]);
        if operator == "-" {
            a = Expression::call(ty.clone(), ty.to_string(), vec![Expression::literal(Type::F32, "2048f")]);
        }
        Expression::infix(ty.clone(), operator, a, b)
    }

    pub(super) fn specified_float_builtin(&mut self, ty: &Type, depth: usize) -> Expression {
        let name = *self.rng.pick(&["abs", "floor", "sign", "saturate", "min", "max", "step"]);
        let count = if matches!(name, "min" | "max" | "step") { 2 } else { 1 };
        self.builtin(ty.clone(), name, &vec![ty.clone(); count], depth)
    }
}
