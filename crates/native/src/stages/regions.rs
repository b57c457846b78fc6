use std::collections::{BTreeSet, HashMap, HashSet};

use super::{StageCutter, frame_access};
use crate::ir::{Access, Definition, Kernel, Statement, Type, Value, Variable};

#[derive(Default)]
pub(super) struct RegionUses {
    pub defined: HashSet<Value>,
    pub used: BTreeSet<Value>,
    pub variables: BTreeSet<Variable>,
}

impl RegionUses {
    fn access(&mut self, access: &Access) {
        access.for_each_operand(|operand| {
            self.used.insert(operand);
        });
    }

    pub(super) fn body(&mut self, kernel: &Kernel, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Let(value) => {
                    self.defined.insert(*value);
                    if let Definition::Get(variable) = kernel.definition(*value) {
                        self.variables.insert(*variable);
                    }
                    kernel.definition(*value).for_each_operand(|operand| {
                        self.used.insert(operand);
                    });
                }
                Statement::Set(variable, value) => {
                    self.variables.insert(*variable);
                    self.used.insert(*value);
                }
                Statement::Store(access, value) => {
                    self.access(access);
                    self.used.insert(*value);
                }
                Statement::Atomic(atomic) => {
                    self.access(&atomic.access);
                    self.used.extend(atomic.expected.iter().copied().chain([atomic.operand]));
                    self.defined.insert(atomic.result);
                }
                Statement::If { condition, accept, reject, .. } => {
                    self.used.insert(*condition);
                    self.body(kernel, accept);
                    self.body(kernel, reject);
                }
                Statement::Block { body, .. } | Statement::Loop { body, .. } => self.body(kernel, body),
                _ => {}
            }
        }
    }
}

/// Replaces values and variables of several regions by accesses to the frame.
pub(super) struct RegionRewriter<'a> {
    pub cut: &'a StageCutter,
    pub kernel: &'a mut Kernel,
    pub replaced: HashMap<Value, Value>,
    pub returned: u32,
}

impl RegionRewriter<'_> {
    pub(super) fn body(&mut self, body: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            self.statement(statement, &mut out);
        }
        out
    }

    fn operand(&self, value: Value) -> Value {
        *self.replaced.get(&value).unwrap_or(&value)
    }

    fn access(&self, mut access: Access) -> Access {
        access.map_operands(|operand| self.operand(operand));
        access
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match statement {
            Statement::Let(value) => {
                let (ty, mut definition) = self.kernel.values[value.0 as usize].clone();
                if let Definition::Get(variable) = definition
                    && let Some(slot) = self.cut.variable_slots.get(&variable)
                {
                    definition = Definition::Load(frame_access(*slot, ty));
                }
                definition.map_operands(|operand| self.operand(operand));
                self.kernel.values[value.0 as usize].1 = definition;
                out.push(Statement::Let(value));
                self.store_if_shared(value, out);
            }
            Statement::Set(variable, value) => {
                let value = self.operand(value);
                out.push(match self.cut.variable_slots.get(&variable) {
                    Some(slot) => {
                        Statement::Store(frame_access(*slot, self.kernel.variables[variable.0 as usize]), value)
                    }
                    None => Statement::Set(variable, value),
                });
            }
            Statement::Store(access, value) => out.push(Statement::Store(self.access(access), self.operand(value))),
            Statement::Atomic(mut atomic) => {
                atomic.access = self.access(atomic.access);
                atomic.operand = self.operand(atomic.operand);
                atomic.expected = atomic.expected.map(|operand| self.operand(operand));
                let result = atomic.result;
                out.push(Statement::Atomic(atomic));
                self.store_if_shared(result, out);
            }
            Statement::If { condition, accept, reject, merges } => {
                let condition = self.operand(condition);
                let (accept, reject) = (self.body(accept), self.body(reject));
                out.push(Statement::If { condition, accept, reject, merges });
            }
            Statement::Block { label, body, results, ending } => {
                let body = self.body(body);
                out.push(Statement::Block { label, body, results, ending });
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                let body = self.body(body);
                out.push(Statement::Loop { label, body, parameters, initial, line });
            }
            Statement::Break { label, values } => {
                if Some(label) == self.cut.returns {
                    let one = self.kernel.add(Type::I32, Definition::Constant(1));
                    out.push(Statement::Store(frame_access(self.returned, Type::I32), one));
                }
                out.push(Statement::Break { label, values });
            }
            other => out.push(other),
        }
    }

    /// Stores a value in the frame if another region uses it.
    fn store_if_shared(&self, value: Value, out: &mut Vec<Statement>) {
        if let Some(slot) = self.cut.slots.get(&value) {
            out.push(Statement::Store(frame_access(*slot, self.kernel.ty(value)), value));
        }
    }
}
