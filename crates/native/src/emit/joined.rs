//! Stores under several conditions, without branches.
//!
//! Cranelift evaluates a value where it is needed, once for each branch that needs it. Where several
//! branches store what they have in common, code stores always: to memory that nothing reads where
//! the condition is false. So do loads, which may be out of range there.

use cranelift_codegen::ir::{self as code, InstBuilder, StackSlotData, StackSlotKind, types};

use super::{Emitter, LANES};
use crate::ir::{Definition, Memory, Statement, Value};
use crate::shape::Shape;

/// Largest number of statements under a condition.
const FEW: usize = 24;

impl Emitter<'_, '_> {
    /// Condition and arm of an `if` that only stores, where the condition is the same in all lanes.
    pub fn joins<'s>(&self, statement: &'s Statement) -> Option<(Value, &'s [Statement])> {
        let Statement::If { condition, accept, reject, merges } = statement else { return None };
        let is_plain = reject.is_empty() && merges.is_empty() && accept.len() <= FEW && self.active.is_none();
        let joins = is_plain
            && self.shapes.of(*condition) == Shape::Uniform
            && accept.iter().all(|statement| match statement {
                Statement::Let(value) => match self.kernel.definition(*value) {
                    Definition::Function(..) => false,
                    Definition::Load(access) => self.loads_at_once(access),
                    _ => true,
                },
                Statement::Store(access, _) => {
                    access.memory != Memory::Frame && (self.lanes == 1 || self.stores_at_once(access))
                }
                _ => false,
            })
            && accept.iter().any(|statement| matches!(statement, Statement::Store(..)));
        joins.then_some((*condition, accept))
    }

    /// Runs an arm whose loads and stores go to memory of bindings only where a condition holds.
    pub fn store_where(&mut self, condition: Value, arm: &[Statement]) {
        let condition = self.scalar(condition);
        self.stores_where = Some(condition);
        self.body(arm);
        self.stores_where = None;
    }

    /// An address where a condition holds, else that of memory that nothing reads.
    pub fn address_where(&mut self, condition: code::Value, address: code::Value) -> code::Value {
        let slot = *self.unread.get_or_insert_with(|| {
            let bytes = 8 * LANES as u32;
            self.build.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        });
        let unread = self.build.ins().stack_addr(types::I64, slot, 0);
        self.build.ins().select(condition, address, unread)
    }
}
