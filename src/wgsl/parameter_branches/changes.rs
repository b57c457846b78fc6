//! The stores of a loop's body, found ahead of its first iteration.

use naga::{Block, Expression, Handle, Statement};

use super::walk::{Changes, Target, Walk};

impl Walk<'_> {
    /// Adds the stores of a block to `changes`.
    pub fn collect_changes(&self, block: &Block, changes: &mut Changes) {
        for statement in block {
            match statement {
                Statement::Store { pointer, value } => {
                    if let (Target::Variable(variable), _) = self.target(*pointer) {
                        let step = self.step(*pointer, *value);
                        changes.stores.entry(variable).or_default().push(step);
                    }
                }
                Statement::Call { arguments, .. } => {
                    changes.calls = true;
                    for &argument in arguments {
                        if let (Target::Variable(variable), _) = self.target(argument) {
                            changes.stores.entry(variable).or_default().push(None);
                        }
                    }
                }
                Statement::Block(block) => self.collect_changes(block, changes),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].into_iter().for_each(|block| self.collect_changes(block, changes));
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.collect_changes(&case.body, changes))
                }
                Statement::Loop { body, continuing, .. } => {
                    [body, continuing].into_iter().for_each(|block| self.collect_changes(block, changes));
                }
                _ => {}
            }
        }
    }

    /// The step of a counter: `step` where the store is `variable = variable + step` or with a minus.
    fn step(&self, pointer: Handle<Expression>, value: Handle<Expression>) -> Option<Handle<Expression>> {
        let Expression::LocalVariable(variable) = self.function.expressions[pointer] else { return None };
        let Expression::Binary { op: naga::BinaryOperator::Add | naga::BinaryOperator::Subtract, left, right } =
            self.function.expressions[value]
        else {
            return None;
        };
        let is_variable = |side| match self.function.expressions[side] {
            Expression::Load { pointer } => self.function.expressions[pointer] == Expression::LocalVariable(variable),
            _ => false,
        };
        match (is_variable(left), is_variable(right)) {
            (true, false) => Some(right),
            (false, true) => Some(left),
            _ => None,
        }
    }
}
