use std::mem;

use super::fold::{Fold, fold, integer_bits};
use super::hash::FastMap;
use super::known_values::{KnownMark, KnownValues};
use crate::ir::{
    Access, Binary, Builtin, Compare, Convert, Definition, Function, Kernel, Label, Statement, Type, Unary, Value,
    Variable,
};

/// Operation and operands of a pure definition, for the detection of equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PureKey {
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    Compare(Compare, Value, Value),
    Select(Value, Value, Value),
    Convert(Convert, Type, Value),
    Function(Function, [Option<Value>; 3]),
    Builtin(Builtin),
    Length(usize, u32, u32),
}

/// Suspended body, during the construction of an inner body.
#[derive(Debug, Default)]
struct OuterBody {
    statements: Vec<Statement>,
    /// Length of [`Builder::scoped`] at the start of the inner body.
    scoped: usize,
    known: KnownMark,
}

#[derive(Debug)]
pub(super) struct Body {
    pub(super) statements: Vec<Statement>,
    /// True if control never reaches the end.
    pub(super) diverted: bool,
}

/// Builder of a kernel: creates values, and collects the statements of the current body.
///
/// Equal pure operations of a body and its enclosing bodies become one value, and so do the reads
/// of a variable between two of its writes.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) kernel: Kernel,
    /// Statements before the body: values for the whole kernel, and tables of constants.
    prologue: Vec<Statement>,
    body: Vec<Statement>,
    diverted: bool,
    outer: Vec<OuterBody>,
    constants: FastMap<(Type, u64), Value>,
    common: FastMap<PureKey, Value>,
    /// Keys in `common` in order of insertion.
    scoped: Vec<PureKey>,
    known: KnownValues,
    /// For each label: true if a `Break` has the label.
    broken: Vec<bool>,
}

impl Builder {
    pub(super) fn finish(self) -> (Kernel, Vec<Statement>, Vec<Statement>) {
        (self.kernel, self.prologue, self.body)
    }

    /// Number of enclosing bodies of the current body.
    pub(super) fn depth(&self) -> usize {
        self.outer.len()
    }

    /// True if control never reaches the end of the current body.
    pub(super) fn diverted(&self) -> bool {
        self.diverted
    }

    pub(super) fn open_body(&mut self) {
        self.open(false);
    }

    pub(super) fn open_loop(&mut self) {
        self.open(true);
    }

    fn open(&mut self, is_loop: bool) {
        let statements = mem::take(&mut self.body);
        let known = self.known.open(is_loop);
        self.outer.push(OuterBody { statements, scoped: self.scoped.len(), known });
        self.diverted = false;
    }

    pub(super) fn close_body(&mut self) -> Body {
        let outer = self.outer.pop().unwrap_or_default();
        for key in self.scoped.drain(outer.scoped..) {
            self.common.remove(&key);
        }
        self.known.close(&outer.known);
        let statements = mem::replace(&mut self.body, outer.statements);
        Body { statements, diverted: mem::replace(&mut self.diverted, false) }
    }

    pub(super) fn push(&mut self, statement: Statement) {
        if !self.diverted {
            self.body.push(statement);
        }
    }

    pub(super) fn push_prologue(&mut self, statement: Statement) {
        self.prologue.push(statement);
    }

    pub(super) fn label(&mut self) -> Label {
        self.broken.push(false);
        self.kernel.add_label()
    }

    pub(super) fn is_broken(&self, label: Label) -> bool {
        self.broken[label.0 as usize]
    }

    pub(super) fn push_break(&mut self, label: Label) {
        if !self.diverted {
            self.broken[label.0 as usize] = true;
            self.body.push(Statement::Break { label, values: Vec::new() });
            self.diverted = true;
        }
    }

    pub(super) fn push_repeat(&mut self, label: Label) {
        self.push(Statement::Repeat { label, values: Vec::new() });
        self.diverted = true;
    }

    pub(super) fn push_if(&mut self, condition: Value, accept: Body, reject: Body) {
        self.push(Statement::If {
            condition,
            accept: accept.statements,
            reject: reject.statements,
            merges: Vec::new(),
        });
        self.diverted |= accept.diverted && reject.diverted;
    }

    /// Adds a body with `label` at its end: a block if a `Break` has the label, else only the
    /// statements.
    pub(super) fn push_block(&mut self, label: Label, body: Body) {
        if self.diverted {
            return;
        }
        if self.is_broken(label) {
            self.push(Statement::Block { label, body: body.statements, results: Vec::new(), ending: Vec::new() });
        } else {
            self.body.extend(body.statements);
            self.diverted = body.diverted;
        }
    }

    pub(super) fn append(&mut self, body: Body) {
        if !self.diverted {
            self.body.extend(body.statements);
            self.diverted = body.diverted;
        }
    }

