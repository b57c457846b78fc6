//! Reduction of a failing case to a smaller one.

use super::Case;
use super::ast::{Block, Expression, Form, Program, ScalarType, Statement, Type};

const MAX_TRIES: usize = 3000;

/// A smaller case that `fails` still accepts. The case validates and has no data race.
pub(super) fn shrink(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut reduction = Reduction { best: case.clone(), fails, tries: 0 };
    loop {
        let size = reduction.best.text().len();
        reduction.shrink_dispatch();
        reduction.remove_definitions();
        reduction.remove_statements();
        reduction.replace_expressions();
        reduction.shrink_buffers();
        if reduction.tries >= MAX_TRIES || reduction.best.text().len() == size {
            return reduction.best;
        }
    }
}

struct Reduction<'f> {
    best: Case,
    fails: &'f dyn Fn(&Case) -> bool,
    tries: usize,
}

impl Reduction<'_> {
    fn accept(&mut self, candidate: Case) -> bool {
        if self.tries >= MAX_TRIES {
            return false;
        }
        self.tries += 1;
        let fails = (self.fails)(&candidate) && candidate.check_order().is_ok();
        if fails {
            self.best = candidate;
        }
        fails
    }

    fn accept_program(&mut self, change: impl FnOnce(&mut Program)) -> bool {
        let mut candidate = self.best.clone();
        change(&mut candidate.program);
        self.accept(candidate)
    }

    fn shrink_dispatch(&mut self) {
        for axis in 0..3 {
            for count in [1, self.best.workgroups[axis] / 2] {
                if (1..self.best.workgroups[axis]).contains(&count) {
                    let mut candidate = self.best.clone();
                    candidate.workgroups[axis] = count;
                    self.accept(candidate);
                }
            }
            let size = self.best.program.workgroup_size[axis];
            for count in [1, 2, 4, size / 2] {
                if (1..self.best.program.workgroup_size[axis]).contains(&count) {
                    self.accept_program(|program| program.workgroup_size[axis] = count);
                }
            }
        }
    }

    fn shrink_buffers(&mut self) {
        let keys: Vec<_> = self.best.buffers.keys().copied().collect();
        for key in keys {
            let bytes = self.best.buffers[&key].len();
            for length in [bytes / 8 * 4, bytes.saturating_sub(4)] {
                let mut candidate = self.best.clone();
                if let Some(buffer) = candidate.buffers.get_mut(&key) {
                    buffer.truncate(length);
                }
                if length > 0 && length < self.best.buffers[&key].len() {
                    self.accept(candidate);
                }
            }
            let mut candidate = self.best.clone();
            if let Some(buffer) = candidate.buffers.get_mut(&key)
                && buffer.iter().any(|byte| *byte != 0)
            {
                buffer.fill(0);
                self.accept(candidate);
            }
        }
    }

    fn remove_definitions(&mut self) {
        for i in (0..self.best.program.functions.len()).rev() {
            self.accept_program(|program| drop(program.functions.remove(i)));
        }
        for i in (0..self.best.program.globals.len()).rev() {
            self.accept_program(|program| drop(program.globals.remove(i)));
        }
        for i in (0..self.best.program.structs.len()).rev() {
            // Types refer to structs by index, so only the last struct is removable.
            if i + 1 == self.best.program.structs.len() {
                self.accept_program(|program| drop(program.structs.pop()));
            }
        }
    }

    /// Removes statements, several at once first, or replaces them by their blocks.
    fn remove_statements(&mut self) {
        for length in [8, 4, 2, 1] {
            let mut position = 0;
            while position < count_statements(&mut self.best.program) && self.tries < MAX_TRIES {
                let removed = self.accept_program(|program| {
                    edit_statement(program, position, &mut |block, i| {
                        let end = (i + length).min(block.len());
                        block.drain(i..end);
                    });
                });
                if !removed {
                    position += 1;
                }
            }
        }
        let mut position = 0;
        while position < count_statements(&mut self.best.program) && self.tries < MAX_TRIES {
            for choice in 0..3 {
                self.accept_program(|program| {
                    edit_statement(program, position, &mut |block, i| {
                        if let Some(inner) = inner_block(&block[i], choice) {
                            block.splice(i..=i, inner);
                        }
                    });
                });
            }
            position += 1;
        }
    }

    /// Replaces expressions by operands of the same type, or by zero.
    fn replace_expressions(&mut self) {
        let mut position = 0;
        while self.tries < MAX_TRIES {
            let Some(old) = expression_at(&mut self.best.program, position) else { break };
            let replacements = replacements(&old);
            let replaced = replacements.into_iter().any(|new| {
                self.accept_program(|program| {
                    let mut new = Some(new);
                    edit_expression(program, position, &mut |expression| {
                        if let Some(new) = new.take() {
                            *expression = new;
                        }
                    });
                })
            });
            if !replaced {
                position += 1;
            }
        }
    }
}

