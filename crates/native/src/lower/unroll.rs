//! Unrolling of loops with few, constant iterations. Arrays with only constant indices then become
//! variables.

use naga::{BinaryOperator, Block, Expression, Handle, LocalVariable, ScalarKind, Statement, TypeInner};

use super::facts::{breaks_loop, continues, visit};
use super::statement::JumpTargets;
use super::{Lowering, Operand, Unsupported};
use crate::ir::{Label, Value, Variable};

const MAX_ITERATIONS: usize = 32;

/// Maximum number of statements and expressions of all unrolled iterations of a loop nest.
const MAX_COST: u32 = 2000;

/// Loop that steps a variable by a constant to a constant limit.
pub(super) struct CountedLoop {
    /// Index of the statement after the test of the limit.
    first: usize,
    variable: Variable,
    /// Value of the variable after each iteration.
    next: Vec<Value>,
}

struct LimitTest {
    first: usize,
    local: Handle<LocalVariable>,
    operator: BinaryOperator,
    limit: i64,
}

impl<'m> Lowering<'m> {
    /// Finds the iterations of a loop with few, constant iterations.
    pub(super) fn counted_loop(&mut self, body: &'m Block, continuing: &'m Block) -> Option<CountedLoop> {
        if !self.options.unroll {
            return None;
        }
        let test = self.find_test(body)?;
        let step = self.find_step(continuing, test.local)?;
        let cost = self.facts.cost(body).saturating_mul(self.unrolled);
        let location = self.instance.locals.get(test.local.index())?;
        let variable = location.variable()?;
        let (ty, is_signed) = self.integer_local(test.local)?;
        if sets(self.instance.expressions, body, test.local) {
            return None;
        }
        let start = self.builder.known(variable)?;
        let wrap = |value: i64| if is_signed { i64::from(value as i32) } else { i64::from(value as u32) };
        let mut value = wrap(self.builder.bits(start)? as i64);
        let mut next = Vec::new();
        while holds(test.operator, value, wrap(test.limit)) {
            value = wrap(value.wrapping_add(step));
            next.push(self.builder.integer(ty, value));
            if next.len() > MAX_ITERATIONS || cost.saturating_mul(next.len() as u32) > MAX_COST {
                return None;
            }
        }
        Some(CountedLoop { first: test.first, variable, next })
    }

    pub(super) fn lower_counted_loop(
        &mut self,
        counted: &CountedLoop,
        body: &'m Block,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let after_test = counted.first;
        let exit = targets.next.unwrap_or_else(|| self.builder.label());
        let needs_block = targets.next.is_none() && body.iter().skip(after_test).any(breaks_loop);
        if needs_block {
            self.builder.open_body();
        }
        self.lower_iterations(counted, body, exit, targets)?;
        if needs_block {
            let body = self.builder.close_body();
            self.builder.push_block(exit, body);
        }
        Ok(())
    }

    fn lower_iterations(
        &mut self,
        counted: &CountedLoop,
        body: &'m Block,
        exit: Label,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let unrolled = self.unrolled;
        self.unrolled = unrolled.saturating_mul(counted.next.len() as u32);
        let has_continue = continues(body);
        for next in &counted.next {
            if self.builder.diverted() {
                break;
            }
            self.charge()?;
            let mut inner = JumpTargets { on_break: Some(exit), on_continue: None, next: None, ..targets };
            if has_continue {
                let label = self.builder.label();
                inner = JumpTargets { on_continue: Some(label), next: Some(label), ..inner };
                self.builder.open_body();
                self.lower_iteration(counted, body, inner)?;
                let body = self.builder.close_body();
                self.builder.push_block(label, body);
            } else {
                self.lower_iteration(counted, body, inner)?;
            }
            self.builder.set(counted.variable, *next);
        }
        self.unrolled = unrolled;
        Ok(())
    }

    fn lower_iteration(
        &mut self,
        counted: &CountedLoop,
        body: &'m Block,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        // The test always holds, but later statements may use its operands.
        for statement in body.iter().take(counted.first) {
            if let Statement::Emit(range) = statement {
                self.emit(range)?;
            }
        }
        self.lower_statements(body, counted.first, targets)
    }

