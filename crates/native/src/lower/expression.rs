use std::rc::Rc;

use naga::{Expression, Handle, Literal, Type, TypeInner};

use super::facts::FunctionFacts;
use super::layout::{Layout, ScalarLeaf};
use super::location::Location;
use super::{ExpressionTypes, InlinedCall, Lowering, Operand, Unsupported, value_type};
use crate::ir::{self, AtomicOperation, Binary, Compare, Memory, Statement, Value};

impl<'m> Lowering<'m> {
    /// Evaluates the used expressions of an `Emit` statement.
    pub(super) fn emit(&mut self, range: &naga::Range<Expression>) -> Result<(), Unsupported> {
        for expression in range.clone() {
            let used = match self.instance.types {
                ExpressionTypes::Function(info) => info[expression].ref_count > 0,
                ExpressionTypes::Module(_) => true,
            };
            if used {
                self.charge()?;
                let operand = self.evaluate(expression)?;
                self.set_operand(expression, operand)?;
            }
        }
        Ok(())
    }

    pub(super) fn set_operand(&mut self, expression: Handle<Expression>, operand: Operand) -> Result<(), Unsupported> {
        if self.indexed.has_value(self.instance.id, expression)
            && let Operand::Values(values) = &operand
            && matches!(self.type_of(expression), TypeInner::Array { .. })
            && values.iter().any(|value| self.builder.bits(*value).is_none())
        {
            let leaves = self.value_leaves(Layout::Packed, self.type_of(expression))?;
            let copies = self.instance.copies.iter();
            let copy = copies.rev().find(|(copied, _)| *copied == expression).map(|(_, location)| location.clone());
            let location = match copy {
                Some(location) => location,
                None => {
                    let location = Rc::new(self.frame_location(self.packed_bytes(&leaves))?);
                    self.instance.copies.push((expression, location.clone()));
                    location
                }
            };
            self.store_leaves(&location, &leaves, values);
        }
        self.instance.operands[expression.index()] = Some(operand);
        Ok(())
    }

    /// Operand of an expression: evaluated by an `Emit`, or without the need of an `Emit`.
    pub(super) fn operand(&mut self, expression: Handle<Expression>) -> Result<Operand, Unsupported> {
        if let Some(operand) = &self.instance.operands[expression.index()] {
            let operand = operand.clone();
            return Ok(self.with_continuing_variables(operand));
        }
        let operand = self.evaluate(expression)?;
        // Values except constants may belong to a body that ends before the next use.
        let lasts = match &operand {
            Operand::Values(values) => values.iter().all(|value| self.builder.bits(*value).is_some()),
            Operand::Pointer(_) => false,
        };
        if lasts {
            self.instance.operands[expression.index()] = Some(operand.clone());
        }
        Ok(operand)
    }

    pub(super) fn values(&mut self, expression: Handle<Expression>) -> Result<Rc<[Value]>, Unsupported> {
        match self.operand(expression)? {
            Operand::Values(values) => Ok(values),
            Operand::Pointer(_) => self.invalid("a pointer in place of a value"),
        }
    }

    pub(super) fn scalar(&mut self, expression: Handle<Expression>) -> Result<Value, Unsupported> {
        match self.values(expression)?.first() {
            Some(value) => Ok(*value),
            None => self.invalid("an empty value"),
        }
    }

    pub(super) fn pointer(&mut self, expression: Handle<Expression>) -> Result<Rc<Location>, Unsupported> {
        match self.operand(expression)? {
            Operand::Pointer(location) => Ok(location),
            Operand::Values(_) => self.invalid("a value in place of a pointer"),
        }
    }

    fn evaluate(&mut self, expression: Handle<Expression>) -> Result<Operand, Unsupported> {
        let expressions = self.instance.expressions;
        match expressions[expression] {
            Expression::Access { base, index } => self.access_dynamic(base, index),
            Expression::AccessIndex { base, index } => self.access_static(base, index),
            Expression::FunctionArgument(index) => match self.instance.arguments.get(index as usize) {
                Some(argument) => Ok(argument.clone()),
                None => self.invalid("a missing argument"),
            },
            Expression::GlobalVariable(global) => match &self.globals[global.index()] {
                Some(location) => Ok(Operand::Pointer(location.clone())),
                None => self.unsupported("this kind of global variable"),
            },
            Expression::LocalVariable(local) => Ok(Operand::Pointer(self.instance.locals[local.index()].clone())),
            _ => Ok(Operand::Values(self.evaluate_values(expression)?)),
        }
    }

