//! Checks that a kernel keeps the rules of `ir`.

use std::collections::HashSet;

use zippy_native::ir::{Access, Definition, Format, Kernel, Label, Memory, Statement, Type, Value, Variable, diverts};

pub(crate) fn verify(kernel: &Kernel) {
    let mut verifier = Verifier {
        kernel,
        visible: Vec::new(),
        evaluated: HashSet::new(),
        set: Vec::new(),
        is_set: HashSet::new(),
        labels: Vec::new(),
    };
    verifier.body(&kernel.body);
    assert!(verifier.visible.len() <= kernel.values.len());
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    visible: Vec<Value>,
    evaluated: HashSet<Value>,
    set: Vec<Variable>,
    is_set: HashSet<Variable>,
    labels: Vec<(Label, bool)>,
}

impl Verifier<'_> {
    fn body(&mut self, body: &[Statement]) {
        let (visible, set) = (self.visible.len(), self.set.len());
        for (index, statement) in body.iter().enumerate() {
            if matches!(statement, Statement::Break { .. } | Statement::Repeat { .. }) {
                assert_eq!(index + 1, body.len(), "statements after a jump");
            }
            self.statement(statement);
        }
        for value in self.visible.drain(visible..) {
            self.evaluated.remove(&value);
        }
        for variable in self.set.drain(set..) {
            self.is_set.remove(&variable);
        }
    }

    fn define(&mut self, value: Value) {
        assert!(self.evaluated.insert(value), "{value} is defined twice");
        self.visible.push(value);
    }

    fn operand(&self, value: Value) {
        let is_constant = matches!(self.kernel.definition(value), Definition::Constant(_));
        assert!(is_constant || self.evaluated.contains(&value), "{value} is not visible");
    }

    fn access(&self, access: &Access, ty: Type) {
        access.for_each_operand(|value| self.operand(value));
        if let Some(index) = access.index {
            assert_eq!(self.kernel.ty(index), Type::I32);
            assert!(access.scale > 0);
        }
        if let Some(guard) = access.guard {
            assert_eq!(self.kernel.ty(guard), Type::Bool);
        }
        let fits = match access.format {
            Format::Half | Format::Byte => false,
            Format::Word => ty == Type::I32 || ty == Type::Bool && !matches!(access.memory, Memory::Binding(_)),
            Format::F16 | Format::F32 => ty == Type::F32,
            Format::Long => ty == Type::I64,
            Format::F64 => ty == Type::F64,
        };
        assert!(fits, "{ty:?} in {access:?}");
    }

    fn label(&self, label: Label, is_loop: bool) {
        assert!(self.labels.contains(&(label, is_loop)), "label {} is not open", label.0);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let(value) => {
                let definition = self.kernel.definition(*value);
                assert!(!matches!(definition, Definition::Constant(_) | Definition::Result));
                definition.for_each_operand(|operand| self.operand(operand));
                if let Definition::Load(access) = definition {
                    self.access(access, self.kernel.ty(*value));
                }
                if let Definition::Get(variable) = definition {
                    assert!(self.is_set.contains(variable), "variable {} is not set", variable.0);
                }
                self.define(*value);
            }
            Statement::Set(variable, value) => {
                if self.is_set.insert(*variable) {
                    self.set.push(*variable);
                }
                assert_eq!(self.kernel.variables[variable.0 as usize], self.kernel.ty(*value));
                self.operand(*value);
            }
            Statement::Store(access, value) => {
                self.access(access, self.kernel.ty(*value));
                self.operand(*value);
                if let Memory::Binding(binding) = access.memory {
                    assert!(self.kernel.bindings[binding].writable);
                }
            }
            Statement::Atomic(atomic) => {
                self.access(&atomic.access, self.kernel.ty(atomic.result));
                self.operand(atomic.operand);
                assert_eq!(self.kernel.ty(atomic.operand), self.kernel.ty(atomic.result));
                atomic.expected.into_iter().for_each(|value| self.operand(value));
                self.define(atomic.result);
            }
            Statement::If { condition, accept, reject, merges } => {
                self.operand(*condition);
                self.body(accept);
                self.body(reject);
                assert!(merges.is_empty());
            }
            Statement::Block { label, body, results, ending } => {
                assert!(results.is_empty() && ending.is_empty());
                self.labels.push((*label, false));
                self.body(body);
                self.labels.pop();
            }
            Statement::Loop { label, body, parameters, initial, .. } => {
                assert!(parameters.is_empty() && initial.is_empty());
                assert!(diverts(body), "the body of a loop reaches its end");
                self.labels.push((*label, true));
                self.body(body);
                self.labels.pop();
            }
            Statement::Break { label, values } => {
                assert!(values.is_empty());
                self.label(*label, false);
            }
            Statement::Repeat { label, values } => {
                assert!(values.is_empty());
                self.label(*label, true);
            }
            Statement::Barrier => {}
        }
    }
}
