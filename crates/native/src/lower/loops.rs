use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use naga::{Block, Expression, Handle};

use super::builder::Body;
use super::facts::continues;
use super::statement::JumpTargets;
use super::{Lowering, Operand, Unsupported};
use crate::ir::{Statement, Value, Variable};

/// Variables that carry values from the body of a loop to its continuing block, where they are
/// otherwise undefined because a `continue` breaks the body.
#[derive(Debug, Default)]
pub(super) struct ContinuingValues {
    defined: HashSet<Value>,
    variables: HashMap<Value, Variable>,
}

impl<'m> Lowering<'m> {
    pub(super) fn lower_loop(
        &mut self,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        line: u32,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        if break_if.is_none()
            && let Some(counted) = self.counted_loop(body, continuing)
        {
            return self.lower_counted_loop(&counted, body, targets);
        }
        let exit = targets.next.unwrap_or_else(|| self.builder.label());
        let head = self.builder.label();
        if targets.next.is_none() {
            self.builder.open_body();
        }
        self.builder.open_loop();
        let inner = JumpTargets { on_break: Some(exit), on_continue: None, next: None, ..targets };
        let after = JumpTargets { on_break: None, ..inner };
        if continues(body) {
            self.lower_body_with_continue(body, continuing, break_if, [inner, after])?;
        } else {
            self.lower_block(body, inner)?;
            self.lower_continuing(continuing, break_if, after, inner)?;
        }
        self.builder.push_repeat(head);
        let body = self.builder.close_body();
        self.builder.push_loop(head, body, line);
        if targets.next.is_none() {
            let body = self.builder.close_body();
            self.builder.push_block(exit, body);
        }
        Ok(())
    }

    fn lower_continuing(
        &mut self,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        targets: JumpTargets,
        inner: JumpTargets,
    ) -> Result<(), Unsupported> {
        if self.builder.diverted() {
            return Ok(());
        }
        self.lower_block(continuing, targets)?;
        let (Some(condition), Some(exit)) = (break_if, inner.on_break) else { return Ok(()) };
        let condition = self.scalar(condition)?;
        match self.builder.bits(condition) {
            Some(0) => {}
            Some(_) => self.builder.push_break(exit),
            None => {
                self.builder.open_body();
                self.builder.push_break(exit);
                let accept = self.builder.close_body();
                let reject = Body { statements: Vec::new(), diverted: false };
                self.builder.push_if(condition, accept, reject);
            }
        }
        Ok(())
    }

    fn lower_body_with_continue(
        &mut self,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
        [inner, after]: [JumpTargets; 2],
    ) -> Result<(), Unsupported> {
        let label = self.builder.label();
        self.builder.open_body();
        self.lower_block(body, JumpTargets { on_continue: Some(label), next: Some(label), ..inner })?;
        let mut body = self.builder.close_body();
        if !self.builder.is_broken(label) {
            self.builder.push_block(label, body);
            return self.lower_continuing(continuing, break_if, after, inner);
        }
        let defined = body.statements.iter().filter_map(defined_value).collect();
        self.continuing_values.push(ContinuingValues { defined, variables: HashMap::new() });
        self.builder.open_body();
        self.lower_continuing(continuing, break_if, after, inner)?;
        let continuing = self.builder.close_body();
        if let Some(continuing_values) = self.continuing_values.pop() {
            self.set_continuing_variables(&continuing_values, &mut body);
        }
        self.builder.push_block(label, body);
        self.builder.append(continuing);
        Ok(())
    }

    /// Sets the variables of a bridge to zero before the body, and to their values in the body.
    fn set_continuing_variables(&mut self, continuing_values: &ContinuingValues, body: &mut Body) {
        if continuing_values.variables.is_empty() {
            return;
        }
        let mut statements = Vec::with_capacity(body.statements.len() + continuing_values.variables.len());
        for statement in body.statements.drain(..) {
            let value = defined_value(&statement);
            statements.push(statement);
            if let Some(value) = value
                && let Some(variable) = continuing_values.variables.get(&value)
            {
                let zero = self.builder.zero(self.builder.ty(value));
                self.builder.set(*variable, zero);
                statements.push(Statement::Set(*variable, value));
            }
        }
        body.statements = statements;
    }

    pub(super) fn with_continuing_variables(&mut self, operand: Operand) -> Operand {
        if self.continuing_values.is_empty() {
            return operand;
        }
        match operand {
            Operand::Values(values) => {
                Operand::Values(values.iter().map(|value| self.continuing_variable_value(*value)).collect())
            }
            Operand::Pointer(location) => {
                let mut location = (*location).clone();
                location.map_values(|value| self.continuing_variable_value(value));
                Operand::Pointer(Rc::new(location))
            }
        }
    }

    fn continuing_variable_value(&mut self, value: Value) -> Value {
        let Some(continuing_values) =
            self.continuing_values.iter_mut().find(|continuing_values| continuing_values.defined.contains(&value))
        else {
            return value;
        };
        let ty = self.builder.kernel.ty(value);
        let variable =
            *continuing_values.variables.entry(value).or_insert_with(|| self.builder.kernel.add_variable(ty));
        self.builder.get(variable)
    }
}

fn defined_value(statement: &Statement) -> Option<Value> {
    match statement {
        Statement::Let(value) => Some(*value),
        Statement::Atomic(atomic) => Some(atomic.result),
        _ => None,
    }
}
