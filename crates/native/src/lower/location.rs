//! Pointers, and loads and stores through them.

use std::rc::Rc;

use naga::{Scalar, TypeInner};

use super::facts::VariableId;
use super::layout::{Layout, ScalarLeaf, array_length};
use super::{Lowering, Unsupported, value_type};
use crate::ir::{Access, Binary, Compare, Convert, Memory, Statement, Type, Value, Variable};

/// Maximum product of constant index and stride that an offset includes.
const MAX_STATIC_OFFSET: u64 = 1 << 30;

/// Product of a dynamic index and a stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexTerm {
    /// Index, less than `count` if `count` is not 0.
    index: Value,
    stride: u32,
    /// Number of elements; 0 for a runtime-sized array.
    count: u32,
}

/// Target of a pointer: memory, or a run of variables.
#[derive(Debug, Clone)]
pub(super) struct Location {
    /// `None` for a run of variables.
    memory: Option<Memory>,
    /// WGSL variable of a run of variables.
    root: Option<VariableId>,
    pub(super) layout: Layout,
    /// Index of the first variable, or offset in the memory in bytes.
    pub(super) offset: u32,
    terms: Vec<IndexTerm>,
    /// Bool that is false if the location is outside a runtime-sized array.
    pub(super) guard: Option<Value>,
}

/// Elements of a composite for selection by an index.
struct Elements {
    stride: u64,
    /// Number of elements; 0 for a runtime-sized array.
    count: u64,
}

impl Location {
    pub(super) fn variables(first: u32, root: VariableId) -> Self {
        Self {
            memory: None,
            root: Some(root),
            layout: Layout::Variables,
            offset: first,
            terms: Vec::new(),
            guard: None,
        }
    }

    pub(super) fn memory(memory: Memory, offset: u32) -> Self {
        let layout = match memory {
            Memory::Binding(_) => Layout::Host,
            Memory::Workgroup | Memory::Frame => Layout::Packed,
        };
        Self { memory: Some(memory), root: None, layout, offset, terms: Vec::new(), guard: None }
    }

    pub(super) fn variable(&self) -> Option<Variable> {
        (self.memory.is_none() && self.terms.is_empty()).then_some(Variable(self.offset))
    }

    /// Location of an element of an array. `index` is less than `count`.
    pub(super) fn element(&self, index: Value, stride: u64, count: u64) -> Self {
        let mut location = self.clone();
        location.terms.push(IndexTerm { index, stride: stride as u32, count: count as u32 });
        location
    }

    pub(super) fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.terms.iter_mut().for_each(|term| term.index = f(term.index));
        self.guard = self.guard.map(f);
    }

    pub(super) fn binding(&self) -> Option<usize> {
        match self.memory {
            Some(Memory::Binding(binding)) => Some(binding),
            _ => None,
        }
    }
}

