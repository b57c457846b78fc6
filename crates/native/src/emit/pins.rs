//! Values that several branches need.
//!
//! The code generator evaluates a pure value where it is first needed. A value that two branches
//! need would be evaluated in both. A store that nothing reads makes it evaluate the value before
//! the branches.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};

use super::{Emitter, LANES, Register};
use crate::ir::{Access, Definition, Kernel, Statement, Value};

/// A statement's number, and the arm or loop that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    order: usize,
    scope: usize,
}

struct Pins<'k> {
    kernel: &'k Kernel,
    /// Scope around each scope.
    outer: Vec<usize>,
    order: usize,
    /// Places at which each value is needed.
    needed: HashMap<Value, Vec<Place>>,
    /// Pure values, in order.
    defined: Vec<(Value, Place)>,
}

/// Values that are to be evaluated at their definition.
pub fn pins(kernel: &Kernel) -> HashSet<Value> {
    let mut pass = Pins { kernel, outer: vec![0], order: 0, needed: HashMap::new(), defined: Vec::new() };
    pass.body(&kernel.body, 0);
    let mut pins = HashSet::new();
    let Pins { outer, mut needed, defined, .. } = pass;
    // Without branches a value has one place.
    if outer.len() <= 2 {
        return pins;
    }
    for (value, place) in defined.into_iter().rev() {
        let Some(first) = needed.get(&value).and_then(|all| all.iter().min_by_key(|one| one.order)).copied() else {
            continue;
        };
        let mut at = first;
        if needed[&value].iter().any(|one| !is_within(&outer, one.scope, first.scope)) {
            pins.insert(value);
            at = place;
        }
        kernel.definition(value).for_each_operand(|operand| needed.entry(operand).or_default().push(at));
    }
    pins
}

fn is_within(outer: &[usize], mut scope: usize, around: usize) -> bool {
    while scope > around {
        scope = outer[scope];
    }
    scope == around
}

impl Pins<'_> {
    fn body(&mut self, body: &[Statement], scope: usize) {
        for statement in body {
            self.order += 1;
            let place = Place { order: self.order, scope };
            match statement {
                Statement::Let(value) => match self.kernel.definition(*value) {
                    Definition::Load(access) => self.access(access, place),
                    _ => self.defined.push((*value, place)),
                },
                Statement::Store(access, value) => {
                    self.access(access, place);
                    self.need(*value, place);
                }
                Statement::Atomic(atomic) => {
                    self.access(&atomic.access, place);
                    self.need(atomic.operand, place);
                    atomic.expected.into_iter().for_each(|one| self.need(one, place));
                }
                Statement::If { condition, accept, reject, merges } => {
                    self.need(*condition, place);
                    for (side, arm) in [accept, reject].into_iter().enumerate() {
                        let inner = self.scope(arm, scope);
                        self.order += 1;
                        let end = Place { order: self.order, scope: inner };
                        let values = merges.iter().filter_map(|one| if side == 0 { one.accept } else { one.reject });
                        values.for_each(|value| self.need(value, end));
                    }
                }
                Statement::Block { body, ending, .. } => {
                    self.body(body, scope);
                    self.order += 1;
                    let place = Place { order: self.order, scope };
                    ending.iter().for_each(|value| self.need(*value, place));
                }
                Statement::Loop { body, initial, .. } => {
                    initial.iter().for_each(|value| self.need(*value, place));
                    self.scope(body, scope);
                }
                Statement::Break { values, .. } | Statement::Repeat { values, .. } => {
                    values.iter().for_each(|value| self.need(*value, place));
                }
                Statement::Set(..) | Statement::Barrier => {}
            }
        }
    }

    fn scope(&mut self, body: &[Statement], outer: usize) -> usize {
        let scope = self.outer.len();
        self.outer.push(outer);
        self.body(body, scope);
        scope
    }

    fn need(&mut self, value: Value, place: Place) {
        self.needed.entry(value).or_default().push(place);
    }

    fn access(&mut self, access: &Access, place: Place) {
        access.for_each_operand(|operand| self.need(operand, place));
    }
}

impl Emitter<'_, '_> {
    /// Makes code evaluate a value here, if several branches need it.
    pub fn pin(&mut self, value: Value) {
        if !self.pins.contains(&value) {
            return;
        }
        let registers = match &self.registers[&value] {
            Register::Lanes(lanes) => lanes.clone(),
            // Groups compute scalars again.
            Register::Scalar(_) if self.lanes == LANES => return,
            Register::Scalar(scalar) => vec![*scalar],
        };
        let slot = *self.pin_slot.get_or_insert_with(|| {
            self.build.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4))
        });
        for register in registers {
            let address = self.build.ins().stack_addr(types::I64, slot, 0);
            self.build.ins().store(MemFlagsData::trusted(), register, address, 0);
        }
    }
}
