use naga::{AtomicFunction, Barrier, Block, Expression, Handle, Scalar, ScalarKind, Span, Statement};

use super::location::Location;
use super::{Lowering, Operand, Unsupported, value_type};
use crate::ir::{self, Atomic, AtomicOperation, Binary, Definition, Label, Type, Value};

#[derive(Debug, Clone, Copy)]
pub(super) struct JumpTargets {
    pub(super) on_break: Option<Label>,
    pub(super) on_continue: Option<Label>,
    pub(super) on_return: Label,
    /// Label at the end of the body, which control reaches without a jump.
    pub(super) next: Option<Label>,
}

impl<'m> Lowering<'m> {
    pub(super) fn lower_block(&mut self, block: &'m Block, targets: JumpTargets) -> Result<(), Unsupported> {
        self.lower_statements(block, 0, targets)
    }

    pub(super) fn lower_statements(
        &mut self,
        block: &'m Block,
        first: usize,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let mut count = block.len();
        while count > first && goes_to_end(&block[count - 1], targets) {
            count -= 1;
        }
        for (index, (statement, span)) in block.span_iter().enumerate().take(count).skip(first) {
            if self.builder.diverted() {
                break;
            }
            let next = if index + 1 == count { targets.next } else { None };
            self.charge()?;
            self.line = self.lines.line(*span);
            self.lower_statement(statement, *span, JumpTargets { next, ..targets })?;
        }
        Ok(())
    }

    fn lower_statement(
        &mut self,
        statement: &'m Statement,
        span: Span,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        match statement {
            Statement::Emit(range) => self.emit(range),
            Statement::Block(block) => self.lower_block(block, targets),
            Statement::If { condition, accept, reject } => self.lower_if(*condition, accept, reject, targets),
            Statement::Switch { selector, cases } => self.lower_switch(*selector, cases, targets),
            Statement::Loop { body, continuing, break_if } => {
                self.lower_loop(body, continuing, *break_if, self.lines.line(span), targets)
            }
            Statement::Break => self.jump(targets.on_break, targets),
            Statement::Continue => self.jump(targets.on_continue, targets),
            Statement::Return { value } => self.lower_return(*value, targets),
            Statement::Call { function, arguments, result } => self.lower_call(*function, arguments, *result),
            _ => self.lower_effect(statement),
        }
    }

