//! Conditional stores without branches, for bodies with several of them.
//!
//! Cranelift evaluates a value in each branch that uses it. Code without branches evaluates it once
//! for several stores, and selects the address of discarded memory for a false condition.

use cranelift_codegen::ir::{self as code, InstBuilder, StackSlotData, StackSlotKind, types};

use super::{Emitter, LANES};
use crate::ir::{Definition, Memory, Statement, Value};
use crate::shape::Shape;

/// Maximum number of statements in the arm of a conditional store.
const MAX_STATEMENTS: usize = 24;

impl Emitter<'_, '_> {
    /// Condition and arm of an `if` with a uniform condition, no other arm, and no effects except
    /// stores.
    pub(crate) fn as_conditional_stores<'s>(&self, statement: &'s Statement) -> Option<(Value, &'s [Statement])> {
        let Statement::If { condition, accept, reject, merges } = statement else { return None };
        let is_plain =
            reject.is_empty() && merges.is_empty() && accept.len() <= MAX_STATEMENTS && self.active.is_none();
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

    /// Generates an arm whose stores discard their value for a false condition, and whose loads,
    /// which may be out of range, then read the discarded memory.
    pub(crate) fn store_if(&mut self, condition: Value, arm: &[Statement]) {
        let condition = self.scalar(condition);
        self.store_condition = Some(condition);
        self.body(arm);
        self.store_condition = None;
    }

    pub(crate) fn select_address(&mut self, condition: code::Value, address: code::Value) -> code::Value {
        let slot = *self.discard_slot.get_or_insert_with(|| {
            let bytes = 8 * LANES as u32;
            self.build.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        });
        let discard_slot = self.build.ins().stack_addr(types::I64, slot, 0);
        self.build.ins().select(condition, address, discard_slot)
    }
}
