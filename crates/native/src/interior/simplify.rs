use std::collections::{HashMap, HashSet};

use crate::ir::{Access, Binary, Builtin, Definition, Kernel, Label, Memory, Merge, Statement, Type, Value};
use crate::lower::fold::{Fold, fold};
use crate::prune;
use crate::shape::{Shape, effects};

use super::jumps::{breaks, count_stores, leaves};
use super::rules::{Rule, Rules, is_tested};
use super::{Assumptions, Interior, RowCondition, RowTest, tail, unused};

/// Simplifies a kernel, and collects the conditions under which the result equals the kernel. Also
/// returns true if conditions depend on [`Assumptions::Positions`].
pub(super) fn simplify(kernel: &Kernel, assumptions: Assumptions) -> (Interior, bool) {
    let guards = effects::guards(kernel);
    let whole = kernel;
    let mut kernel = kernel.clone();
    let bools = [0, 1].map(|bit| kernel.add(Type::Bool, Definition::Constant(bit)));
    let constants = kernel.values.iter().map(|(_, definition)| match definition {
        Definition::Constant(_) => Some(Shape::Uniform),
        _ => None,
    });
    let shapes = constants.collect();
    let body = std::mem::take(&mut kernel.body);
    let returns = match body.as_slice() {
        [.., Statement::Block { label, .. }] => Some(*label),
        _ => None,
    };
    let mut pass = Simplifier {
        stores: count_stores(&body),
        out: Interior {
            kernel,
            shapes,
            values: Vec::new(),
            conditions: Vec::new(),
            indices: HashSet::new(),
            conditional: HashSet::new(),
            tail: None,
        },
        guards,
        bools,
        returns,
        replaced: HashMap::new(),
        path: Vec::new(),
        is_certain: true,
        assumed: HashSet::new(),
        proved: HashSet::new(),
        found: HashSet::new(),
        assumptions,
        has_assumed_position: false,
        positional: HashSet::new(),
    };
    let body = pass.body(body);
    let (mut out, assumed, has_assumed_position) = (pass.out, pass.assumed, pass.has_assumed_position);
    out.kernel.body = body;
    prune::prune(&mut out.kernel);
    out.tail = tail::find(&mut out, whole, &assumed, bools, returns);
    unused::remove_unused(&mut out);
    (out, has_assumed_position)
}

pub(super) struct Simplifier {
    pub(super) out: Interior,
    guards: HashSet<Value>,
    /// The constants false and true.
    bools: [Value; 2],
    /// Label of the block that a `return` breaks.
    pub(super) returns: Option<Label>,
    /// Number of stores and atomics of the whole kernel.
    pub(super) stores: usize,
    replaced: HashMap<Value, Value>,
    /// Uniform conditions around the current statement, with their bools.
    path: Vec<(Value, bool)>,
    /// True if every invocation runs the current statement.
    is_certain: bool,
    /// Values with a definition or shape under a condition.
    assumed: HashSet<Value>,
    /// Affine values that do not wrap, with the path of the proving condition.
    proved: HashSet<(Value, Vec<(Value, bool)>)>,
    found: HashSet<RowCondition>,
    pub(super) assumptions: Assumptions,
    /// True after the first condition under [`Assumptions::Positions`].
    pub(super) has_assumed_position: bool,
    /// Values that depend on a position of the row or on the length of an array.
    pub(super) positional: HashSet<Value>,
}