    pub(super) fn push_loop(&mut self, label: Label, body: Body, line: u32) {
        self.push(Statement::Loop { label, body: body.statements, parameters: Vec::new(), initial: Vec::new(), line });
        self.diverted = true;
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    pub(super) fn bits(&self, value: Value) -> Option<u64> {
        match self.kernel.definition(value) {
            Definition::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        *self.constants.entry((ty, bits)).or_insert_with(|| self.kernel.add(ty, Definition::Constant(bits)))
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        self.constant(ty, 0)
    }

    pub(super) fn bool(&mut self, value: bool) -> Value {
        self.constant(Type::Bool, u64::from(value))
    }

    pub(super) fn u32(&mut self, value: u32) -> Value {
        self.constant(Type::I32, u64::from(value))
    }

    /// Integer constant with the low bits of `value`.
    pub(super) fn integer(&mut self, ty: Type, value: i64) -> Value {
        let bits = if ty == Type::I64 { value as u64 } else { u64::from(value as u32) };
        self.constant(ty, bits)
    }

    pub(super) fn float(&mut self, ty: Type, value: f64) -> Value {
        let bits = if ty == Type::F64 { value.to_bits() } else { u64::from((value as f32).to_bits()) };
        self.constant(ty, bits)
    }

    pub(super) fn unary(&mut self, operation: Unary, a: Value) -> Value {
        self.pure(self.ty(a), PureKey::Unary(operation, a), Definition::Unary(operation, a))
    }

    pub(super) fn binary(&mut self, operation: Binary, a: Value, b: Value) -> Value {
        let (operation, a, b) = self.canonical(operation, a, b);
        let (ty, constant) = (self.ty(a), self.bits(b));
        if operation == Binary::Multiply && constant == Some(integer_bits(ty, u64::MAX)) {
            return self.unary(Unary::Negate, a);
        }
        self.pure(self.ty(a), PureKey::Binary(operation, a, b), Definition::Binary(operation, a, b))
    }

    /// Canonical form of an integer operation:
    ///
    /// * A constant is the second operand.
    /// * Subtraction of a constant becomes addition.
    /// * Successive additions of constants become one.
    /// * Addition of a negated operand becomes subtraction.
    fn canonical(&mut self, operation: Binary, a: Value, b: Value) -> (Binary, Value, Value) {
        let is_commutative =
            matches!(operation, Binary::Add | Binary::Multiply | Binary::And | Binary::Or | Binary::Xor);
        let (a, b) = if is_commutative && self.bits(a).is_some() { (b, a) } else { (a, b) };
        let Some(mut constant) = self.bits(b) else {
            return match (operation, self.kernel.definition(b)) {
                (Binary::Add, Definition::Unary(Unary::Negate, b)) => (Binary::Subtract, a, *b),
                (Binary::Subtract, Definition::Unary(Unary::Negate, b)) => (Binary::Add, a, *b),
                _ => (operation, a, b),
            };
        };
        match operation {
            Binary::Subtract => constant = constant.wrapping_neg(),
            Binary::Add => {}
            _ => return (operation, a, b),
        }
        let mut a = a;
        if let Definition::Binary(Binary::Add, x, y) = *self.kernel.definition(a)
            && let Some(other) = self.bits(y)
        {
            a = x;
            constant = constant.wrapping_add(other);
        }
        let ty = self.ty(a);
        let constant = self.integer(ty, constant as i64);
        (Binary::Add, a, constant)
    }

    pub(super) fn compare(&mut self, comparison: Compare, a: Value, b: Value) -> Value {
        self.pure(Type::Bool, PureKey::Compare(comparison, a, b), Definition::Compare(comparison, a, b))
    }

    pub(super) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        let definition = Definition::Select { condition, accept, reject };
        self.pure(self.ty(accept), PureKey::Select(condition, accept, reject), definition)
    }

    pub(super) fn convert(&mut self, conversion: Convert, ty: Type, a: Value) -> Value {
        self.pure(ty, PureKey::Convert(conversion, ty, a), Definition::Convert(conversion, a))
    }

    pub(super) fn function(&mut self, function: Function, operands: &[Value]) -> Value {
        let mut key = [None; 3];
        for (slot, operand) in key.iter_mut().zip(operands) {
            *slot = Some(*operand);
        }
        let ty = operands.first().map_or(Type::F32, |operand| self.ty(*operand));
        self.pure(ty, PureKey::Function(function, key), Definition::Function(function, operands.to_vec()))
    }

    /// Built-in value, evaluated once for the whole kernel.
    pub(super) fn builtin(&mut self, builtin: Builtin) -> Value {
        self.global(PureKey::Builtin(builtin), Definition::Builtin(builtin))
    }

    pub(super) fn length(&mut self, binding: usize, offset: u32, stride: u32) -> Value {
        self.global(PureKey::Length(binding, offset, stride), Definition::Length { binding, offset, stride })
    }

    pub(super) fn load(&mut self, ty: Type, access: Access) -> Value {
        self.evaluate(ty, Definition::Load(access))
    }

    pub(super) fn get(&mut self, variable: Variable) -> Value {
        if let Some(value) = self.known.get(variable) {
            return value;
        }
        let ty = self.kernel.variables[variable.0 as usize];
        let value = self.evaluate(ty, Definition::Get(variable));
        self.known.record(variable, value);
        value
    }

    pub(super) fn known(&self, variable: Variable) -> Option<Value> {
        self.known.get(variable)
    }

    pub(super) fn set(&mut self, variable: Variable, value: Value) {
        self.push(Statement::Set(variable, value));
        self.known.set(variable, value);
    }

    fn evaluate(&mut self, ty: Type, definition: Definition) -> Value {
        let value = self.kernel.add(ty, definition);
        self.push(Statement::Let(value));
        value
    }

    fn pure(&mut self, ty: Type, key: PureKey, definition: Definition) -> Value {
        match fold(&self.kernel, ty, &definition) {
            Some(Fold::Constant(bits)) => return self.constant(ty, bits),
            Some(Fold::Value(value)) => return value,
            None => {}
        }
        if let Some(value) = self.common.get(&key) {
            return *value;
        }
        let value = self.evaluate(ty, definition);
        self.common.insert(key, value);
        self.scoped.push(key);
        value
    }

    fn global(&mut self, key: PureKey, definition: Definition) -> Value {
        if let Some(value) = self.common.get(&key) {
            return *value;
        }
        let value = self.kernel.add(Type::I32, definition);
        self.prologue.push(Statement::Let(value));
        self.common.insert(key, value);
        value
    }
}
