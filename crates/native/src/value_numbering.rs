use std::collections::HashMap;

use crate::ir::{Access, Definition, Kernel, Memory, Statement, Type, Value};

/// Removes each definition that repeats a definition of its body or of an enclosing body.
pub(crate) fn number_values(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut pass = ValueNumbering {
        kernel,
        known: HashMap::new(),
        added: Vec::new(),
        replaced: HashMap::new(),
        generation: 0,
        generations: 0,
    };
    pass.constants();
    kernel.body = pass.body(body);
}

/// Definition of a value, and for loads the generation of memory.
type ValueKey = (Type, Definition, u32);

struct ValueNumbering<'k> {
    kernel: &'k mut Kernel,
    known: HashMap<ValueKey, Value>,
    /// Keys of `known`, in the order of their statements.
    added: Vec<ValueKey>,
    replaced: HashMap<Value, Value>,
    /// Number of the state of memory: each write begins a new state.
    generation: u32,
    generations: u32,
}

impl ValueNumbering<'_> {
    fn constants(&mut self) {
        for (number, (ty, definition)) in self.kernel.values.iter().enumerate() {
            if let Definition::Constant(_) = definition {
                let value = Value(number as u32);
                let first = *self.known.entry((*ty, definition.clone(), 0)).or_insert(value);
                if first != value {
                    self.replaced.insert(value, first);
                }
            }
        }
    }

    fn find(&self, value: Value) -> Value {
        *self.replaced.get(&value).unwrap_or(&value)
    }

    fn begin_generation(&mut self) {
        self.generations += 1;
        self.generation = self.generations;
    }

    fn body(&mut self, body: Vec<Statement>) -> Vec<Statement> {
        let before = self.added.len();
        let body = body.into_iter().filter_map(|statement| self.statement(statement)).collect();
        for key in self.added.drain(before..) {
            self.known.remove(&key);
        }
        body
    }

    fn statement(&mut self, statement: Statement) -> Option<Statement> {
        Some(match statement {
            Statement::Let(value) => return self.number_value(value),
            Statement::Set(variable, value) => Statement::Set(variable, self.find(value)),
            Statement::Store(mut access, value) => {
                access.map_operands(|one| self.find(one));
                self.begin_generation();
                Statement::Store(access, self.find(value))
            }
            Statement::Atomic(mut atomic) => {
                atomic.access.map_operands(|one| self.find(one));
                atomic.operand = self.find(atomic.operand);
                atomic.expected = atomic.expected.map(|one| self.find(one));
                self.begin_generation();
                Statement::Atomic(atomic)
            }
            Statement::Barrier => {
                self.begin_generation();
                Statement::Barrier
            }
            Statement::If { condition, accept, reject, mut merges } => {
                let condition = self.find(condition);
                let before = self.generation;
                let accept = self.body(accept);
                let after = std::mem::replace(&mut self.generation, before);
                let reject = self.body(reject);
                if (after, self.generation) != (before, before) {
                    self.begin_generation();
                }
                for merge in &mut merges {
                    merge.accept = merge.accept.map(|one| self.find(one));
                    merge.reject = merge.reject.map(|one| self.find(one));
                }
                Statement::If { condition, accept, reject, merges }
            }
            Statement::Block { label, body, results, ending } => {
                let before = self.generation;
                let body = self.body(body);
                if self.generation != before {
                    self.begin_generation();
                }
                Statement::Block { label, body, results, ending: self.find_all(ending) }
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                let initial = self.find_all(initial);
                // A pass of the loop reads writes of earlier passes.
                if writes(&body) {
                    self.begin_generation();
                }
                let body = self.body(body);
                Statement::Loop { label, body, parameters, initial, line }
            }
            Statement::Break { label, values } => Statement::Break { label, values: self.find_all(values) },
            Statement::Repeat { label, values } => Statement::Repeat { label, values: self.find_all(values) },
        })
    }

    fn find_all(&self, values: Vec<Value>) -> Vec<Value> {
        values.into_iter().map(|one| self.find(one)).collect()
    }

    fn number_value(&mut self, value: Value) -> Option<Statement> {
        let (ty, mut definition) = self.kernel.values[value.0 as usize].clone();
        definition.map_operands(|one| self.find(one));
        self.kernel.values[value.0 as usize].1 = definition.clone();
        let generation = match &definition {
            Definition::Load(access) if !self.is_constant(access) => self.generation,
            _ => 0,
        };
        let key = (ty, definition, generation);
        if let Some(first) = self.known.get(&key) {
            self.replaced.insert(value, *first);
            return None;
        }
        self.known.insert(key.clone(), value);
        self.added.push(key);
        Some(Statement::Let(value))
    }

    /// True for memory that no invocation writes.
    fn is_constant(&self, access: &Access) -> bool {
        matches!(access.memory, Memory::Binding(number) if !self.kernel.bindings[number].writable)
    }
}

pub(crate) fn writes(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Store(..) | Statement::Atomic(_) | Statement::Barrier => true,
        Statement::If { accept, reject, .. } => writes(accept) || writes(reject),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => writes(body),
        _ => false,
    })
}