    fn lower_effect(&mut self, statement: &'m Statement) -> Result<(), Unsupported> {
        match *statement {
            Statement::Store { pointer, value } => self.lower_store(pointer, value),
            Statement::Atomic { pointer, ref fun, value, result } => self.lower_atomic(pointer, fun, value, result),
            Statement::ControlBarrier(barrier) => {
                if barrier.contains(Barrier::SUB_GROUP) {
                    return self.unsupported("subgroups");
                }
                self.builder.push(ir::Statement::Barrier);
                Ok(())
            }
            // Accesses of an invocation are in order, so a memory barrier needs no code.
            Statement::MemoryBarrier(_) => Ok(()),
            Statement::WorkGroupUniformLoad { pointer, result } => self.lower_uniform_load(pointer, result),
            Statement::ImageStore { .. } | Statement::ImageAtomic { .. } => self.unsupported("textures"),
            Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. } => self.unsupported("subgroups"),
            Statement::CooperativeStore { .. } => self.unsupported("cooperative matrices"),
            Statement::RayQuery { .. } | Statement::RayPipelineFunction(_) => self.unsupported("ray queries"),
            Statement::Kill => self.unsupported("`discard`"),
            _ => self.unsupported("this statement"),
        }
    }

    fn jump(&mut self, target: Option<Label>, targets: JumpTargets) -> Result<(), Unsupported> {
        match target {
            Some(_) if targets.next == target => Ok(()),
            Some(label) => {
                self.builder.push_break(label);
                Ok(())
            }
            None => self.invalid("a jump outside a loop"),
        }
    }

    fn lower_return(&mut self, value: Option<Handle<Expression>>, targets: JumpTargets) -> Result<(), Unsupported> {
        if let Some(value) = value {
            let values = self.values(value)?;
            if self.instance.facts.returns_at_end {
                self.instance.returned = Some(values.clone());
            }
            let results = self.instance.results.iter();
            for (variable, value) in results.zip(values.iter()) {
                self.builder.set(*variable, *value);
            }
        }
        if self.instance.facts.returns_at_end {
            return Ok(());
        }
        self.jump(Some(targets.on_return), targets)
    }

    fn lower_if(
        &mut self,
        condition: Handle<Expression>,
        accept: &'m Block,
        reject: &'m Block,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let condition = self.scalar(condition)?;
        match self.builder.bits(condition) {
            Some(0) => return self.lower_block(reject, targets),
            Some(_) => return self.lower_block(accept, targets),
            None => {}
        }
        self.builder.open_body();
        self.lower_block(accept, targets)?;
        let accept = self.builder.close_body();
        self.builder.open_body();
        self.lower_block(reject, targets)?;
        let reject = self.builder.close_body();
        self.builder.push_if(condition, accept, reject);
        Ok(())
    }

    fn lower_store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) -> Result<(), Unsupported> {
        let location = self.pointer(pointer)?;
        let values = self.values(value)?;
        let ty = self.type_of(pointer);
        if let (Some(scalar), [value]) = (self.atomic_scalar(ty), &*values) {
            self.atomic(&location, scalar, AtomicOperation::Store, *value, None)?;
            return Ok(());
        }
        self.store(&location, ty, &values)
    }

    fn lower_atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), Unsupported> {
        let location = self.pointer(pointer)?;
        let mut operand = self.scalar(value)?;
        let scalar = self.scalar_of(value)?;
        let is_float = scalar.kind == ScalarKind::Float;
        let is_signed = scalar.kind == ScalarKind::Sint;
        let mut expected = None;
        let operation = match *function {
            AtomicFunction::Add if is_float => AtomicOperation::FloatAdd,
            AtomicFunction::Add => AtomicOperation::Add,
            AtomicFunction::Subtract if is_float => {
                operand = self.builder.negate(scalar, operand);
                AtomicOperation::FloatAdd
            }
            AtomicFunction::Subtract => AtomicOperation::Subtract,
            AtomicFunction::And => AtomicOperation::And,
            AtomicFunction::ExclusiveOr => AtomicOperation::Xor,
            AtomicFunction::InclusiveOr => AtomicOperation::Or,
            AtomicFunction::Min if is_signed => AtomicOperation::SignedMin,
            AtomicFunction::Min => AtomicOperation::UnsignedMin,
            AtomicFunction::Max if is_signed => AtomicOperation::SignedMax,
            AtomicFunction::Max => AtomicOperation::UnsignedMax,
            AtomicFunction::Exchange { compare: None } => AtomicOperation::Exchange,
            AtomicFunction::Exchange { compare: Some(compare) } => {
                expected = Some(self.scalar(compare)?);
                AtomicOperation::CompareExchange
            }
        };
        let old = self.atomic(&location, scalar, operation, operand, expected)?;
        let Some(result) = result else { return Ok(()) };
        let values = match expected {
            Some(expected) => {
                let equal = self.builder.equal(scalar, old, expected);
                let exchanged = match location.guard {
                    Some(guard) => self.builder.binary(Binary::And, guard, equal),
                    None => equal,
                };
                vec![old, exchanged]
            }
            None => vec![old],
        };
        self.set_operand(result, Operand::Values(values.into()))
    }

    /// Adds an atomic operation; returns the old value.
    pub(super) fn atomic(
        &mut self,
        location: &Location,
        scalar: Scalar,
        operation: AtomicOperation,
        operand: Value,
        expected: Option<Value>,
    ) -> Result<Value, Unsupported> {
        let leaf = super::layout::ScalarLeaf { scalar, offset: 0 };
        let (Some(ty), Some(access)) = (value_type(scalar), self.access(location, leaf)) else {
            return self.invalid("an atomic outside memory");
        };
        let result = self.builder.kernel.add(ty, Definition::Result);
        self.builder.push(ir::Statement::Atomic(Atomic { operation, access, operand, expected, result }));
        Ok(result)
    }

    fn lower_uniform_load(
        &mut self,
        pointer: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<(), Unsupported> {
        let location = self.pointer(pointer)?;
        let ty = self.type_of(pointer);
        self.builder.push(ir::Statement::Barrier);
        let values = match self.atomic_scalar(ty) {
            Some(scalar) => {
                let operand = self.builder.zero(value_type(scalar).unwrap_or(Type::I32));
                [self.atomic(&location, scalar, AtomicOperation::Load, operand, None)?].into()
            }
            None => self.load(&location, ty)?,
        };
        self.builder.push(ir::Statement::Barrier);
        self.set_operand(result, Operand::Values(values))
    }
}

/// True for a jump to the label that control reaches without the jump.
fn goes_to_end(statement: &Statement, targets: JumpTargets) -> bool {
    let target = match statement {
        Statement::Break => targets.on_break,
        Statement::Continue => targets.on_continue,
        Statement::Return { value: None } => Some(targets.on_return),
        _ => None,
    };
    target.is_some() && target == targets.next
}