fn replacements(old: &Expression) -> Vec<Expression> {
    let simple = |text: &str| Expression::literal(old.ty.clone(), text);
    let mut new = Vec::new();
    if !matches!(old.form, Form::Literal(_)) && !old.operands.is_empty() {
        match &old.ty {
            Type::Unnamed | Type::Pointer(..) | Type::Atomic(_) | Type::Array(_, None) => {}
            Type::Scalar(ScalarType::Bool) => new.extend([simple("false"), simple("true")]),
            Type::Vector(_, scalar) => {
                let zero = Expression::zero(&Type::Scalar(*scalar));
                new.push(Expression::call(old.ty.clone(), old.ty.to_string(), vec![zero]));
            }
            ty => new.push(Expression::zero(ty)),
        }
    }
    let mut operands = Vec::new();
    for operand in &old.operands {
        operands.push(operand);
        operands.extend(&operand.operands);
    }
    new.extend(operands.into_iter().filter(|operand| operand.ty == old.ty).cloned());
    new
}

fn inner_block(statement: &Statement, choice: usize) -> Option<Block> {
    match (statement, choice) {
        (Statement::If { accept, .. }, 0) => Some(accept.clone()),
        (Statement::If { reject, .. }, 1) => Some(reject.clone()),
        (Statement::Switch { cases, .. }, _) => cases.get(choice).map(|case| case.body.clone()),
        (Statement::For { body, counter, ty, start, .. }, 0) => {
            let (name, ty, value) = (counter.clone(), ty.clone(), Some(start.clone()));
            Some([vec![Statement::Var { name, ty, value }], body.clone()].concat())
        }
        (Statement::While { body, .. } | Statement::Loop { body, .. } | Statement::Block(body), 0) => {
            Some(body.clone())
        }
        (Statement::Loop { continuing, .. }, 1) => Some(continuing.clone()),
        _ => None,
    }
}

/// Calls `visit` for each block, the outer ones first.
fn for_each_block(block: &mut Block, visit: &mut dyn FnMut(&mut Block)) {
    visit(block);
    for statement in block {
        match statement {
            Statement::If { accept, reject, .. } => {
                for_each_block(accept, visit);
                for_each_block(reject, visit);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| for_each_block(&mut case.body, visit));
            }
            Statement::For { body, .. } | Statement::While { body, .. } | Statement::Block(body) => {
                for_each_block(body, visit);
            }
            Statement::Loop { body, continuing, .. } => {
                for_each_block(body, visit);
                for_each_block(continuing, visit);
            }
            _ => {}
        }
    }
}

fn for_each_program_block(program: &mut Program, visit: &mut dyn FnMut(&mut Block)) {
    for_each_block(&mut program.main, visit);
    program.functions.iter_mut().for_each(|function| for_each_block(&mut function.body, visit));
}

fn count_statements(program: &mut Program) -> usize {
    let mut count = 0;
    for_each_program_block(program, &mut |block| count += block.len());
    count
}

/// Calls `edit` with the block and index of a statement by its position among all.
fn edit_statement(program: &mut Program, position: usize, edit: &mut dyn FnMut(&mut Block, usize)) {
    let mut left = Some(position);
    for_each_program_block(program, &mut |block| {
        if let Some(position) = left {
            if position < block.len() {
                left = None;
                edit(block, position);
            } else {
                left = Some(position - block.len());
            }
        }
    });
}

/// Calls `visit` for each expression, the outer ones first.
fn for_each_expression(program: &mut Program, visit: &mut dyn FnMut(&mut Expression)) {
    for_each_program_block(program, &mut |block| {
        for statement in block {
            match statement {
                Statement::Let { value, .. } | Statement::Discard(value) | Statement::Call(value) => walk(value, visit),
                Statement::Var { value, .. } | Statement::Return(value) => {
                    value.iter_mut().for_each(|value| walk(value, visit));
                }
                Statement::Assign { target, value, .. } => {
                    target.operands.iter_mut().for_each(|operand| walk(operand, visit));
                    walk(value, visit);
                }
                Statement::If { condition, .. } | Statement::While { condition, .. } => walk(condition, visit),
                Statement::Switch { selector, .. } => walk(selector, visit),
                Statement::For { start, condition, .. } => {
                    walk(start, visit);
                    walk(condition, visit);
                }
                Statement::Loop { break_if, .. } => break_if.iter_mut().for_each(|value| walk(value, visit)),
                Statement::Step { target, .. } => {
                    target.operands.iter_mut().for_each(|operand| walk(operand, visit));
                }
                Statement::Block(_) | Statement::Break | Statement::Continue | Statement::Barrier(_) => {}
            }
        }
    });
}

fn walk(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    visit(expression);
    expression.operands.iter_mut().for_each(|operand| walk(operand, visit));
}

fn expression_at(program: &mut Program, position: usize) -> Option<Expression> {
    let mut found = None;
    edit_expression(program, position, &mut |expression| found = Some(expression.clone()));
    found
}

fn edit_expression(program: &mut Program, position: usize, edit: &mut dyn FnMut(&mut Expression)) {
    let mut next = 0;
    let mut done = false;
    for_each_expression(program, &mut |expression| {
        if next == position && !done {
            done = true;
            edit(expression);
        }
        next += 1;
    });
}