impl<'m> Lowering<'m> {
    pub(super) fn atomic_scalar(&self, pointer: &TypeInner) -> Option<Scalar> {
        let TypeInner::Pointer { base, .. } = *pointer else { return None };
        match self.module.types[base].inner {
            TypeInner::Atomic(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Scalars of a pointer's target, with offsets relative to the pointer.
    fn pointee_leaves(&self, layout: Layout, pointer: &TypeInner) -> Result<Rc<[ScalarLeaf]>, Unsupported> {
        let leaves = match *pointer {
            TypeInner::Pointer { base, .. } => self.layouts.leaves_of(layout, base),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                self.layouts.leaves(layout, &TypeInner::Vector { size, scalar })
            }
            TypeInner::ValuePointer { size: None, scalar, .. } => {
                self.layouts.leaves(layout, &TypeInner::Scalar(scalar))
            }
            _ => return self.invalid("a value in place of a pointer"),
        };
        leaves.or_else(|construct| self.unsupported(construct))
    }

    fn elements(&self, layout: Layout, pointer: &TypeInner) -> Result<Elements, Unsupported> {
        let vector = |size: naga::VectorSize, scalar| {
            let stride = self.layouts.stride(layout, &TypeInner::Vector { size, scalar });
            Elements { stride, count: size as u64 }
        };
        match *pointer {
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => Ok(vector(size, scalar)),
            TypeInner::Pointer { base, .. } => {
                let inner = &self.module.types[base].inner;
                let count = match *inner {
                    TypeInner::Array { size: naga::ArraySize::Pending(_), .. } => {
                        return self.unsupported("overrides");
                    }
                    TypeInner::Array { size, .. } => array_length(size),
                    TypeInner::Vector { size, .. } | TypeInner::Matrix { columns: size, .. } => size as u64,
                    _ => return self.invalid("an index of a value without elements"),
                };
                Ok(Elements { stride: self.layouts.stride(layout, inner), count })
            }
            _ => self.invalid("an index of a scalar"),
        }
    }

    pub(super) fn location_at(
        &mut self,
        base: &Location,
        pointer: &TypeInner,
        index: u32,
    ) -> Result<Location, Unsupported> {
        if let TypeInner::Pointer { base: pointee, .. } = *pointer {
            let inner = &self.module.types[pointee].inner;
            if matches!(inner, TypeInner::Struct { .. }) {
                let offset = self.layouts.member_offset(base.layout, inner, index as usize);
                return self.offset_by(base, offset);
            }
        }
        let elements = self.elements(base.layout, pointer)?;
        let index = self.builder.u32(index);
        self.location_in(base, pointer, &elements, index)
    }

    pub(super) fn location_of(
        &mut self,
        base: &Location,
        pointer: &TypeInner,
        index: Value,
    ) -> Result<Location, Unsupported> {
        let elements = self.elements(base.layout, pointer)?;
        self.location_in(base, pointer, &elements, index)
    }

    pub(super) fn narrow(&mut self, index: Value) -> Value {
        match self.builder.ty(index) {
            Type::I64 => self.builder.convert(Convert::Narrow, Type::I32, index),
            _ => index,
        }
    }

    fn offset_by(&self, base: &Location, offset: u64) -> Result<Location, Unsupported> {
        match u32::try_from(u64::from(base.offset) + offset) {
            Ok(offset) => Ok(Location { offset, ..base.clone() }),
            Err(_) => self.unsupported("types of 4 GiB and more"),
        }
    }

    fn location_in(
        &mut self,
        base: &Location,
        pointer: &TypeInner,
        elements: &Elements,
        index: Value,
    ) -> Result<Location, Unsupported> {
        let mut guard = base.guard;
        let index = if elements.count == 0 {
            let length = self.array_length(base, pointer)?;
            // A binding has at least one element.
            if self.builder.bits(index) != Some(0) {
                let length = match self.builder.ty(index) {
                    Type::I64 => self.builder.convert(Convert::UnsignedWiden, Type::I64, length),
                    _ => length,
                };
                let inside = self.builder.compare(Compare::UnsignedLess, index, length);
                guard = Some(match guard {
                    Some(guard) => self.builder.binary(Binary::And, guard, inside),
                    None => inside,
                });
            }
            index
        } else {
            let last = self.builder.integer(self.builder.ty(index), elements.count as i64 - 1);
            self.builder.binary(Binary::UnsignedMin, index, last)
        };
        let index = self.narrow(index);
        if let Some(number) = self.builder.bits(index)
            && number.saturating_mul(elements.stride) <= MAX_STATIC_OFFSET
            && let Ok(location) = self.offset_by(base, number * elements.stride)
        {
            return Ok(Location { guard, ..location });
        }
        if let (Some(root), TypeInner::Pointer { base: pointee, .. }) = (base.root, pointer)
            && matches!(self.module.types[*pointee].inner, TypeInner::Array { .. })
        {
            // An arbitrary value: lowering starts again, with the variable in the frame.
            self.found.variables.insert(root);
            return Ok(base.clone());
        }
        if elements.stride.max(elements.count) > u64::from(u32::MAX) {
            return self.unsupported("types of 4 GiB and more");
        }
        Ok(Location { guard, ..base.element(index, elements.stride, elements.count) })
    }

    pub(super) fn array_length(&mut self, location: &Location, pointer: &TypeInner) -> Result<Value, Unsupported> {
        let stride = self.elements(location.layout, pointer)?.stride as u32;
        match location.binding() {
            Some(binding) => Ok(self.builder.length(binding, location.offset, stride)),
            None => self.unsupported("runtime-sized arrays outside bindings"),
        }
    }

    pub(super) fn access(&mut self, location: &Location, leaf: ScalarLeaf) -> Option<Access> {
        let memory = location.memory?;
        let scale = location.terms.iter().fold(0, |scale, term| gcd(scale, term.stride));
        let mut index = None;
        for term in &location.terms {
            let factor = self.builder.u32(term.stride.checked_div(scale).unwrap_or(1));
            let scaled = self.builder.binary(Binary::Multiply, term.index, factor);
            index = Some(match index {
                Some(index) => self.builder.binary(Binary::Add, index, scaled),
                None => scaled,
            });
        }
        Some(Access {
            memory,
            format: location.layout.format(leaf.scalar),
            index,
            scale,
            offset: location.offset.wrapping_add(leaf.offset),
            guard: location.guard,
        })
    }

    pub(super) fn load(&mut self, location: &Location, pointer: &TypeInner) -> Result<Rc<[Value]>, Unsupported> {
        let leaves = self.pointee_leaves(location.layout, pointer)?;
        self.load_leaves(location, &leaves)
    }

    pub(super) fn load_leaves(
        &mut self,
        location: &Location,
        leaves: &[ScalarLeaf],
    ) -> Result<Rc<[Value]>, Unsupported> {
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let Some(ty) = value_type(leaf.scalar) else { return self.unsupported("16-bit integers") };
            let value = match self.access(location, *leaf) {
                Some(access) => self.builder.load(ty, access),
                None => self.get_variable(location, leaf.offset, &location.terms),
            };
            values.push(value);
        }
        Ok(values.into())
    }

    fn get_variable(&mut self, location: &Location, offset: u32, terms: &[IndexTerm]) -> Value {
        let Some((term, rest)) = terms.split_first() else {
            return self.builder.get(Variable(location.offset + offset));
        };
        let last = term.count.saturating_sub(1);
        let mut value = self.get_variable(location, offset + last * term.stride, rest);
        for element in (0..last).rev() {
            let other = self.get_variable(location, offset + element * term.stride, rest);
            let number = self.builder.integer(self.builder.ty(term.index), i64::from(element));
            let selected = self.builder.compare(Compare::Equal, term.index, number);
            value = self.builder.select(selected, other, value);
        }
        value
    }

    pub(super) fn store(
        &mut self,
        location: &Location,
        pointer: &TypeInner,
        values: &[Value],
    ) -> Result<(), Unsupported> {
        let leaves = self.pointee_leaves(location.layout, pointer)?;
        self.store_leaves(location, &leaves, values);
        Ok(())
    }

    pub(super) fn store_leaves(&mut self, location: &Location, leaves: &[ScalarLeaf], values: &[Value]) {
        for (leaf, value) in leaves.iter().zip(values) {
            match self.access(location, *leaf) {
                Some(access) => self.builder.push(Statement::Store(access, *value)),
                None => self.set_variable(location, leaf.offset, &location.terms, None, *value),
            }
        }
    }

    /// Sets the variable that index terms select, if `condition` holds.
    fn set_variable(
        &mut self,
        location: &Location,
        offset: u32,
        terms: &[IndexTerm],
        condition: Option<Value>,
        value: Value,
    ) {
        if let Some((term, rest)) = terms.split_first() {
            for element in 0..term.count {
                let number = self.builder.u32(element);
                let selected = self.builder.compare(Compare::Equal, term.index, number);
                let condition = match condition {
                    Some(condition) => self.builder.binary(Binary::And, condition, selected),
                    None => selected,
                };
                self.set_variable(location, offset + element * term.stride, rest, Some(condition), value);
            }
            return;
        }
        let variable = Variable(location.offset + offset);
        let value = match condition {
            Some(condition) => {
                let old = self.builder.get(variable);
                self.builder.select(condition, value, old)
            }
            None => value,
        };
        self.builder.set(variable, value);
    }
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
