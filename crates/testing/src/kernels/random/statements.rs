//! Random statements. Every loop is bounded by a counter that its body does not change.

use super::ast::{Block, Expression, ScalarType, Statement, Type};
use super::generator::{AtomicArray, Generator, KernelStyle};

impl Generator {
    /// Generates about `length` statements, with blocks of up to `depth` levels.
    pub(super) fn block(&mut self, length: usize, depth: usize) -> Block {
        let scope = self.scope.len();
        let mut block = Vec::new();
        for _ in 0..length {
            self.statement(&mut block, depth);
            if matches!(block.last(), Some(Statement::Break | Statement::Continue | Statement::Return(_))) {
                break;
            }
        }
        self.scope.truncate(scope);
        block
    }

    /// Adds a statement, and sometimes the declaration that it needs.
    pub(super) fn statement(&mut self, block: &mut Block, depth: usize) {
        let general = if self.style == KernelStyle::General { 1 } else { 0 };
        let nested = if depth > 0 { 1 } else { 0 };
        let output = if self.in_main && !self.outputs.is_empty() { 14 } else { 0 };
        match self.rng.weighted(&[
            (18, 0),
            (14, 1),
            (24, 2),
            (output, 3),
            (12 * nested, 4),
            ((1 + 4 * general) * nested, 5),
            (8 * nested, 6),
            (general * 6 * nested, 7),
            (general * nested, 8),
            (4 * general, 9),
            (if self.in_main && !self.atomics.is_empty() { 5 } else { 0 }, 10),
            (general, 11),
            (3, 12),
            (if self.may_break || self.may_continue { 5 } else { 0 }, 13),
            (2 * general, 14),
            (if self.may_return { 2 } else { 0 }, 15),
        ]) {
            0 => self.let_statement(block),
            1 => self.var_statement(block),
            2 => self.assignment(block),
            3 => self.output_statement(block),
            4 => self.if_statement(block, depth - 1),
            5 => self.switch_statement(block, depth - 1),
            6 => self.for_statement(block, depth - 1),
            7 => self.while_or_loop_statement(block, depth - 1),
            8 => {
                let length = self.rng.between(1, 3);
                let inner = self.block(length, depth - 1);
                block.push(Statement::Block(inner));
            }
            9 => self.call_statement(block),
            10 => self.atomic_statement(block),
            11 => {
                let ty = self.random_type(0);
                let value = self.expression(&ty, 2);
                block.push(Statement::Discard(value));
            }
            12 => self.step_statement(block),
            13 => self.jump_statement(block),
            14 => self.pointer_statement(block),
            _ => self.return_statement(block),
        }
    }

    fn return_statement(&mut self, block: &mut Block) {
        let condition = self.expression(&Type::BOOL, 2);
        let result = self.result.clone().map(|ty| self.expression(&ty, 1));
        block.push(Statement::If { condition, accept: vec![Statement::Return(result)], reject: Vec::new() });
    }

    pub(super) fn depth(&mut self) -> usize {
        self.rng.between(1, if self.style == KernelStyle::General { 3 } else { 4 })
    }

    pub(super) fn let_statement(&mut self, block: &mut Block) {
        let ty = self.random_type(1);
        let depth = self.depth();
        let mut value = self.expression(&ty, depth);
        // A `let` of a constant is constant, and a constant shift amount or index must be in range.
        if ty.scalar().is_some_and(ScalarType::is_integer) {
            value = self.at_run_time(value);
        }
        let name = self.fresh_name("v");
        self.declare(&name, ty, false);
        block.push(Statement::Let { name, value });
    }

    pub(super) fn var_statement(&mut self, block: &mut Block) {
        let ty = self.random_type(2);
        let depth = self.depth();
        let value = if self.rng.chance(80) { Some(self.expression(&ty, depth)) } else { None };
        let name = self.fresh_name("v");
        self.declare(&name, ty.clone(), true);
        block.push(Statement::Var { name, ty, value });
    }

