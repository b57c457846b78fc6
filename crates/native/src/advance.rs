//! Moves tests of accesses before the first write.
//!
//! Groups run with vectors on assumptions about such tests, which generated code can make only until
//! it has written: see [`crate::shape`].

use std::collections::{HashMap, HashSet};

use crate::ir::{Definition, Kernel, Memory, Statement, Value};
use crate::number::writes;

/// Moves guards, and conditions of statements beside the first write, before that write.
pub fn advance(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    advance_body(kernel, &mut body);
    kernel.body = body;
}

fn advance_body(kernel: &Kernel, body: &mut Vec<Statement>) {
    let Some(first) = body.iter().position(|one| writes(std::slice::from_ref(one))) else { return };
    match &mut body[first] {
        Statement::If { accept, reject, .. } => {
            advance_body(kernel, accept);
            advance_body(kernel, reject);
        }
        Statement::Block { body, .. } => advance_body(kernel, body),
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
    let mut later = Later::default();
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
            later.take(kernel, value, &mut moved);
        }
    }
    if moved.is_empty() {
        return;
    }
    let taken: HashSet<Value> = moved.iter().copied().collect();
    remove(&mut body[from..], &taken);
    let rest = body.split_off(from);
    let rest: Vec<_> = rest.into_iter().filter(|one| !is_taken(one, &taken)).collect();
    body.splice(first..first, moved.into_iter().map(Statement::Let));
    body.extend(rest);
}

/// Values that are defined after a place.
#[derive(Default)]
struct Later {
    /// Values of `Let`.
    defined: HashSet<Value>,
    /// Results of statements.
    results: HashSet<Value>,
    /// Values that are known to move, or to stay.
    known: HashMap<Value, bool>,
}

/// Greatest number of operations between a test and the values that it depends on.
const DEPTH: u32 = 200;

impl Later {
    /// Collects definitions, and guards into `wanted`.
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

    /// True where a value depends on nothing that has to stay after the place.
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
        let mut can_move = is_pure && depth < DEPTH;
        definition.for_each_operand(|operand| can_move = can_move && self.can_move(kernel, operand, depth + 1));
        self.known.insert(value, can_move);
        can_move
    }

    /// Takes a value and all that it depends on, operands first.
    fn take(&mut self, kernel: &Kernel, value: Value, moved: &mut Vec<Value>) {
        if !self.defined.remove(&value) {
            return;
        }
        kernel.definition(value).for_each_operand(|operand| self.take(kernel, operand, moved));
        moved.push(value);
    }
}

fn is_taken(statement: &Statement, taken: &HashSet<Value>) -> bool {
    matches!(statement, Statement::Let(value) if taken.contains(value))
}

/// Removes the `Let` of values from inner bodies.
fn remove(body: &mut [Statement], taken: &HashSet<Value>) {
    let clear = |body: &mut Vec<Statement>| {
        body.retain(|one| !is_taken(one, taken));
        remove(body, taken);
    };
    for statement in body {
        match statement {
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(clear),
            Statement::Block { body, .. } | Statement::Loop { body, .. } => clear(body),
            _ => {}
        }
    }
}
