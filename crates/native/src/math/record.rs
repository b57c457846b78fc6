use std::cell::RefCell;

use super::evaluate::Evaluate;
use super::lane::Operations;
use crate::ir::{Binary, Compare, Convert, Definition, Kernel, Statement, Type, Unary, Value};

/// Operations that are appended to a kernel, each as a `Let`. Operations on constants become
/// constants.
pub struct Recorder<'k> {
    target: RefCell<RecordedFormula<'k>>,
    /// Number of values and of statements before the formula.
    first_value: usize,
    first_statement: usize,
}

struct RecordedFormula<'k> {
    kernel: &'k mut Kernel,
    out: &'k mut Vec<Statement>,
    constants: Vec<(Type, u32, Value)>,
}

impl<'k> Recorder<'k> {
    pub fn new(kernel: &'k mut Kernel, out: &'k mut Vec<Statement>) -> Self {
        let (first_value, first_statement) = (kernel.values.len(), out.len());
        let target = RecordedFormula { kernel, out, constants: Vec::new() };
        Self { target: RefCell::new(target), first_value, first_statement }
    }

    /// Removes the statements that do not contribute to `result`. Their values become constants,
    /// which need no statement.
    pub fn finish(self, result: Value) -> Value {
        let RecordedFormula { kernel, out, .. } = self.target.into_inner();
        let index = |value: Value| (value.0 as usize).checked_sub(self.first_value);
        let mut used = vec![false; kernel.values.len() - self.first_value];
        index(result).into_iter().for_each(|index| used[index] = true);
        let recorded = out.split_off(self.first_statement);
        for statement in recorded.iter().rev() {
            let Statement::Let(value) = statement else { continue };
            if index(*value).is_some_and(|index| used[index]) {
                let mark = |operand| index(operand).into_iter().for_each(|index| used[index] = true);
                kernel.definition(*value).for_each_operand(mark);
            } else {
                kernel.values[value.0 as usize].1 = Definition::Constant(0);
            }
        }
        let is_constant = |value: Value| matches!(kernel.definition(value), Definition::Constant(_));
        out.extend(recorded.into_iter().filter(|statement| !matches!(statement, Statement::Let(v) if is_constant(*v))));
        result
    }

    fn known_bits(&self, value: Value) -> Option<u32> {
        match self.target.borrow().kernel.definition(value) {
            Definition::Constant(bits) => Some(*bits as u32),
            _ => None,
        }
    }

    fn define(&self, ty: Type, definition: Definition) -> Value {
        let target = &mut *self.target.borrow_mut();
        let value = target.kernel.add(ty, definition);
        target.out.push(Statement::Let(value));
        value
    }
}

impl Operations for &Recorder<'_> {
    type Value = Value;

    fn constant(self, ty: Type, bits: u32) -> Value {
        let target = &mut *self.target.borrow_mut();
        let known = target.constants.iter().find(|constant| (constant.0, constant.1) == (ty, bits));
        if let Some(&(_, _, value)) = known {
            return value;
        }
        let value = target.kernel.add(ty, Definition::Constant(bits.into()));
        target.constants.push((ty, bits, value));
        value
    }

    fn unary(self, ty: Type, operation: Unary, a: Value) -> Value {
        match self.known_bits(a) {
            Some(a) => self.constant(ty, Evaluate.unary(ty, operation, a)),
            None => self.define(ty, Definition::Unary(operation, a)),
        }
    }

    fn binary(self, ty: Type, operation: Binary, a: Value, b: Value) -> Value {
        let (known, other) = match (self.known_bits(a), self.known_bits(b)) {
            (Some(a), Some(b)) => return self.constant(ty, Evaluate.binary(ty, operation, a, b)),
            (Some(known), None) => (known, b),
            (None, Some(known)) => (known, a),
            (None, None) => return self.define(ty, Definition::Binary(operation, a, b)),
        };
        match (operation, ty, known) {
            (Binary::And, _, 0) => self.constant(ty, 0),
            (Binary::Or | Binary::Xor, _, 0) | (Binary::And, Type::Bool, _) => other,
            (Binary::Or, Type::Bool, _) => self.constant(ty, 1),
            _ => self.define(ty, Definition::Binary(operation, a, b)),
        }
    }

    fn compare(self, comparison: Compare, a: Value, b: Value) -> Value {
        match (self.known_bits(a), self.known_bits(b)) {
            (Some(a), Some(b)) => self.constant(Type::Bool, Evaluate.compare(comparison, a, b)),
            _ => self.define(Type::Bool, Definition::Compare(comparison, a, b)),
        }
    }

    fn select(self, ty: Type, condition: Value, accept: Value, reject: Value) -> Value {
        match self.known_bits(condition) {
            Some(0) => reject,
            Some(_) => accept,
            None => self.define(ty, Definition::Select { condition, accept, reject }),
        }
    }

    fn convert(self, ty: Type, conversion: Convert, a: Value) -> Value {
        match self.known_bits(a) {
            Some(a) => self.constant(ty, Evaluate.convert(ty, conversion, a)),
            None => self.define(ty, Definition::Convert(conversion, a)),
        }
    }
}