    fn assignment(&mut self, block: &mut Block) {
        let ty = self.random_type(1);
        let Some(target) = self.writable(&ty) else { return self.var_statement(block) };
        self.assign(block, target);
    }

    fn assign(&mut self, block: &mut Block, target: Expression) {
        let ty = target.ty.clone();
        let depth = self.depth();
        let numeric = self.has_specified_sums(&ty);
        let integer = ty.scalar().is_some_and(ScalarType::is_integer) && numeric;
        let operator = self.rng.weighted(&[
            (60, "="),
            (if numeric { 12 } else { 0 }, "+="),
            (if numeric { 6 } else { 0 }, "-="),
            (if numeric { 6 } else { 0 }, "*="),
            (if numeric { 3 } else { 0 }, "/="),
            (if integer { 2 } else { 0 }, "%="),
            (if integer { 2 } else { 0 }, "&="),
            (if integer { 2 } else { 0 }, "|="),
            (if integer { 2 } else { 0 }, "^="),
            (if integer { 2 } else { 0 }, "<<="),
            (if integer { 2 } else { 0 }, ">>="),
        ]);
        let shift = matches!(operator, "<<=" | ">>=");
        let mut value = self.expression(&if shift { ty.with(ScalarType::U32) } else { ty }, depth);
        if shift || matches!(operator, "/=" | "%=") {
            value = self.wholly_at_run_time(value);
        }
        block.push(Statement::Assign { target, operator, value });
    }

    pub(super) fn output_statement(&mut self, block: &mut Block) {
        let outputs = self.outputs.clone();
        let output = self.rng.pick(&outputs).clone();
        let target = self.own_element(&output);
        if let Type::Atomic(scalar) = target.ty {
            return self.own_atomic_statement(block, target, scalar);
        }
        if target.ty.is_numeric() || self.rng.chance(60) {
            return self.assign(block, target);
        }
        let depth = self.depth();
        let value = self.expression(&target.ty, depth);
        block.push(Statement::Assign { target, operator: "=", value });
    }

    /// Any operation on an atomic that no other invocation accesses.
    fn own_atomic_statement(&mut self, block: &mut Block, target: Expression, scalar: ScalarType) {
        let ty = Type::Scalar(scalar);
        let pointer = |target| Expression::prefix(Type::Unnamed, "&", target);
        let value = self.expression(&ty, 2);
        let names = [
            "atomicAdd",
            "atomicSub",
            "atomicMax",
            "atomicMin",
            "atomicAnd",
            "atomicOr",
            "atomicXor",
            "atomicExchange",
            "atomicStore",
            "atomicLoad",
            "atomicCompareExchangeWeak",
        ];
        // The last one may fail for no reason.
        let name = *self.rng.pick(&names[..if self.unspecified_results { 11 } else { 10 }]);
        let operands = match name {
            "atomicLoad" => vec![pointer(target)],
            "atomicCompareExchangeWeak" => vec![pointer(target), self.expression(&ty, 1), value],
            _ => vec![pointer(target), value],
        };
        let call = Expression::call(ty.clone(), name, operands);
        if name == "atomicStore" {
            return block.push(Statement::Call(call));
        }
        let variable = self.fresh_name("v");
        let value = if name == "atomicCompareExchangeWeak" {
            let (member, ty) = if self.rng.chance(70) { ("old_value", ty) } else { ("exchanged", Type::BOOL) };
            Expression::member(ty, Expression { ty: Type::Unnamed, ..call }, member)
        } else {
            call
        };
        self.declare(&variable, value.ty.clone(), false);
        block.push(Statement::Let { name: variable, value });
    }

    /// An operation that commutes with all others on the same atomic.
    fn atomic_statement(&mut self, block: &mut Block) {
        let atomics = self.atomics.clone();
        let array = self.rng.pick(&atomics).clone();
        self.update_atomic(block, array);
    }

