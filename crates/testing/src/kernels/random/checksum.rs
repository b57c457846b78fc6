//! Checksum of the variables at the end of a kernel, so that each statement has an effect.

use super::ast::{Block, Expression, ScalarType, Statement, Type};
use super::generator::{Generator, ScopeEntry};

impl Generator {
    pub(super) fn add_checksum(&mut self, block: &mut Block) {
        let Some(output) = self.checksum.clone() else { return };
        let mut sum = Expression::name(Type::U32, "i");
        let mut entries = self.scope.clone();
        entries.extend(self.globals.iter().filter(|entry| entry.is_mutable).cloned());
        for _ in 0..entries.len().min(8) {
            let entry = entries.swap_remove(self.rng.below(entries.len()));
            let Some(word) = self.word(&entry) else { continue };
            let factor = Expression::literal(Type::U32, "31u");
            sum = Expression::infix(Type::U32, "*", sum, factor);
            sum = Expression::infix(Type::U32, "^", sum, word);
        }
        let target = self.own_element(&output);
        block.push(Statement::Assign { target, operator: "=", value: sum });
    }

    /// Bits of a scalar of a variable as `u32`.
    fn word(&mut self, entry: &ScopeEntry) -> Option<Expression> {
        let scalars = [
            ScalarType::Bool,
            ScalarType::I32,
            ScalarType::U32,
            ScalarType::F32,
            ScalarType::I64,
            ScalarType::U64,
            ScalarType::F64,
            ScalarType::F16,
        ];
        let scalars = scalars.into_iter().filter(|scalar| self.can_reach(&entry.expression.ty, &Type::Scalar(*scalar)));
        let scalars: Vec<_> = scalars.collect();
        if scalars.is_empty() {
            return None;
        }
        let scalar = *self.rng.pick(&scalars);
        let mut part = self.reach(entry.expression.clone(), &Type::Scalar(scalar), entry);
        if matches!(scalar, ScalarType::F64 | ScalarType::F16) {
            part = Expression::call(Type::F32, "f32", vec![part]);
        }
        if scalar.is_float() {
            part = self.without_nan(part);
            return Some(Expression::call(Type::U32, "bitcast<u32>", vec![part]));
        }
        Some(Expression::call(Type::U32, "u32", vec![part]))
    }
}
