//! The variables of loops: those that change, and the counters among them.

use std::collections::{BTreeMap, BTreeSet};

use naga::{BinaryOperator, Block, Expression, Handle, LocalVariable, Statement};

use super::value::{Interval, Value};
use super::walk::Walk;

impl Walk<'_> {
    /// The local variables that a block stores to, itself or by a pointer that it passes.
    pub fn stored(&self, block: &Block, stored: &mut BTreeSet<Handle<LocalVariable>>) {
        for statement in block {
            match statement {
                Statement::Store { pointer, .. } => stored.extend(self.part(*pointer).map(|(variable, _)| variable)),
                Statement::Call { arguments, .. } => {
                    stored.extend(arguments.iter().filter_map(|&argument| Some(self.part(argument)?.0)));
                }
                Statement::Block(block) => self.stored(block, stored),
                Statement::If { accept, reject, .. } => [accept, reject].iter().for_each(|b| self.stored(b, stored)),
                Statement::Switch { cases, .. } => cases.iter().for_each(|case| self.stored(&case.body, stored)),
                Statement::Loop { body, continuing, .. } => {
                    [body, continuing].iter().for_each(|block| self.stored(block, stored));
                }
                _ => {}
            }
        }
    }

    /// The counter of a loop `for (var i = a; i < b; i += c)` with constants, in the body.
    pub fn counters(&self, body: &Block, continuing: &Block) -> BTreeMap<Handle<LocalVariable>, Interval> {
        let mut statements = body.iter().filter(|statement| !matches!(statement, Statement::Emit(_)));
        let counter = match statements.next() {
            Some(Statement::If { condition, accept, reject }) if accept.is_empty() && is_break(reject) => {
                self.counter(*condition, body, continuing)
            }
            _ => None,
        };
        counter.into_iter().collect()
    }

    fn counter(
        &self,
        condition: Handle<Expression>,
        body: &Block,
        continuing: &Block,
    ) -> Option<(Handle<LocalVariable>, Interval)> {
        let expressions = &self.function.expressions;
        let Expression::Binary { op, left, right } = expressions[condition] else { return None };
        let variable = self.loaded(left)?;
        let Value::Scalar(end @ Interval { axis: None, .. }) = self.constant(right) else { return None };
        let Some(Value::Scalar(begin @ Interval { axis: None, .. })) = self.locals.get(&variable) else { return None };
        let mut stored = BTreeSet::new();
        self.stored(body, &mut stored);
        let mut stores = continuing.iter().filter(|statement| !matches!(statement, Statement::Emit(_)));
        let (Some(Statement::Store { pointer, value }), None) = (stores.next(), stores.next()) else { return None };
        let Expression::Binary { op: step_op, left: own, right: step } = expressions[*value] else { return None };
        let Value::Scalar(step @ Interval { axis: None, .. }) = self.constant(step) else { return None };
        let is_step = self.part(*pointer) == Some((variable, Vec::new())) && self.loaded(own) == Some(variable);
        if !is_step || stored.contains(&variable) || step.lo <= 0 {
            return None;
        }
        let (lo, hi) = match (op, step_op) {
            (BinaryOperator::Less, BinaryOperator::Add) => (begin.lo, end.hi - 1),
            (BinaryOperator::LessEqual, BinaryOperator::Add) => (begin.lo, end.hi),
            (BinaryOperator::Greater, BinaryOperator::Subtract) => (end.lo + 1, begin.hi),
            (BinaryOperator::GreaterEqual, BinaryOperator::Subtract) => (end.lo, begin.hi),
            _ => return None,
        };
        // Where the body never runs, any value will do.
        Some((variable, Interval::constant(lo.min(hi), hi)))
    }

    /// The local variable that an expression loads.
    fn loaded(&self, handle: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[handle] else { return None };
        self.part(pointer).filter(|(_, path)| path.is_empty()).map(|(variable, _)| variable)
    }

    /// The value of an expression that no variable can change.
    fn constant(&self, handle: Handle<Expression>) -> Value {
        match &self.function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) => self.value(handle),
            _ => Value::Any,
        }
    }
}

fn is_break(block: &Block) -> bool {
    block.iter().all(|statement| matches!(statement, Statement::Break | Statement::Block(_)))
        && block.iter().any(|statement| match statement {
            Statement::Break => true,
            Statement::Block(block) => is_break(block),
            _ => false,
        })
}
