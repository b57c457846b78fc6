//! Lowering of statements.

use naga::{AtomicFunction, Barrier, Block, Expression, Handle, Scalar, ScalarKind, Span, Statement};

use super::place::Place;
use super::{Lowering, Operand, Unsupported, value_type};
use crate::ir::{self, Atomic, AtomicOperation, Binary, Definition, Label, Type, Value};

/// Targets of jumps in a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) on_break: Option<Label>,
    pub(super) on_continue: Option<Label>,
    pub(super) on_return: Label,
    /// Label whose end follows the end of the body.
    pub(super) next: Option<Label>,
}

impl<'m> Lowering<'m> {
    pub(super) fn lower_block(&mut self, block: &'m Block, flow: Flow) -> Result<(), Unsupported> {
        self.lower_statements(block, 0, flow)
    }

    /// Lowers the statements of a block from number `first` on.
    pub(super) fn lower_statements(&mut self, block: &'m Block, first: usize, flow: Flow) -> Result<(), Unsupported> {
        let mut count = block.len();
        while count > first && goes_to_end(&block[count - 1], flow) {
            count -= 1;
        }
        for (index, (statement, span)) in block.span_iter().enumerate().take(count).skip(first) {
            if self.builder.diverted() {
                break;
            }
            let next = if index + 1 == count { flow.next } else { None };
            self.charge()?;
            self.line = self.lines.line(*span);
            self.lower_statement(statement, *span, Flow { next, ..flow })?;
        }
        Ok(())
    }

    fn lower_statement(&mut self, statement: &'m Statement, span: Span, flow: Flow) -> Result<(), Unsupported> {
        match statement {
            Statement::Emit(range) => self.emit(range),
            Statement::Block(block) => self.lower_block(block, flow),
            Statement::If { condition, accept, reject } => self.lower_if(*condition, accept, reject, flow),
            Statement::Switch { selector, cases } => self.lower_switch(*selector, cases, flow),
            Statement::Loop { body, continuing, break_if } => {
                self.lower_loop(body, continuing, *break_if, self.lines.line(span), flow)
            }
            Statement::Break => self.jump(flow.on_break, flow),
            Statement::Continue => self.jump(flow.on_continue, flow),
            Statement::Return { value } => self.lower_return(*value, flow),
            Statement::Call { function, arguments, result } => self.lower_call(*function, arguments, *result),
            _ => self.lower_effect(statement),
        }
    }

    /// Lowers a statement without control flow.
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
            // The accesses of an invocation happen in the order of its statements.
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

    fn jump(&mut self, target: Option<Label>, flow: Flow) -> Result<(), Unsupported> {
        match target {
            // Control reaches the end of the label without a break.
            Some(_) if flow.next == target => Ok(()),
            Some(label) => {
                self.builder.push_break(label);
                Ok(())
            }
            None => self.invalid("a jump outside a loop"),
        }
    }

    fn lower_return(&mut self, value: Option<Handle<Expression>>, flow: Flow) -> Result<(), Unsupported> {
        if let Some(value) = value {
            let values = self.values(value)?;
            if self.instance.plan.returns_at_end {
                self.instance.returned = Some(values.clone());
            }
            let results = self.instance.results.iter();
            for (variable, value) in results.zip(values.iter()) {
                self.builder.set(*variable, *value);
            }
        }
        if self.instance.plan.returns_at_end {
            return Ok(());
        }
        self.jump(Some(flow.on_return), flow)
    }

    fn lower_if(
        &mut self,
        condition: Handle<Expression>,
        accept: &'m Block,
        reject: &'m Block,
        flow: Flow,
    ) -> Result<(), Unsupported> {
        let condition = self.scalar(condition)?;
        match self.builder.bits(condition) {
            Some(0) => return self.lower_block(reject, flow),
            Some(_) => return self.lower_block(accept, flow),
            None => {}
        }
        self.builder.open_body();
        self.lower_block(accept, flow)?;
        let accept = self.builder.close_body();
        self.builder.open_body();
        self.lower_block(reject, flow)?;
        let reject = self.builder.close_body();
        self.builder.push_if(condition, accept, reject);
        Ok(())
    }

    fn lower_store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) -> Result<(), Unsupported> {
        let place = self.pointer(pointer)?;
        let values = self.values(value)?;
        let ty = self.type_of(pointer);
        if let (Some(scalar), [value]) = (self.atomic_scalar(ty), &*values) {
            self.atomic(&place, scalar, AtomicOperation::Store, *value, None)?;
            return Ok(());
        }
        self.store(&place, ty, &values)
    }

    fn lower_atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), Unsupported> {
        let place = self.pointer(pointer)?;
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
        let old = self.atomic(&place, scalar, operation, operand, expected)?;
        let Some(result) = result else { return Ok(()) };
        let values = match expected {
            Some(expected) => {
                let equal = self.builder.equal(scalar, old, expected);
                let exchanged = match place.guard {
                    Some(guard) => self.builder.binary(Binary::And, guard, equal),
                    None => equal,
                };
                vec![old, exchanged]
            }
            None => vec![old],
        };
        self.set_operand(result, Operand::Values(values.into()))
    }

    /// Adds an atomic operation and returns its result, the old value.
    pub(super) fn atomic(
        &mut self,
        place: &Place,
        scalar: Scalar,
        operation: AtomicOperation,
        operand: Value,
        expected: Option<Value>,
    ) -> Result<Value, Unsupported> {
        let leaf = super::layout::Leaf { scalar, offset: 0 };
        let (Some(ty), Some(access)) = (value_type(scalar), self.access(place, leaf)) else {
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
        let place = self.pointer(pointer)?;
        let ty = self.type_of(pointer);
        self.builder.push(ir::Statement::Barrier);
        let values = match self.atomic_scalar(ty) {
            Some(scalar) => {
                let operand = self.builder.zero(value_type(scalar).unwrap_or(Type::I32));
                [self.atomic(&place, scalar, AtomicOperation::Load, operand, None)?].into()
            }
            None => self.load(&place, ty)?,
        };
        self.builder.push(ir::Statement::Barrier);
        self.set_operand(result, Operand::Values(values))
    }
}

/// True for a jump to where control goes without it.
fn goes_to_end(statement: &Statement, flow: Flow) -> bool {
    let target = match statement {
        Statement::Break => flow.on_break,
        Statement::Continue => flow.on_continue,
        Statement::Return { value: None } => Some(flow.on_return),
        _ => None,
    };
    target.is_some() && target == flow.next
}
