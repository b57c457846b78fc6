//! Idle tail of a row: invocations after the last cell of the domain, which have no effects.
//!
//! A call rounds the number of invocations up to whole workgroups. Kernels return where their first
//! comparison of a position with the end of the domain fails, and all later invocations of the row
//! return, too.

use std::collections::{HashMap, HashSet};

use crate::ir::{Binary, Compare, Definition, Kernel, Label, Statement, Type, Unary, Value};
use crate::shape::Shape;

use super::{Bound, Interior, RowTest};

/// Invocations at the end of a row without effects.
#[derive(Debug, Clone, Copy)]
pub struct IdleTail {
    /// Affine value with step 1. The tail begins at the invocation with `value = bound`.
    pub value: Value,
    pub bound: Value,
    /// Uniform bool that decides whether the tail is idle.
    pub condition: Value,
    /// Value of `condition` for which the tail is idle.
    pub idle: bool,
}

/// Finds the idle tail in the first `if` of the whole kernel. `assumed` are the values whose shapes
/// rest on conditions, `bools` the constants false and true; `returns` is the label that a `return`
/// breaks.
pub fn find(
    interior: &mut Interior,
    whole: &Kernel,
    assumed: &HashSet<Value>,
    bools: [Value; 2],
    returns: Option<Label>,
) -> Option<IdleTail> {
    let end = interior.conditions.iter().find_map(|condition| match condition.test {
        RowTest::Within { value, is_signed: false, low: None, high: Some(Bound { value: end, plus: -1 }) } => {
            let is_unit = interior.shape(value) == Some(Shape::Affine(1));
            (condition.path.is_empty() && is_unit && !assumed.contains(&value)).then_some((value, end))
        }
        _ => None,
    })?;
    let mut pass = TailSearch { interior, whole, end, bools, replaced: HashMap::new() };
    let (condition, idle) = pass.body(&whole.body, returns)?;
    Some(IdleTail { value: end.0, bound: end.1, condition, idle })
}

struct TailSearch<'a> {
    interior: &'a mut Interior,
    whole: &'a Kernel,
    /// The position, and the end of the domain.
    end: (Value, Value),
    bools: [Value; 2],
    /// Value in the tail of each value that is uniform there.
    replaced: HashMap<Value, Value>,
}

impl TailSearch<'_> {
    /// Condition of the first `if`, and its value in the arm that returns.
    fn body(&mut self, body: &[Statement], returns: Option<Label>) -> Option<(Value, bool)> {
        for (number, statement) in body.iter().enumerate() {
            match statement {
                Statement::Let(value) => self.define(*value),
                Statement::Block { body: inner, .. } if number + 1 == body.len() => return self.body(inner, returns),
                Statement::If { condition, accept, reject, .. } => {
                    let condition = self.replaced.get(condition).copied()?;
                    let is_last = number + 1 == body.len();
                    let is_idle = |arm: &[Statement]| match arm {
                        [] => is_last,
                        [.., Statement::Break { label, .. }] => {
                            Some(*label) == returns && arm[..arm.len() - 1].iter().all(is_let)
                        }
                        _ => false,
                    };
                    return match [is_idle(accept), is_idle(reject)] {
                        [true, _] => Some((condition, true)),
                        [_, true] => Some((condition, false)),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
        None
    }

    fn known(&self, value: Value) -> Option<bool> {
        self.bools.iter().position(|one| *one == value).map(|bit| bit == 1)
    }

    /// Value in the tail, if it is uniform there.
    fn tail(&self, value: Value) -> Option<Value> {
        match self.replaced.get(&value) {
            Some(replaced) => Some(*replaced),
            None if matches!(self.interior.kernel.definition(value), Definition::Constant(_)) => Some(value),
            None => None,
        }
    }

    fn define(&mut self, value: Value) {
        let definition = self.whole.definition(value).clone();
        if let Definition::Compare(Compare::UnsignedLessEqual, a, b) = definition
            && (b, a) == self.end
        {
            self.replaced.insert(value, self.bools[1]);
            return;
        }
        if let Definition::Compare(Compare::UnsignedLess, a, b) = definition
            && (a, b) == self.end
        {
            self.replaced.insert(value, self.bools[0]);
            return;
        }
        let bool_of = |this: &Self, one: Value| this.tail(one).and_then(|one| this.known(one));
        match definition {
            Definition::Binary(operation @ (Binary::And | Binary::Or), a, b)
                if self.interior.kernel.ty(value) == Type::Bool =>
            {
                let deciding = operation == Binary::Or;
                let known = [a, b].map(|one| bool_of(self, one));
                if known.contains(&Some(deciding)) {
                    self.replaced.insert(value, self.bools[usize::from(deciding)]);
                    return;
                }
            }
            Definition::Unary(Unary::Not, a) if self.interior.kernel.ty(value) == Type::Bool => {
                if let Some(bit) = bool_of(self, a) {
                    self.replaced.insert(value, self.bools[usize::from(!bit)]);
                    return;
                }
            }
            Definition::Select { condition, accept, reject } => {
                if let Some(bit) = bool_of(self, condition) {
                    if let Some(chosen) = self.tail(if bit { accept } else { reject }) {
                        self.replaced.insert(value, chosen);
                    }
                    return;
                }
            }
            _ => {}
        }
        self.copy(value, definition);
    }

    /// Adds a value of the tail from operands of the tail.
    fn copy(&mut self, value: Value, mut definition: Definition) {
        let needs_no_assumption = match definition {
            Definition::Load(access) => access.index.is_none() && access.guard.is_none(),
            Definition::Builtin(_) | Definition::Length { .. } => true,
            _ => false,
        };
        if needs_no_assumption && self.interior.shape(value) == Some(Shape::Uniform) {
            self.replaced.insert(value, value);
        }
        if matches!(definition, Definition::Load(_) | Definition::Builtin(_) | Definition::Length { .. }) {
            return;
        }
        let mut is_uniform = !matches!(definition, Definition::Function(..));
        definition.for_each_operand(|one| is_uniform &= self.tail(one).is_some());
        if !is_uniform {
            return;
        }
        definition.map_operands(|one| self.tail(one).unwrap_or(one));
        let ty = self.interior.kernel.ty(value);
        let copy = self.interior.kernel.add(ty, definition);
        self.interior.shapes.push(Some(Shape::Uniform));
        self.interior.values.push(copy);
        self.replaced.insert(value, copy);
    }
}

fn is_let(statement: &Statement) -> bool {
    matches!(statement, Statement::Let(_))
}