    pub(super) fn update_atomic(&mut self, block: &mut Block, array: AtomicArray) {
        let value = self.expression(&Type::Scalar(array.scalar), 2);
        let index = self.index(array.length, false);
        let element = Expression::index(Type::Unnamed, Expression::name(Type::Unnamed, array.name), index);
        let pointer = Expression::prefix(Type::Unnamed, "&", element);
        let name = *self.rng.pick(array.operations);
        block.push(Statement::Call(Expression::call(Type::Unnamed, name, vec![pointer, value])));
    }

    fn if_statement(&mut self, block: &mut Block, depth: usize) {
        let operators = self.rng.between(1, 2);
        let condition = self.expression(&Type::BOOL, operators);
        let length = self.rng.between(1, 3);
        let accept = self.block(length, depth);
        let reject = match self.rng.below(4) {
            0 | 1 => Vec::new(),
            2 if depth > 0 => {
                let mut reject = Vec::new();
                self.if_statement(&mut reject, depth - 1);
                reject
            }
            _ => {
                let length = self.rng.between(1, 2);
                self.block(length, depth)
            }
        };
        block.push(Statement::If { condition, accept, reject });
    }

    fn call_statement(&mut self, block: &mut Block) {
        let functions: Vec<_> = self.program.functions.iter().filter(|f| f.name.starts_with("fun")).cloned().collect();
        if functions.is_empty() || self.calls == 0 || self.loops > 1 {
            return self.assignment(block);
        }
        let function = self.rng.pick(&functions).clone();
        for (_, ty) in &function.parameters {
            if let Type::Pointer("function", base) = ty
                && self.rng.chance(60)
            {
                let name = self.fresh_name("v");
                let value = self.expression(base, 1);
                self.declare(&name, base.as_ref().clone(), true);
                block.push(Statement::Var { name, ty: base.as_ref().clone(), value: Some(value) });
            }
        }
        self.calls = self.calls.saturating_sub(1);
        let Some(operands) = self.arguments(&function.parameters, 1) else { return };
        let ty = function.result.clone().unwrap_or(Type::Unnamed);
        let call = Expression { ty, form: super::ast::Form::UserCall(function.name), operands };
        block.push(if function.result.is_some() { Statement::Discard(call) } else { Statement::Call(call) });
    }

    fn step_statement(&mut self, block: &mut Block) {
        let ty = if self.rng.chance(50) { Type::I32 } else { Type::U32 };
        let Some(target) = self.writable(&ty) else { return self.var_statement(block) };
        let operator = *self.rng.pick(&["++", "--"]);
        block.push(Statement::Step { target, operator });
    }

    /// A pointer to an own element, or to a part of a local variable.
    fn pointer_statement(&mut self, block: &mut Block) {
        if self.in_main && self.rng.chance(30) {
            let outputs = self.outputs.clone();
            let output = self.rng.pick(&outputs).clone();
            if !matches!(output.base, Type::Atomic(_)) {
                let target = self.own_element(&output);
                return self.declare_pointer(block, target);
            }
        }
        let entries = self.scope.iter().filter(|entry| {
            let name = entry.expression.to_string();
            entry.is_mutable
                && matches!(entry.expression.ty, Type::Array(..) | Type::Struct(_))
                && !name.starts_with('(')
        });
        let entries: Vec<_> = entries.cloned().collect();
        if entries.is_empty() {
            return self.var_statement(block);
        }
        let entry = self.rng.pick(&entries).clone();
        let target = match entry.expression.ty.clone() {
            Type::Array(base, length) => {
                let index = self.index(length, false);
                Expression::index(*base, entry.expression, index)
            }
            Type::Struct(definition) => {
                let members = self.program.structs[definition].members.clone();
                let (name, ty) = self.rng.pick(&members).clone();
                Expression::member(ty, entry.expression, name)
            }
            _ => return,
        };
        self.declare_pointer(block, target);
    }

    fn declare_pointer(&mut self, block: &mut Block, target: Expression) {
        let ty = target.ty.clone();
        let name = self.fresh_name("p");
        let value = Expression::prefix(Type::Unnamed, "&", target);
        block.push(Statement::Let { name: name.clone(), value });
        self.declare(&format!("(*{name})"), ty, true);
    }
}