    fn integer_local(&self, local: Handle<LocalVariable>) -> Option<(crate::ir::Type, bool)> {
        let function = match self.instance.id {
            Some(function) => &self.module.functions[function],
            None => &self.module.entry_points[self.entry].function,
        };
        match self.module.types[function.local_variables[local].ty].inner {
            TypeInner::Scalar(scalar) if scalar.width == 4 => match scalar.kind {
                ScalarKind::Sint => Some((crate::ir::Type::I32, true)),
                ScalarKind::Uint => Some((crate::ir::Type::I32, false)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Finds the test `if variable < limit {} else { break; }` at the start of a body.
    fn find_test(&self, body: &Block) -> Option<LimitTest> {
        let index = body.iter().position(|statement| !matches!(statement, Statement::Emit(_)))?;
        let Statement::If { condition, accept, reject } = &body[index] else { return None };
        if !accept.is_empty() || !matches!(reject[..], [Statement::Break]) {
            return None;
        }
        let Expression::Binary { op, left, right } = self.instance.expressions[*condition] else { return None };
        if !matches!(
            op,
            BinaryOperator::Less
                | BinaryOperator::LessEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterEqual
                | BinaryOperator::NotEqual
        ) {
            return None;
        }
        // A load before the loop has the initial value of the variable.
        let local = self.loaded_local(left).filter(|_| emits(&body[..index], left))?;
        Some(LimitTest { first: index + 1, local, operator: op, limit: self.constant_integer(right)? })
    }

    /// Finds the step of a continuing block that only adds a constant to the variable.
    fn find_step(&self, continuing: &Block, local: Handle<LocalVariable>) -> Option<i64> {
        let mut statements = continuing.iter().filter(|statement| !matches!(statement, Statement::Emit(_)));
        let (Some(Statement::Store { pointer, value }), None) = (statements.next(), statements.next()) else {
            return None;
        };
        let expressions = self.instance.expressions;
        let Expression::LocalVariable(stored) = expressions[*pointer] else { return None };
        let Expression::Binary { op, left, right } = expressions[*value] else { return None };
        if stored != local || self.loaded_local(left)? != local || !emits(continuing, left) {
            return None;
        }
        match op {
            BinaryOperator::Add => self.constant_integer(right),
            BinaryOperator::Subtract => self.constant_integer(right)?.checked_neg(),
            _ => None,
        }
    }

    fn loaded_local(&self, expression: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.instance.expressions[expression] else { return None };
        match self.instance.expressions[pointer] {
            Expression::LocalVariable(local) => Some(local),
            _ => None,
        }
    }

    fn constant_integer(&self, expression: Handle<Expression>) -> Option<i64> {
        if let Some(Operand::Values(values)) = &self.instance.operands[expression.index()]
            && let [value] = values[..]
        {
            return self.builder.bits(value).map(|bits| bits as i64);
        }
        match self.instance.expressions[expression] {
            Expression::Literal(naga::Literal::I32(value)) => Some(i64::from(value)),
            Expression::Literal(naga::Literal::U32(value)) => Some(i64::from(value)),
            Expression::FunctionArgument(argument) => match self.instance.arguments.get(argument as usize)? {
                Operand::Values(values) => self.builder.bits(*values.first()?).map(|bits| bits as i64),
                Operand::Pointer(_) => None,
            },
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                match self.module.global_expressions[init] {
                    Expression::Literal(naga::Literal::I32(value)) => Some(i64::from(value)),
                    Expression::Literal(naga::Literal::U32(value)) => Some(i64::from(value)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn holds(operator: BinaryOperator, a: i64, b: i64) -> bool {
    match operator {
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        BinaryOperator::NotEqual => a != b,
        _ => false,
    }
}

fn emits(statements: &[Statement], expression: Handle<Expression>) -> bool {
    let mut ranges = statements.iter().filter_map(|statement| match statement {
        Statement::Emit(range) => Some(range.clone()),
        _ => None,
    });
    ranges.any(|mut range| range.any(|emitted| emitted == expression))
}

fn sets(expressions: &naga::Arena<Expression>, block: &Block, local: Handle<LocalVariable>) -> bool {
    let is_local = |pointer: Handle<Expression>| match expressions[pointer] {
        Expression::LocalVariable(other) => other == local,
        _ => false,
    };
    let mut found = false;
    visit(block, &mut |statement| {
        found |= match statement {
            Statement::Store { pointer, .. } => is_local(*pointer),
            Statement::Call { arguments, .. } => arguments.iter().any(|argument| is_local(*argument)),
            _ => false,
        };
    });
    found
}
