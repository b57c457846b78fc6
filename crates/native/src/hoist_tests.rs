//! Hoisting of access tests above the first write of a kernel.
//!
//! Vector code assumes results of these tests, and checks each assumption before the group's first
//! write: see [`crate::shape`].

use std::collections::{HashMap, HashSet};

use crate::ir::{Definition, Kernel, Memory, Statement, Value};
use crate::value_numbering::writes;

/// Moves guards of accesses, and conditions of `if` statements in the body of the first write,
/// above that write.
pub(crate) fn hoist_tests(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    hoist_in_body(kernel, &mut body);
    kernel.body = body;
}

fn hoist_in_body(kernel: &Kernel, body: &mut Vec<Statement>) {
    let Some(first) = body.iter().position(|statement| writes(std::slice::from_ref(statement))) else { return };
    match &mut body[first] {
        Statement::If { accept, reject, .. } => {
            hoist_in_body(kernel, accept);
            hoist_in_body(kernel, reject);
        }
        Statement::Block { body, .. } => hoist_in_body(kernel, body),
        _ => {}
    }
    let is_loop = matches!(body[first], Statement::Loop { .. });
    let from = if is_loop { first } else { first + 1 };
    let mut wanted = Vec::new();
    for statement in &body[from..] {
        if let Statement::If { condition, .. } = statement {
            wanted.push(*condition);
        }
    }
    let mut later = LaterDefinitions::default();
    later.collect(kernel, &body[from..], &mut wanted);
    match &body[first] {
        Statement::Atomic(atomic) => later.results.extend([atomic.result]),
        Statement::If { merges, .. } => later.results.extend(merges.iter().map(|merge| merge.result)),
        Statement::Block { results, .. } => later.results.extend(results),
        _ => {}
    }
    let mut moved = Vec::new();
    for value in wanted {
        if later.can_move(kernel, value, 0) {
            later.move_with_operands(kernel, value, &mut moved);
        }
    }
    if moved.is_empty() {
        return;
    }
    let moved_set: HashSet<Value> = moved.iter().copied().collect();
    remove_definitions(&mut body[from..], &moved_set);
    let rest = body.split_off(from);
    let rest: Vec<_> = rest.into_iter().filter(|statement| !defines_any(statement, &moved_set)).collect();
    body.splice(first..first, moved.into_iter().map(Statement::Let));
    body.extend(rest);
}

/// Values that the statements after the first write define.
#[derive(Default)]
struct LaterDefinitions {
    defined: HashSet<Value>,
    results: HashSet<Value>,
    /// Memo of [`Self::can_move`].
    known: HashMap<Value, bool>,
}

/// Maximum number of operations between a test and the values that the test depends on.
const MAX_DEPTH: u32 = 200;

impl LaterDefinitions {
    fn collect(&mut self, kernel: &Kernel, body: &[Statement], wanted: &mut Vec<Value>) {
        for statement in body {
            match statement {
                Statement::Let(value) => {
                    self.defined.insert(*value);
                    if let Definition::Load(access) = kernel.definition(*value) {
                        wanted.extend(access.guard);
                    }
                }
                Statement::Store(access, _) => wanted.extend(access.guard),
                Statement::Atomic(atomic) => {
                    self.results.insert(atomic.result);
                }
                Statement::If { accept, reject, merges, .. } => {
                    self.results.extend(merges.iter().map(|merge| merge.result));
                    self.collect(kernel, accept, wanted);
                    self.collect(kernel, reject, wanted);
                }
                Statement::Block { body, results, .. } => {
                    self.results.extend(results);
                    self.collect(kernel, body, wanted);
                }
                Statement::Loop { body, parameters, .. } => {
                    self.results.extend(parameters);
                    self.collect(kernel, body, wanted);
                }
                _ => {}
            }
        }
    }

    /// True for a value that can be evaluated before the first write, with all its operands.
    fn can_move(&mut self, kernel: &Kernel, value: Value, depth: u32) -> bool {
        if !self.defined.contains(&value) {
            return !self.results.contains(&value);
        }
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let definition = kernel.definition(value);
        let is_pure = match definition {
            Definition::Load(access) => {
                let is_constant = matches!(access.memory, Memory::Binding(number) if !kernel.bindings[number].writable);
                is_constant && access.index.is_none() && access.guard.is_none()
            }
            Definition::Function(..) | Definition::Get(_) | Definition::Result => false,
            _ => true,
        };
        let mut can_move = is_pure && depth < MAX_DEPTH;
        definition.for_each_operand(|operand| can_move = can_move && self.can_move(kernel, operand, depth + 1));
        self.known.insert(value, can_move);
        can_move
    }

    /// Moves a value and its later operands into `moved`, operands first.
    fn move_with_operands(&mut self, kernel: &Kernel, value: Value, moved: &mut Vec<Value>) {
        if !self.defined.remove(&value) {
            return;
        }
        kernel.definition(value).for_each_operand(|operand| self.move_with_operands(kernel, operand, moved));
        moved.push(value);
    }
}

fn defines_any(statement: &Statement, moved_set: &HashSet<Value>) -> bool {
    matches!(statement, Statement::Let(value) if moved_set.contains(value))
}

fn remove_definitions(body: &mut [Statement], moved_set: &HashSet<Value>) {
    let clear = |body: &mut Vec<Statement>| {
        body.retain(|statement| !defines_any(statement, moved_set));
        remove_definitions(body, moved_set);
    };
    for statement in body {
        match statement {
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(clear),
            Statement::Block { body, .. } | Statement::Loop { body, .. } => clear(body),
            _ => {}
        }
    }
}