impl Simplifier {
    fn body(&mut self, body: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            self.statement(statement, &mut out);
            if out.last().is_some_and(Statement::diverts) {
                break;
            }
        }
        out
    }

    pub(super) fn operand(&self, value: Value) -> Value {
        *self.replaced.get(&value).unwrap_or(&value)
    }

    fn operands(&self, values: &mut [Value]) {
        values.iter_mut().for_each(|value| *value = self.operand(*value));
    }

    fn known(&self, value: Value) -> Option<bool> {
        match self.out.kernel.definition(value) {
            Definition::Constant(bits) => Some(*bits == 1),
            _ => None,
        }
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match statement {
            Statement::Let(value) => self.define(value, out),
            Statement::Store(access, value) => {
                let access = self.access(access);
                out.push(Statement::Store(access, self.operand(value)));
            }
            Statement::Atomic(mut atomic) => {
                atomic.access = self.access(atomic.access);
                atomic.operand = self.operand(atomic.operand);
                atomic.expected = atomic.expected.map(|one| self.operand(one));
                out.push(Statement::Atomic(atomic));
            }
            Statement::If { condition, accept, reject, merges } => {
                self.choose(condition, [accept, reject], merges, out);
            }
            Statement::Block { label, body, results, ending } => self.block(label, body, results, ending, out),
            Statement::Loop { label, body, parameters, mut initial, line } => {
                self.operands(&mut initial);
                if let Some(jump) = self.jump_over_loop(&body, &parameters, &initial, label) {
                    return out.push(jump);
                }
                let body = self.body(body);
                out.push(Statement::Loop { label, body, parameters, initial, line });
            }
            Statement::Break { label, mut values } => {
                self.operands(&mut values);
                out.push(Statement::Break { label, values });
            }
            Statement::Repeat { label, mut values } => {
                self.operands(&mut values);
                out.push(Statement::Repeat { label, values });
            }
            other @ (Statement::Barrier | Statement::Set(..)) => out.push(other),
        }
    }

    fn define(&mut self, value: Value, out: &mut Vec<Statement>) {
        let mut definition = self.out.kernel.definition(value).clone();
        let mut is_assumed = false;
        definition.for_each_operand(|one| is_assumed |= self.assumed.contains(&one));
        definition.map_operands(|one| self.operand(one));
        if let Definition::Load(access) = &mut definition {
            *access = self.access(*access);
        }
        self.record_position(value, &definition);
        if let Some(folded) = fold(&self.out.kernel, self.out.kernel.ty(value), &definition) {
            let folded = match folded {
                Fold::Constant(bits) => self.constant(self.out.kernel.ty(value), bits),
                Fold::Value(other) => other,
            };
            if is_assumed {
                self.assumed.insert(value);
            }
            self.replaced.insert(value, folded);
            return;
        }
        self.out.kernel.values[value.0 as usize].1 = definition;
        let rules = self.rules(is_assumed);
        let rule = rules.apply(value);
        if is_assumed || rule.has_tests() {
            self.assumed.insert(value);
        }
        match rule {
            Rule::Shaped(shape, tests) => {
                self.shape(value, shape);
                tests.into_iter().for_each(|test| self.assume(test));
            }
            Rule::Copy(other, tests) => {
                tests.into_iter().for_each(|test| self.assume(test));
                self.replaced.insert(value, other);
                return;
            }
            Rule::Known(bit, tests) => {
                tests.into_iter().for_each(|test| self.assume(test));
                self.replaced.insert(value, self.bools[usize::from(bit)]);
                return;
            }
            Rule::Quotient(dividend, divisor) => {
                let remainder = Definition::Binary(Binary::UnsignedRemainder, dividend, divisor);
                let remainder = self.out.kernel.add(Type::I32, remainder);
                self.out.shapes.push(None);
                self.assumed.insert(remainder);
                let tests = self.rules(is_assumed).same_quotient(remainder, dividend, divisor);
                self.shape(remainder, Shape::Affine(1));
                self.shape(value, Shape::Uniform);
                tests.into_iter().for_each(|test| self.assume(test));
            }
            Rule::Free => {}
        }
        out.push(Statement::Let(value));
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        if ty == Type::Bool {
            return self.bools[bits as usize & 1];
        }
        let constant = self.out.kernel.add(ty, Definition::Constant(bits));
        self.out.shapes.push(Some(Shape::Uniform));
        constant
    }

    fn record_position(&mut self, value: Value, definition: &Definition) {
        let mut depends = match definition {
            Definition::Builtin(Builtin::NumWorkgroups(_)) => false,
            Definition::Builtin(_) | Definition::Length { .. } => true,
            _ => false,
        };
        definition.for_each_operand(|operand| depends |= self.positional.contains(&operand));
        if depends {
            self.positional.insert(value);
        }
    }

    fn rules(&self, is_assumed: bool) -> Rules<'_> {
        Rules {
            kernel: &self.out.kernel,
            shapes: &self.out.shapes,
            guards: &self.guards,
            is_certain: self.is_certain,
            is_assumed,
        }
    }

    fn shape(&mut self, value: Value, shape: Shape) {
        self.out.shapes[value.0 as usize] = Some(shape);
        self.out.values.push(value);
    }

    fn assume(&mut self, test: RowTest) {
        if let RowTest::Within { value, is_signed: false, .. } = test {
            self.proved.insert((value, self.path.clone()));
        }
        let condition = RowCondition { test, path: self.path.clone() };
        if self.found.insert(condition.clone()) {
            self.out.conditions.push(condition);
        }
    }

    /// Resolves the operands of an access, and assumes that its affine index does not wrap.
    fn access(&mut self, mut access: Access) -> Access {
        access.map_operands(|one| self.operand(one));
        access.guard = access.guard.filter(|guard| self.known(*guard) != Some(true));
        let (Some(index), Memory::Binding(_)) = (access.index, access.memory) else { return access };
        let Some(Shape::Affine(step)) = self.out.shapes[index.0 as usize] else { return access };
        if is_tested(step) && access.guard.is_none() {
            let is_proved = self.proved.contains(&(index, Vec::new()));
            if !is_proved && !self.proved.contains(&(index, self.path.clone())) {
                self.assume(RowTest::Within { value: index, is_signed: false, low: None, high: None });
            }
            self.out.indices.insert(index);
            if let (Memory::Binding(binding), false) = (access.memory, self.path.is_empty()) {
                self.out.conditional.insert((binding, index));
            }
        }
        access
    }

    /// Simplifies a block, to its statements alone if no other statement breaks its label.
    fn block(
        &mut self,
        label: Label,
        body: Vec<Statement>,
        results: Vec<Value>,
        mut ending: Vec<Value>,
        out: &mut Vec<Statement>,
    ) {
        let before = self.is_certain;
        let mut body = self.body(body);
        self.operands(&mut ending);
        if crate::ir::diverts(&body) {
            ending.clear();
        }
        // Invocations that jumped to outer labels do not reach the end of the block.
        self.is_certain = before && !leaves(&body, &mut vec![label]);
        if let Some(Statement::Break { label: to, values }) = body.last()
            && *to == label
            && !breaks(&body[..body.len() - 1], label)
        {
            ending = values.clone();
            body.pop();
        }
        if breaks(&body, label) {
            out.push(Statement::Block { label, body, results, ending });
            return;
        }
        // Other ways to the end may have been removed under conditions.
        self.assumed.extend(&results);
        let pairs = results.into_iter().zip(ending);
        self.replaced.extend(pairs);
        out.extend(body);
    }

    fn choose(
        &mut self,
        condition: Value,
        [accept, reject]: [Vec<Statement>; 2],
        merges: Vec<Merge>,
        out: &mut Vec<Statement>,
    ) {
        let condition = self.operand(condition);
        let is_row = self.out.shapes[condition.0 as usize] == Some(Shape::Uniform);
        let mut known = self.known(condition);
        if known.is_none() && is_row && self.is_certain && self.path.is_empty() {
            known = self.expected(&accept, &reject, &merges);
            known = known.or_else(|| self.expected_position(condition, [&accept, &reject]));
            if let Some(expected) = known {
                self.assume(RowTest::Is { value: condition, expected });
            }
        }
        if let Some(known) = known {
            let arm = self.body(if known { accept } else { reject });
            let diverts = crate::ir::diverts(&arm);
            out.extend(arm);
            for merge in merges.into_iter().filter(|_| !diverts) {
                if let Some(value) = if known { merge.accept } else { merge.reject } {
                    self.replaced.insert(merge.result, self.operand(value));
                    self.assumed.insert(merge.result);
                }
            }
            return;
        }
        let before = std::mem::replace(&mut self.is_certain, false);
        let arms = [(accept, true), (reject, false)].map(|(arm, expected)| {
            if is_row {
                self.path.push((condition, expected));
            }
            let arm = self.body(arm);
            if is_row {
                self.path.pop();
            }
            self.is_certain = false;
            arm
        });
        self.is_certain = before && !arms.iter().any(|arm| leaves(arm, &mut Vec::new()));
        let [accept, reject] = arms;
        let merges = merges.into_iter().map(|merge| Merge {
            result: merge.result,
            accept: merge.accept.filter(|_| !crate::ir::diverts(&accept)).map(|one| self.operand(one)),
            reject: merge.reject.filter(|_| !crate::ir::diverts(&reject)).map(|one| self.operand(one)),
        });
        let merges = merges.collect();
        out.push(Statement::If { condition, accept, reject, merges });
    }
}
