//! Idle tail of a row: invocations after the last cell of the domain, without effects.
//!
//! A call rounds the number of invocations up to whole workgroups. Kernels return after their first
//! failed comparison of a position with the end of the domain, and so do all later invocations of
//! the row.

use std::collections::{HashMap, HashSet};

use crate::ir::{Binary, Compare, Definition, Kernel, Label, Merge, Statement, Type, Unary, Value};
use crate::lower::fold::{Fold, fold};
use crate::shape::Shape;

use super::{Bound, Interior, RowTest};

#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTail {
    /// Affine value with step 1. The tail starts at the invocation with `value = bound`.
    pub value: Value,
    pub bound: Value,
    /// Uniform bool that decides if the tail is idle.
    pub condition: Value,
    /// Value of `condition` for an idle tail.
    pub idle: bool,
}

/// Finds the idle tail in the first `if` of the whole kernel. `assumed` are the values whose shapes
/// depend on conditions, `bools` the constants false and true; `returns` is the label that a
/// `return` breaks.
pub(super) fn find(
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
    let (condition, idle) = pass.body(&whole.body, returns, &mut Vec::new())?;
    Some(IdleTail { value: end.0, bound: end.1, condition, idle })
}

struct EnclosingBlock<'s> {
    label: Label,
    results: &'s [Value],
    rest: &'s [Statement],
}

/// Control flow at the end of statements without effects.
#[derive(Debug, PartialEq, Eq)]
enum IdleEnd {
    FallsThrough,
    Breaks(Label, Vec<Value>),
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
    /// Condition of the first `if`, and its value in the arm that returns. `enclosing` are the
    /// blocks around the body, each with the statements after it.
    fn body<'s>(
        &mut self,
        body: &'s [Statement],
        returns: Option<Label>,
        enclosing: &mut Vec<EnclosingBlock<'s>>,
    ) -> Option<(Value, bool)> {
        for (number, statement) in body.iter().enumerate() {
            match statement {
                Statement::Let(value) => self.define(*value),
                Statement::Block { label, body: inner, results, .. } => {
                    enclosing.push(EnclosingBlock { label: *label, results, rest: &body[number + 1..] });
                    return self.body(inner, returns, enclosing);
                }
                Statement::If { condition, accept, reject, .. } => {
                    let condition = self.replaced.get(condition).copied()?;
                    let is_last = number + 1 == body.len() && enclosing.iter().all(|block| block.rest.is_empty());
                    let mut is_idle = |arm: &[Statement]| match arm {
                        [] => is_last,
                        [before @ .., Statement::Break { label, values }] => {
                            before.iter().all(is_let)
                                && (Some(*label) == returns || self.ends_idle(*label, values, enclosing))
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

    /// True if invocations that break a block with these values have no effects after it.
    fn ends_idle(&mut self, label: Label, values: &[Value], enclosing: &[EnclosingBlock<'_>]) -> bool {
        let Some(number) = enclosing.iter().position(|block| block.label == label) else { return false };
        let before = self.replaced.clone();
        self.assign_results(enclosing[number].results, values);
        let mut rests = enclosing[..=number].iter().rev();
        let is_idle = rests.all(|block| self.run_idle(block.rest) == Some(IdleEnd::FallsThrough));
        if !is_idle {
            self.replaced = before;
        }
        is_idle
    }

    /// Assigns values of the tail to the results of a block.
    fn assign_results(&mut self, results: &[Value], values: &[Value]) {
        for (result, value) in results.iter().zip(values) {
            if let Some(value) = self.tail(*value) {
                self.replaced.insert(*result, value);
            }
        }
    }

    /// End of statements without effects in the tail; `None` for effects or unknown conditions.
    fn run_idle(&mut self, body: &[Statement]) -> Option<IdleEnd> {
        for statement in body {
            let end = match statement {
                Statement::Let(value) => {
                    self.define(*value);
                    IdleEnd::FallsThrough
                }
                Statement::If { condition, accept, reject, merges } => {
                    let condition = self.tail(*condition)?;
                    let condition = self.known(condition)?;
                    let end = self.run_idle(if condition { accept } else { reject })?;
                    let results: Vec<_> = merges.iter().map(|merge| merge.result).collect();
                    let chosen = |merge: &Merge| if condition { merge.accept } else { merge.reject };
                    let values: Option<Vec<_>> = merges.iter().map(chosen).collect();
                    if end == IdleEnd::FallsThrough {
                        self.assign_results(&results, &values?);
                    }
                    end
                }
                Statement::Block { label, body, results, ending } => match self.run_idle(body)? {
                    IdleEnd::FallsThrough => {
                        self.assign_results(results, ending);
                        IdleEnd::FallsThrough
                    }
                    IdleEnd::Breaks(to, values) if to == *label => {
                        self.assign_results(results, &values);
                        IdleEnd::FallsThrough
                    }
                    other => other,
                },
                // The first pass is the last one, or has effects.
                Statement::Loop { body, parameters, initial, .. } => {
                    self.assign_results(parameters, initial);
                    self.run_idle(body)?
                }
                Statement::Break { label, values } => IdleEnd::Breaks(*label, values.clone()),
                _ => return None,
            };
            if end != IdleEnd::FallsThrough {
                return Some(end);
            }
        }
        Some(IdleEnd::FallsThrough)
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
        let ty = self.interior.kernel.ty(value);
        let mut is_uniform = true;
        definition.for_each_operand(|one| is_uniform &= self.tail(one).is_some());
        if ty == Type::Bool && is_uniform {
            let mut mapped = definition.clone();
            mapped.map_operands(|one| self.tail(one).unwrap_or(one));
            if let Some(Fold::Constant(bit)) = fold(&self.interior.kernel, ty, &mapped) {
                self.replaced.insert(value, self.bools[bit as usize & 1]);
                return;
            }
        }
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
        if !is_uniform || matches!(definition, Definition::Function(..)) {
            return;
        }
        definition.map_operands(|one| self.tail(one).unwrap_or(one));
        let copy = self.interior.kernel.add(ty, definition);
        self.interior.shapes.push(Some(Shape::Uniform));
        self.interior.values.push(copy);
        self.replaced.insert(value, copy);
    }
}

fn is_let(statement: &Statement) -> bool {
    matches!(statement, Statement::Let(_))
}
