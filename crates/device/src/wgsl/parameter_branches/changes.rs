//! Collects the stores of a loop's body before its first iteration is analysed.

use std::collections::BTreeSet;

use naga::{AddressSpace, Block, Expression, Function, GlobalVariable, Handle, Module, Statement};

use super::walk::{Changes, Target, Variable, Walk};

impl Walk<'_> {
    /// Adds the stores of a block to `changes`.
    pub(super) fn collect_changes(&self, block: &Block, changes: &mut Changes) {
        for statement in block {
            match statement {
                Statement::Store { pointer, value } => {
                    if let (Target::Variable(variable), _) = self.target(*pointer) {
                        let step = self.step(*pointer, *value);
                        changes.stores.entry(variable).or_default().push(step);
                    }
                }
                Statement::Call { function, arguments, .. } => {
                    let mut stored = BTreeSet::new();
                    add_stored_privates(self.module, *function, &mut stored);
                    for private in stored {
                        changes.stores.entry(Variable::Private(private)).or_default().push(None);
                    }
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

    /// Returns the step of a counter: `step` if the store is `variable = variable + step` or
    /// `variable - step`.
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

/// Adds the private variables that a function and its callees store to.
fn add_stored_privates(module: &Module, function: Handle<Function>, stored: &mut BTreeSet<Handle<GlobalVariable>>) {
    let function = &module.functions[function];
    let mut blocks = vec![&function.body];
    while let Some(block) = blocks.pop() {
        for statement in block {
            match statement {
                Statement::Store { pointer, .. } => stored.extend(private_variable(module, function, *pointer)),
                Statement::Call { function, .. } => add_stored_privates(module, *function, stored),
                Statement::Block(block) => blocks.push(block),
                Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
                Statement::Switch { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body)),
                Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
                _ => {}
            }
        }
    }
}

fn private_variable(
    module: &Module,
    function: &Function,
    mut pointer: Handle<Expression>,
) -> Option<Handle<GlobalVariable>> {
    loop {
        pointer = match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
            Expression::GlobalVariable(variable) => {
                return (module.global_variables[variable].space == AddressSpace::Private).then_some(variable);
            }
            _ => return None,
        };
    }
}
