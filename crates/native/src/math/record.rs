//! Operations of a formula as statements of a kernel.

use std::cell::RefCell;

use super::lane::Operations;
use crate::ir::{Binary, Compare, Convert, Definition, Kernel, Statement, Type, Unary, Value};

/// Appends each operation of a formula as a `Let`.
pub struct Recorder<'k> {
    target: RefCell<Target<'k>>,
}

struct Target<'k> {
    kernel: &'k mut Kernel,
    out: &'k mut Vec<Statement>,
    /// Constants of this formula, each defined once.
    constants: Vec<(Type, u32, Value)>,
}

impl<'k> Recorder<'k> {
    pub fn new(kernel: &'k mut Kernel, out: &'k mut Vec<Statement>) -> Self {
        Self { target: RefCell::new(Target { kernel, out, constants: Vec::new() }) }
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
        self.define(ty, Definition::Unary(operation, a))
    }

    fn binary(self, ty: Type, operation: Binary, a: Value, b: Value) -> Value {
        self.define(ty, Definition::Binary(operation, a, b))
    }

    fn compare(self, comparison: Compare, a: Value, b: Value) -> Value {
        self.define(Type::Bool, Definition::Compare(comparison, a, b))
    }

    fn select(self, ty: Type, condition: Value, accept: Value, reject: Value) -> Value {
        self.define(ty, Definition::Select { condition, accept, reject })
    }

    fn convert(self, ty: Type, conversion: Convert, a: Value) -> Value {
        self.define(ty, Definition::Convert(conversion, a))
    }
}
