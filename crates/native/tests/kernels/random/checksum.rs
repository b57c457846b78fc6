//! A checksum of the variables at the end of a kernel, so that no statement is without effect.

use super::ast::{Block, Expression, Scalar, Statement, Type};
use super::generator::{Generator, Root};

impl Generator {
    /// Writes a checksum of some variables to the output for it.
    pub fn add_checksum(&mut self, block: &mut Block) {
        let Some(output) = self.checksum.clone() else { return };
        let mut sum = Expression::name(Type::U32, "i");
        let mut roots = self.scope.clone();
        roots.extend(self.globals.iter().filter(|root| root.is_mutable).cloned());
        for _ in 0..roots.len().min(8) {
            let root = roots.swap_remove(self.rng.below(roots.len()));
            let Some(word) = self.word(&root) else { continue };
            let factor = Expression::literal(Type::U32, "31u");
            sum = Expression::infix(Type::U32, "*", sum, factor);
            sum = Expression::infix(Type::U32, "^", sum, word);
        }
        let target = self.own_element(&output);
        block.push(Statement::Assign { target, operator: "=", value: sum });
    }

    /// Bits of a scalar of a variable as `u32`.
    fn word(&mut self, root: &Root) -> Option<Expression> {
        let scalars =
            [Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::F32, Scalar::I64, Scalar::U64, Scalar::F64, Scalar::F16];
        let scalars = scalars.into_iter().filter(|scalar| self.can_reach(&root.expression.ty, &Type::Scalar(*scalar)));
        let scalars: Vec<_> = scalars.collect();
        if scalars.is_empty() {
            return None;
        }
        let scalar = *self.rng.pick(&scalars);
        let mut part = self.reach(root.expression.clone(), &Type::Scalar(scalar), root);
        if matches!(scalar, Scalar::F64 | Scalar::F16) {
            part = Expression::call(Type::F32, "f32", vec![part]);
        }
        if scalar.is_float() {
            part = self.without_nan(part);
            return Some(Expression::call(Type::U32, "bitcast<u32>", vec![part]));
        }
        Some(Expression::call(Type::U32, "u32", vec![part]))
    }
}
