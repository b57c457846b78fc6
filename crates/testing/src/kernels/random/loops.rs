//! Random loops and `switch` statements.

use super::ast::{Block, Expression, Statement, SwitchCase, Type};
use super::generator::Generator;

impl Generator {
    pub(super) fn switch_statement(&mut self, block: &mut Block, depth: usize) {
        let signed = self.rng.chance(50);
        let ty = if signed { Type::I32 } else { Type::U32 };
        let mut selector = self.expression(&ty, 1);
        if self.rng.chance(80) {
            let modulus = Expression::literal(ty.clone(), if signed { "5i" } else { "5u" });
            selector = self.at_run_time(selector);
            selector = Expression::infix(ty, "%", selector, modulus);
        }
        let (may_break, outer) = (true, self.may_break);
        self.may_break = may_break;
        let mut cases = Vec::new();
        let default = self.rng.below(3);
        let mut value = 0;
        for i in 0..3 {
            let mut selectors = Vec::new();
            for _ in 0..self.rng.between(1, 2) {
                let number = if signed { format!("{}i", value - 2) } else { format!("{value}u") };
                selectors.push(number);
                value += 1;
            }
            if i == default {
                if self.rng.chance(50) {
                    selectors.clear();
                }
                selectors.push("default".into());
            }
            let length = self.rng.below(3);
            cases.push(SwitchCase { selectors, body: self.block(length, depth) });
        }
        self.may_break = outer;
        block.push(Statement::Switch { selector, cases });
    }

    fn loop_body(&mut self, depth: usize, before: Block) -> Block {
        let outer = (self.may_break, self.may_continue);
        (self.may_break, self.may_continue) = (true, true);
        self.loops += 1;
        let length = self.rng.between(1, 3);
        let depth = if self.loops > 1 { 0 } else { depth };
        let mut body = before;
        body.extend(self.block(length, depth));
        self.loops -= 1;
        (self.may_break, self.may_continue) = outer;
        body
    }

    pub(super) fn for_statement(&mut self, block: &mut Block, depth: usize) {
        let signed = self.rng.chance(40);
        let ty = if signed { Type::I32 } else { Type::U32 };
        let suffix = if signed { "i" } else { "u" };
        let counter = self.fresh_name("c");
        let name = Expression::name(ty.clone(), counter.clone());
        let count = self.rng.between(1, 4);
        let limit = if self.rng.chance(65) {
            Expression::literal(ty.clone(), format!("{count}{suffix}"))
        } else {
            // A bound at run time, at most 3.
            let value = self.expression(&ty, 1);
            let value = self.at_run_time(value);
            Expression::infix(ty.clone(), "&", value, Expression::literal(ty.clone(), format!("3{suffix}")))
        };
        let scope = self.scope.len();
        let start = Expression::literal(ty.clone(), format!("{}{suffix}", self.rng.below(2)));
        let (start, condition, update) = match self.rng.below(5) {
            0 => (limit, Expression::infix(Type::BOOL, ">", name, start), format!("{counter}--")),
            1 => (start, Expression::infix(Type::BOOL, "<", name, limit), format!("{counter} += 1{suffix}")),
            2 => (start, Expression::infix(Type::BOOL, "<=", name, limit), format!("{counter} += 2{suffix}")),
            _ => (start, Expression::infix(Type::BOOL, "<", name, limit), format!("{counter}++")),
        };
        self.declare(&counter, ty.clone(), false);
        let body = self.loop_body(depth, Vec::new());
        self.scope.truncate(scope);
        block.push(Statement::For { counter, ty, start, condition, update, body });
    }

    pub(super) fn while_or_loop_statement(&mut self, block: &mut Block, depth: usize) {
        let counter = self.fresh_name("c");
        let name = Expression::name(Type::U32, counter.clone());
        block.push(Statement::Var { name: counter.clone(), ty: Type::U32, value: None });
        let count = self.rng.between(1, 4);
        let below = Expression::infix(Type::BOOL, "<", name.clone(), Expression::u32(count));
        let step = Statement::Step { target: name.clone(), operator: "++" };
        let scope = self.scope.len();
        self.declare(&counter, Type::U32, false);
        if self.rng.chance(50) {
            let condition = if self.rng.chance(50) {
                let other = self.expression(&Type::BOOL, 1);
                Expression::infix(Type::BOOL, "&&", below, other)
            } else {
                below
            };
            let body = self.loop_body(depth, vec![step]);
            block.push(Statement::While { condition, body });
        } else {
            let end = Expression::infix(Type::BOOL, ">=", name, Expression::u32(count));
            let break_if = self.rng.chance(60);
            let exit = Statement::If { condition: end.clone(), accept: vec![Statement::Break], reject: Vec::new() };
            let before = if break_if { Vec::new() } else { vec![exit] };
            let body = self.loop_body(depth, before);
            let outer = (self.may_break, self.may_continue);
            let may_return = std::mem::replace(&mut self.may_return, false);
            (self.may_break, self.may_continue) = (false, false);
            let length = self.rng.below(2);
            let mut continuing = self.block(length, 0);
            continuing.insert(0, step);
            self.may_return = may_return;
            (self.may_break, self.may_continue) = outer;
            let break_if = break_if.then(|| {
                let other = self.expression(&Type::BOOL, 1);
                if self.rng.chance(50) { Expression::infix(Type::BOOL, "||", end.clone(), other) } else { end }
            });
            block.push(Statement::Loop { body, continuing, break_if });
        }
        self.scope.truncate(scope);
        // The counter is mutable after the loop.
        self.declare(&counter, Type::U32, true);
    }

    pub(super) fn jump_statement(&mut self, block: &mut Block) {
        let jump = if self.may_continue && (!self.may_break || self.rng.chance(50)) {
            Statement::Continue
        } else {
            Statement::Break
        };
        if self.rng.chance(85) {
            let condition = self.expression(&Type::BOOL, 2);
            block.push(Statement::If { condition, accept: vec![jump], reject: Vec::new() });
        } else {
            block.push(jump);
        }
    }
}