    fn evaluate_values(&mut self, expression: Handle<Expression>) -> Result<Rc<[Value]>, Unsupported> {
        let expressions = self.instance.expressions;
        match expressions[expression] {
            Expression::Literal(literal) => Ok([self.literal(literal)?].into()),
            Expression::Constant(constant) => self.global_values(self.module.constants[constant].init),
            Expression::Override(_) => self.unsupported("overrides without a value"),
            Expression::ZeroValue(ty) => self.zero_values(ty),
            Expression::Compose { ref components, .. } => {
                let mut values = Vec::with_capacity(components.len());
                for component in components {
                    values.extend_from_slice(&self.values(*component)?);
                }
                Ok(values.into())
            }
            Expression::Splat { size, value } => Ok(vec![self.scalar(value)?; size as usize].into()),
            Expression::Swizzle { size, vector, pattern } => {
                let values = self.values(vector)?;
                Ok(pattern[..size as usize].iter().map(|component| values[*component as usize]).collect())
            }
            Expression::Load { pointer } => {
                let location = self.pointer(pointer)?;
                let ty = self.type_of(pointer);
                match self.atomic_scalar(ty) {
                    Some(scalar) => {
                        let operand = self.zero_scalar(scalar)?;
                        let value = self.atomic(&location, scalar, AtomicOperation::Load, operand, None)?;
                        Ok([value].into())
                    }
                    None => self.load(&location, ty),
                }
            }
            Expression::Unary { op, expr } => self.unary(op, expr),
            Expression::Binary { op, left, right } => self.binary(op, left, right),
            Expression::Select { condition, accept, reject } => {
                let conditions = self.values(condition)?;
                let (accept, reject) = (self.values(accept)?, self.values(reject)?);
                let mut values = Vec::with_capacity(accept.len());
                for (index, (accept, reject)) in accept.iter().zip(reject.iter()).enumerate() {
                    let condition = conditions[index.min(conditions.len() - 1)];
                    values.push(self.builder.select(condition, *accept, *reject));
                }
                Ok(values.into())
            }
            Expression::Relational { fun, argument } => self.relational(fun, argument),
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(fun, &arguments)
            }
            Expression::As { expr, kind, convert } => self.convert(expr, kind, convert),
            Expression::ArrayLength(array) => {
                let location = self.pointer(array)?;
                let length = self.array_length(&location, self.type_of(array))?;
                Ok([length].into())
            }
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. } => self.invalid("a result without its statement"),
            Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
                self.unsupported("textures")
            }
            Expression::Derivative { .. } => self.unsupported("derivatives"),
            Expression::SubgroupBallotResult | Expression::SubgroupOperationResult { .. } => {
                self.unsupported("subgroups")
            }
            Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
                self.unsupported("cooperative matrices")
            }
            _ => self.unsupported("ray queries"),
        }
    }

    fn literal(&mut self, literal: Literal) -> Result<Value, Unsupported> {
        let (ty, bits) = match literal {
            Literal::F64(value) => (ir::Type::F64, value.to_bits()),
            Literal::F32(value) => (ir::Type::F32, u64::from(value.to_bits())),
            Literal::F16(value) => (ir::Type::F32, u64::from(value.to_f32().to_bits())),
            Literal::U32(value) => (ir::Type::I32, u64::from(value)),
            Literal::I32(value) => (ir::Type::I32, u64::from(value as u32)),
            Literal::U64(value) => (ir::Type::I64, value),
            Literal::I64(value) => (ir::Type::I64, value as u64),
            Literal::Bool(value) => (ir::Type::Bool, u64::from(value)),
            Literal::U16(_) | Literal::I16(_) => return self.unsupported("16-bit integers"),
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => return self.invalid("an abstract literal"),
        };
        Ok(self.builder.constant(ty, bits))
    }

    pub(super) fn zero_scalar(&mut self, scalar: naga::Scalar) -> Result<Value, Unsupported> {
        match value_type(scalar) {
            Some(ty) => Ok(self.builder.zero(ty)),
            None => self.unsupported("16-bit integers"),
        }
    }

    pub(super) fn zero_values(&mut self, ty: Handle<Type>) -> Result<Rc<[Value]>, Unsupported> {
        let leaves = self.layouts.leaves_of(Layout::Variables, ty).or_else(|construct| self.unsupported(construct))?;
        leaves.iter().map(|leaf| self.zero_scalar(leaf.scalar)).collect()
    }

    pub(super) fn global_values(&mut self, expression: Handle<Expression>) -> Result<Rc<[Value]>, Unsupported> {
        if let Some(Operand::Values(values)) = &self.global_operands[expression.index()] {
            return Ok(values.clone());
        }
        let instance = InlinedCall {
            id: None,
            name: "constants",
            expressions: &self.module.global_expressions,
            types: ExpressionTypes::Module(self.info),
            facts: FunctionFacts::default(),
            arguments: Vec::new(),
            locals: Vec::new(),
            operands: std::mem::take(&mut self.global_operands),
            copies: Vec::new(),
            results: Vec::new(),
            returned: None,
        };
        let instance = std::mem::replace(&mut self.instance, instance);
        let values = self.values(expression);
        self.global_operands = std::mem::replace(&mut self.instance, instance).operands;
        values
    }

    fn value_leaves(&self, layout: Layout, inner: &TypeInner) -> Result<Rc<[ScalarLeaf]>, Unsupported> {
        self.layouts.leaves(layout, inner).or_else(|construct| self.unsupported(construct))
    }

    fn packed_bytes(&self, leaves: &[ScalarLeaf]) -> u64 {
        leaves.last().map_or(0, |leaf| u64::from(leaf.offset) + 8)
    }

    pub(super) fn frame_location(&mut self, bytes: u64) -> Result<Location, Unsupported> {
        match self.frame.allocate(bytes) {
            Some(offset) => Ok(Location::memory(Memory::Frame, offset)),
            None => self.unsupported("variables of this size"),
        }
    }

    fn access_static(&mut self, base: Handle<Expression>, index: u32) -> Result<Operand, Unsupported> {
        let ty = self.type_of(base);
        match self.operand(base)? {
            Operand::Pointer(location) => Ok(Operand::Pointer(Rc::new(self.location_at(&location, ty, index)?))),
            Operand::Values(values) => Ok(Operand::Values(self.element(ty, &values, index)?)),
        }
    }

    fn element(&self, inner: &TypeInner, values: &[Value], index: u32) -> Result<Rc<[Value]>, Unsupported> {
        let (begin, count) = match *inner {
            TypeInner::Vector { .. } => (u64::from(index), 1),
            TypeInner::Matrix { rows, .. } => (u64::from(index) * rows as u64, rows as u64),
            TypeInner::Array { base, .. } => {
                let count = self.layouts.size(Layout::Variables, base);
                (u64::from(index) * count, count)
            }
            TypeInner::Struct { ref members, .. } => {
                let Some(member) = members.get(index as usize) else { return self.invalid("a missing member") };
                let count = self.layouts.size(Layout::Variables, member.ty);
                (self.layouts.member_offset(Layout::Variables, inner, index as usize), count)
            }
            _ => return self.invalid("an index of a value without elements"),
        };
        match values.get(begin as usize..(begin + count) as usize) {
            Some(values) => Ok(values.into()),
            None => self.invalid("an index out of range"),
        }
    }

    fn access_dynamic(&mut self, base: Handle<Expression>, index: Handle<Expression>) -> Result<Operand, Unsupported> {
        let index = self.scalar(index)?;
        let ty = self.type_of(base);
        let values = match self.operand(base)? {
            Operand::Pointer(location) => {
                return Ok(Operand::Pointer(Rc::new(self.location_of(&location, ty, index)?)));
            }
            Operand::Values(values) => values,
        };
        let count = match *ty {
            TypeInner::Vector { size, .. } | TypeInner::Matrix { columns: size, .. } => size as u64,
            TypeInner::Array { size, .. } => super::layout::array_length(size),
            _ => return self.invalid("an index of a value without elements"),
        };
        let last = self.builder.integer(self.builder.ty(index), count as i64 - 1);
        let index = self.builder.binary(Binary::UnsignedMin, index, last);
        if let Some(index) = self.builder.bits(index) {
            return Ok(Operand::Values(self.element(ty, &values, index as u32)?));
        }
        match *ty {
            TypeInner::Array { base: element, .. } => {
                let Some(location) = self.array_copy(base, ty, &values)? else {
                    // An arbitrary value: lowering starts again, with a copy of the array in the
                    // frame.
                    self.found.values.insert((self.instance.id, base));
                    return Ok(Operand::Values(self.element(ty, &values, 0)?));
                };
                let pointer = TypeInner::Pointer { base: element, space: naga::AddressSpace::Function };
                let index = self.narrow(index);
                let location = location.element(index, self.layouts.stride(Layout::Packed, ty), count);
                Ok(Operand::Values(self.load(&location, &pointer)?))
            }
            _ => {
                let mut result = self.element(ty, &values, count as u32 - 1)?.to_vec();
                for number in (0..count as u32 - 1).rev() {
                    let other = self.element(ty, &values, number)?;
                    let number = self.builder.integer(self.builder.ty(index), i64::from(number));
                    let selected = self.builder.compare(Compare::Equal, index, number);
                    for (value, other) in result.iter_mut().zip(other.iter()) {
                        *value = self.builder.select(selected, *other, *value);
                    }
                }
                Ok(Operand::Values(result.into()))
            }
        }
    }

    /// Copy of an array value in the frame; `None` for a non-constant array without copy.
    fn array_copy(
        &mut self,
        base: Handle<Expression>,
        ty: &TypeInner,
        values: &[Value],
    ) -> Result<Option<Rc<Location>>, Unsupported> {
        if let Some((_, location)) = self.instance.copies.iter().rev().find(|(copied, _)| *copied == base) {
            return Ok(Some(location.clone()));
        }
        let leaves = self.value_leaves(Layout::Packed, ty)?;
        if values.iter().any(|value| self.builder.bits(*value).is_none()) {
            return Ok(None);
        }
        let Some((offset, is_new)) = self.frame.table(&leaves, values) else {
            return self.unsupported("constants of this size");
        };
        let location = Location::memory(Memory::Frame, offset);
        if is_new {
            for (leaf, value) in leaves.iter().zip(values) {
                if let Some(access) = self.access(&location, *leaf) {
                    self.builder.push_prologue(Statement::Store(access, *value));
                }
            }
        }
        Ok(Some(Rc::new(location)))
    }
}
