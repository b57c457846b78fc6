//! The variables of loops: those that change, and the counters among them.

use std::collections::{BTreeMap, BTreeSet};

use naga::{BinaryOperator, Block, Expression, Handle, LocalVariable, Statement};

use super::value::{Interval, Value};
use super::walk::Walk;

impl Walk<'_> {
    /// Collects the local variables that a block stores to, directly or by a pointer that it passes
    /// to a function.
    pub(super) fn collect_stored_variables(&self, block: &Block, stored: &mut BTreeSet<Handle<LocalVariable>>) {
        for statement in block {
            match statement {
                Statement::Store { pointer, .. } => stored.extend(self.part(*pointer).map(|(variable, _)| variable)),
                Statement::Call { arguments, .. } => {
                    stored.extend(arguments.iter().filter_map(|&argument| Some(self.part(argument)?.0)));
                }
                Statement::Block(block) => self.collect_stored_variables(block, stored),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].iter().for_each(|b| self.collect_stored_variables(b, stored))
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.collect_stored_variables(&case.body, stored))
                }
                Statement::Loop { body, continuing, .. } => {
                    [body, continuing].iter().for_each(|block| self.collect_stored_variables(block, stored));
                }
                _ => {}
            }
        }
    }

    /// Finds the counter of a loop `for (var i = a; i < b; i += c)` with constants, and its
    /// interval in the body.
    pub(super) fn find_counters(&self, body: &Block, continuing: &Block) -> BTreeMap<Handle<LocalVariable>, Interval> {
        let (begin, rest) = body.split_at(count_emits(body));
        let counter = match rest.first() {
            Some(Statement::If { condition, accept, reject })
                if accept.is_empty() && is_break(reject) && is_emitted(begin, *condition) =>
            {
                self.find_counter(*condition, begin, body, continuing)
            }
            _ => None,
        };
        counter.into_iter().collect()
    }

    /// Returns the counter of a loop and its interval in the body. `begin` are the statements
    /// before the loop's condition.
    fn find_counter(
        &self,
        condition: Handle<Expression>,
        begin: &[Statement],
        body: &Block,
        continuing: &Block,
    ) -> Option<(Handle<LocalVariable>, Interval)> {
        let expressions = &self.function.expressions;
        let Expression::Binary { op, left, right } = expressions[condition] else { return None };
        let variable = self.loaded_variable(begin, left)?;
        let ty = self.integer_type(left)?;
        let Value::Scalar(end) = self.constant(right) else { return None };
        let Some(Value::Scalar(first)) = self.locals.get(&variable) else { return None };
        let mut stored = BTreeSet::new();
        self.collect_stored_variables(body, &mut stored);

        let (loads, stores) = continuing.split_at(count_emits(continuing));
        let [Statement::Store { pointer, value }] = stores else { return None };
        let Expression::Binary { op: step_op, left: own, right: step } = expressions[*value] else { return None };
        let Value::Scalar(step) = self.constant(step) else { return None };
        let is_step = self.part(*pointer) == Some((variable, Vec::new()))
            && is_emitted(loads, *value)
            && self.loaded_variable(loads, own) == Some(variable);
        if !is_step || stored.contains(&variable) || step.lo <= 0 {
            return None;
        }
        let (lo, hi, after) = match (op, step_op) {
            (BinaryOperator::Less, BinaryOperator::Add) => (first.lo, end.hi - 1, end.hi - 1 + step.hi),
            (BinaryOperator::LessEqual, BinaryOperator::Add) => (first.lo, end.hi, end.hi + step.hi),
            (BinaryOperator::Greater, BinaryOperator::Subtract) => (end.lo + 1, first.hi, end.lo + 1 - step.hi),
            (BinaryOperator::GreaterEqual, BinaryOperator::Subtract) => (end.lo, first.hi, end.lo - step.hi),
            _ => return None,
        };
        // Beyond the range of its type the counter would wrap, and the loop continue.
        let ends = ty.has_exactly(*first) && ty.has_exactly(end) && ty.range().contains(&after);
        // Where the body never runs, any value will do.
        ends.then(|| (variable, Interval::constant(lo.min(hi), hi)))
    }

    /// Returns the local variable that an expression loads, if one of the statements evaluates the
    /// load.
    fn loaded_variable(&self, statements: &[Statement], handle: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[handle] else { return None };
        let (variable, path) = self.part(pointer)?;
        (path.is_empty() && is_emitted(statements, handle)).then_some(variable)
    }

    /// Returns the value of an expression that no variable can change.
    fn constant(&self, handle: Handle<Expression>) -> Value {
        match &self.function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) => self.value(handle),
            _ => Value::Any,
        }
    }
}

fn count_emits(block: &Block) -> usize {
    block.iter().take_while(|statement| matches!(statement, Statement::Emit(_))).count()
}

fn is_emitted(statements: &[Statement], handle: Handle<Expression>) -> bool {
    let is_in = |statement: &Statement| match statement {
        Statement::Emit(range) => range.clone().any(|one| one == handle),
        _ => false,
    };
    statements.iter().any(is_in)
}

fn is_break(block: &Block) -> bool {
    match &**block {
        [Statement::Break] => true,
        [Statement::Block(block)] => is_break(block),
        _ => false,
    }
}
