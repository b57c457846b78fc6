//! Inlining of calls, and local variables.

use std::rc::Rc;

use naga::{Expression, Function, Handle, LocalVariable, TypeInner};

use super::facts::VariableId;
use super::layout::Layout;
use super::location::Location;
use super::statement::JumpTargets;
use super::{ExpressionTypes, InlinedCall, Lowering, Operand, Unsupported, value_type};
use crate::ir::{Access, Binary, Compare, Format, Memory, Statement, Type, Value, Variable};

/// Maximum number of scalars of a variable outside the frame.
const MAX_VARIABLES: u64 = 256;

/// Maximum size, in bytes, of memory that is cleared without a loop.
const MAX_UNROLLED_BYTES: u32 = 128;

impl<'m> Lowering<'m> {
    pub(super) fn lower_call(
        &mut self,
        callee: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<(), Unsupported> {
        let function = &self.module.functions[callee];
        let arguments = arguments.iter().map(|argument| self.operand(*argument)).collect::<Result<_, _>>()?;
        let instance = Box::new(InlinedCall {
            id: Some(callee),
            name: function.name.as_deref().unwrap_or("without a name"),
            expressions: &function.expressions,
            types: ExpressionTypes::Function(&self.info[callee]),
            facts: self.facts.function(callee),
            arguments,
            locals: Vec::new(),
            operands: vec![None; function.expressions.len()],
            copies: Vec::new(),
            results: Vec::new(),
            returned: None,
        });
        let caller = Box::new(std::mem::replace(&mut self.instance, *instance));
        let mark = self.frame.mark();
        let continuing_values = std::mem::take(&mut self.continuing_values);
        let line = self.line;
        self.lower_function(function)?;
        let values = self.take_result(function)?;
        self.line = line;
        self.continuing_values = continuing_values;
        self.frame.release(mark);
        self.instance = *caller;
        match (result, values) {
            (Some(result), Some(values)) => self.set_operand(result, Operand::Values(values)),
            _ => Ok(()),
        }
    }

    pub(super) fn lower_function(&mut self, function: &'m Function) -> Result<(), Unsupported> {
        self.copy_arguments(function)?;
        self.declare_locals(function)?;
        let on_return = self.builder.label();
        let targets = JumpTargets { on_break: None, on_continue: None, on_return, next: Some(on_return) };
        if self.instance.facts.returns_at_end {
            // The only `return` is at the end, so no block needs the label.
            return self.lower_block(&function.body, JumpTargets { next: None, ..targets });
        }
        if let Some(result) = &function.result {
            let leaves = self.layouts.leaves_of(Layout::Variables, result.ty);
            for leaf in leaves.or_else(|construct| self.unsupported(construct))?.iter() {
                let Some(ty) = value_type(leaf.scalar) else { return self.unsupported("16-bit integers") };
                let variable = self.builder.kernel.add_variable(ty);
                let zero = self.builder.zero(ty);
                self.builder.set(variable, zero);
                self.instance.results.push(variable);
            }
        }
        self.builder.open_body();
        self.lower_block(&function.body, targets)?;
        let body = self.builder.close_body();
        self.builder.push_block(on_return, body);
        Ok(())
    }

    fn take_result(&mut self, function: &Function) -> Result<Option<Rc<[Value]>>, Unsupported> {
        let Some(result) = &function.result else { return Ok(None) };
        if let Some(values) = self.instance.returned.take() {
            return Ok(Some(values));
        }
        if self.instance.results.is_empty() {
            return self.zero_values(result.ty).map(Some);
        }
        let results = std::mem::take(&mut self.instance.results);
        Ok(Some(results.iter().map(|variable| self.builder.get(*variable)).collect()))
    }

    /// Copies array arguments with dynamic indices to the frame.
    fn copy_arguments(&mut self, function: &'m Function) -> Result<(), Unsupported> {
        if self.indexed.values.is_empty() && !self.indexed.all {
            return Ok(());
        }
        for (handle, expression) in function.expressions.iter() {
            if let Expression::FunctionArgument(_) = expression
                && self.indexed.has_value(self.instance.id, handle)
            {
                let operand = self.operand(handle)?;
                self.set_operand(handle, operand)?;
            }
        }
        Ok(())
    }

    fn declare_locals(&mut self, function: &'m Function) -> Result<(), Unsupported> {
        for (handle, local) in function.local_variables.iter() {
            let location = self.declare_local(handle, local)?;
            self.instance.locals.push(Rc::new(location));
        }
        Ok(())
    }

    fn declare_local(&mut self, handle: Handle<LocalVariable>, local: &LocalVariable) -> Result<Location, Unsupported> {
        let location = self.allocate(local.ty, VariableId::Local(self.instance.id, handle))?;
        let values = local.init.map(|init| self.values(init)).transpose()?;
        self.initialize(&location, local.ty, values)?;
        Ok(location)
    }

    /// Allocates frame memory or scalar variables for a variable of one invocation.
    pub(super) fn allocate(&mut self, ty: Handle<naga::Type>, root: VariableId) -> Result<Location, Unsupported> {
        let scalars = self.layouts.size(Layout::Variables, ty);
        let inner = &self.module.types[ty].inner;
        let is_composite = matches!(inner, TypeInner::Array { .. } | TypeInner::Struct { .. });
        if is_composite && self.indexed.has_variable(root) || scalars > MAX_VARIABLES {
            return self.frame_location(self.layouts.size(Layout::Packed, ty));
        }
        let leaves = self.layouts.leaves_of(Layout::Variables, ty).or_else(|construct| self.unsupported(construct))?;
        let first = self.builder.kernel.variables.len() as u32;
        for leaf in leaves.iter() {
            let Some(ty) = value_type(leaf.scalar) else { return self.unsupported("16-bit integers") };
            self.builder.kernel.add_variable(ty);
        }
        Ok(Location::variables(first, root))
    }

    /// Sets a variable to `values`, or to zero without values.
    pub(super) fn initialize(
        &mut self,
        location: &Location,
        ty: Handle<naga::Type>,
        values: Option<Rc<[Value]>>,
    ) -> Result<(), Unsupported> {
        if values.is_none() && location.layout == Layout::Packed {
            // Frames interleave the lanes of a scalar by its size, so zeros need the same size.
            let format = match self.scalar_widths(ty) {
                [true, true] => None,
                [_, true] => Some(Format::Long),
                [_, false] => Some(Format::Word),
            };
            if let Some(format) = format {
                return self.clear_frame(location.offset, self.layouts.size(Layout::Packed, ty) as u32, format);
            }
        }
        let values = match values {
            Some(values) => values,
            None => self.zero_values(ty)?,
        };
        let leaves = self.layouts.leaves_of(location.layout, ty).or_else(|construct| self.unsupported(construct))?;
        self.store_leaves(location, &leaves, &values);
        Ok(())
    }

    /// Flags for a type with scalars of 4 bytes, and of 8 bytes, in a frame.
    fn scalar_widths(&self, ty: Handle<naga::Type>) -> [bool; 2] {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar)
            | TypeInner::Vector { scalar, .. }
            | TypeInner::Matrix { scalar, .. }
            | TypeInner::Atomic(scalar) => [scalar.width != 8, scalar.width == 8],
            TypeInner::Array { base, .. } => self.scalar_widths(*base),
            TypeInner::Struct { members, .. } => members.iter().fold([false; 2], |found, member| {
                let [narrow, wide] = self.scalar_widths(member.ty);
                [found[0] || narrow, found[1] || wide]
            }),
            _ => [true, false],
        }
    }

    fn clear_frame(&mut self, offset: u32, bytes: u32, format: Format) -> Result<(), Unsupported> {
        let zero = self.builder.zero(if format == Format::Long { Type::I64 } else { Type::I32 });
        let access = Access { memory: Memory::Frame, format, index: None, scale: 0, offset, guard: None };
        let count = bytes.div_ceil(format.bytes());
        if bytes <= MAX_UNROLLED_BYTES {
            for number in 0..count {
                let access = Access { offset: offset + number * format.bytes(), ..access };
                self.builder.push(Statement::Store(access, zero));
            }
            return Ok(());
        }
        let counter = self.builder.kernel.add_variable(Type::I32);
        let first = self.builder.u32(0);
        self.builder.set(counter, first);
        self.clear_scalars(counter, access, zero, count);
        Ok(())
    }

    fn clear_scalars(&mut self, counter: Variable, access: Access, zero: Value, count: u32) {
        let builder = &mut self.builder;
        let (exit, head) = (builder.label(), builder.label());
        let (one, count) = (builder.u32(1), builder.u32(count));
        builder.open_body();
        builder.open_loop();
        let index = builder.get(counter);
        builder.push(Statement::Store(Access { index: Some(index), scale: access.format.bytes(), ..access }, zero));
        let next = builder.binary(Binary::Add, index, one);
        builder.set(counter, next);
        let done = builder.compare(Compare::UnsignedLessEqual, count, next);
        builder.open_body();
        builder.push_break(exit);
        let accept = builder.close_body();
        builder.open_body();
        let reject = builder.close_body();
        builder.push_if(done, accept, reject);
        builder.push_repeat(head);
        let body = builder.close_body();
        builder.push_loop(head, body, 0);
        let body = builder.close_body();
        builder.push_block(exit, body);
    }
}
