//! Pointers, and loads and stores through them.

use std::rc::Rc;

use naga::{Scalar, TypeInner};

use super::layout::{Layout, Leaf, array_length};
use super::plan::Root;
use super::{Lowering, Unsupported, value_type};
use crate::ir::{Access, Binary, Compare, Convert, Memory, Statement, Type, Value, Variable};

/// Largest product of a constant index and a stride that is part of an offset.
const MAX_STATIC_OFFSET: u64 = 1 << 30;

/// Product of a dynamic index and a stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// Less than `count` where that is not 0.
    index: Value,
    stride: u32,
    /// Number of elements; 0 for a runtime-sized array.
    count: u32,
}

/// Memory or variables that a pointer refers to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// None where the place is a run of variables.
    memory: Option<Memory>,
    /// Variable that the place is in, where it is a run of variables.
    root: Option<Root>,
    pub(super) layout: Layout,
    /// Number of the first variable, or bytes from the beginning of the memory.
    pub(super) offset: u32,
    terms: Vec<Term>,
    /// False where the place is outside a runtime-sized array.
    pub(super) guard: Option<Value>,
}

/// Elements that an index selects from.
struct Elements {
    stride: u64,
    /// Number of elements; 0 for a runtime-sized array.
    count: u64,
}

impl Place {
    pub(super) fn variables(first: u32, root: Root) -> Self {
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

    /// The variable at the place, where it is a scalar outside memory.
    pub(super) fn variable(&self) -> Option<Variable> {
        (self.memory.is_none() && self.terms.is_empty()).then_some(Variable(self.offset))
    }

    /// Place of an element of an array. `index` is less than `count`.
    pub(super) fn element(&self, index: Value, stride: u64, count: u64) -> Self {
        let mut place = self.clone();
        place.terms.push(Term { index, stride: stride as u32, count: count as u32 });
        place
    }

    /// Replaces the values of indices and the guard.
    pub(super) fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.terms.iter_mut().for_each(|term| term.index = f(term.index));
        self.guard = self.guard.map(f);
    }

    /// Binding of a place in storage or uniform memory.
    pub(super) fn binding(&self) -> Option<usize> {
        match self.memory {
            Some(Memory::Binding(binding)) => Some(binding),
            _ => None,
        }
    }
}

impl<'m> Lowering<'m> {
    /// Type of the atomic that a pointer refers to; none where it is no atomic.
    pub(super) fn atomic_scalar(&self, pointer: &TypeInner) -> Option<Scalar> {
        let TypeInner::Pointer { base, .. } = *pointer else { return None };
        match self.module.types[base].inner {
            TypeInner::Atomic(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Scalars that a pointer refers to, with offsets relative to it.
    fn pointee_leaves(&self, layout: Layout, pointer: &TypeInner) -> Result<Rc<[Leaf]>, Unsupported> {
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

    /// Place of the element or member `index`.
    pub(super) fn place_at(&mut self, base: &Place, pointer: &TypeInner, index: u32) -> Result<Place, Unsupported> {
        if let TypeInner::Pointer { base: pointee, .. } = *pointer {
            let inner = &self.module.types[pointee].inner;
            if matches!(inner, TypeInner::Struct { .. }) {
                let offset = self.layouts.member_offset(base.layout, inner, index as usize);
                return self.moved(base, offset);
            }
        }
        let elements = self.elements(base.layout, pointer)?;
        let index = self.builder.u32(index);
        self.place_in(base, pointer, &elements, index)
    }

    /// Place of the element that a dynamic index selects.
    pub(super) fn place_of(&mut self, base: &Place, pointer: &TypeInner, index: Value) -> Result<Place, Unsupported> {
        let elements = self.elements(base.layout, pointer)?;
        self.place_in(base, pointer, &elements, index)
    }

    /// Low 32 bits of an integer.
    pub(super) fn narrow(&mut self, index: Value) -> Value {
        match self.builder.ty(index) {
            Type::I64 => self.builder.convert(Convert::Narrow, Type::I32, index),
            _ => index,
        }
    }

    fn moved(&self, base: &Place, offset: u64) -> Result<Place, Unsupported> {
        match u32::try_from(u64::from(base.offset) + offset) {
            Ok(offset) => Ok(Place { offset, ..base.clone() }),
            Err(_) => self.unsupported("types of 4 GiB and more"),
        }
    }

    fn place_in(
        &mut self,
        base: &Place,
        pointer: &TypeInner,
        elements: &Elements,
        index: Value,
    ) -> Result<Place, Unsupported> {
        let mut guard = base.guard;
        let index = if elements.count == 0 {
            let length = self.array_length(base, pointer)?;
            // The smallest binding has one element.
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
            && let Ok(place) = self.moved(base, number * elements.stride)
        {
            return Ok(Place { guard, ..place });
        }
        if let (Some(root), TypeInner::Pointer { base: pointee, .. }) = (base.root, pointer)
            && matches!(self.module.types[*pointee].inner, TypeInner::Array { .. })
        {
            // The kernel is lowered again with the variable in the frame.
            self.found.variables.insert(root);
            return Ok(base.clone());
        }
        if elements.stride.max(elements.count) > u64::from(u32::MAX) {
            return self.unsupported("types of 4 GiB and more");
        }
        Ok(Place { guard, ..base.element(index, elements.stride, elements.count) })
    }

    /// Number of elements of the runtime-sized array that a pointer refers to.
    pub(super) fn array_length(&mut self, place: &Place, pointer: &TypeInner) -> Result<Value, Unsupported> {
        let stride = self.elements(place.layout, pointer)?.stride as u32;
        match place.binding() {
            Some(binding) => Ok(self.builder.length(binding, place.offset, stride)),
            None => self.unsupported("runtime-sized arrays outside bindings"),
        }
    }

    /// Access of a scalar in memory at a place; none for variables.
    pub(super) fn access(&mut self, place: &Place, leaf: Leaf) -> Option<Access> {
        let memory = place.memory?;
        let scale = place.terms.iter().fold(0, |scale, term| gcd(scale, term.stride));
        let mut index = None;
        for term in &place.terms {
            let factor = self.builder.u32(term.stride.checked_div(scale).unwrap_or(1));
            let scaled = self.builder.binary(Binary::Multiply, term.index, factor);
            index = Some(match index {
                Some(index) => self.builder.binary(Binary::Add, index, scaled),
                None => scaled,
            });
        }
        Some(Access {
            memory,
            format: place.layout.format(leaf.scalar),
            index,
            scale,
            offset: place.offset.wrapping_add(leaf.offset),
            guard: place.guard,
        })
    }

    /// Loads the value that a pointer refers to.
    pub(super) fn load(&mut self, place: &Place, pointer: &TypeInner) -> Result<Rc<[Value]>, Unsupported> {
        let leaves = self.pointee_leaves(place.layout, pointer)?;
        self.load_leaves(place, &leaves)
    }

    pub(super) fn load_leaves(&mut self, place: &Place, leaves: &[Leaf]) -> Result<Rc<[Value]>, Unsupported> {
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let Some(ty) = value_type(leaf.scalar) else { return self.unsupported("16-bit integers") };
            let value = match self.access(place, *leaf) {
                Some(access) => self.builder.load(ty, access),
                None => self.get_variable(place, leaf.offset, &place.terms),
            };
            values.push(value);
        }
        Ok(values.into())
    }

    /// Value of the variable that index terms select.
    fn get_variable(&mut self, place: &Place, offset: u32, terms: &[Term]) -> Value {
        let Some((term, rest)) = terms.split_first() else {
            return self.builder.get(Variable(place.offset + offset));
        };
        let last = term.count.saturating_sub(1);
        let mut value = self.get_variable(place, offset + last * term.stride, rest);
        for element in (0..last).rev() {
            let other = self.get_variable(place, offset + element * term.stride, rest);
            let number = self.builder.integer(self.builder.ty(term.index), i64::from(element));
            let selected = self.builder.compare(Compare::Equal, term.index, number);
            value = self.builder.select(selected, other, value);
        }
        value
    }

    /// Stores a value through a pointer.
    pub(super) fn store(&mut self, place: &Place, pointer: &TypeInner, values: &[Value]) -> Result<(), Unsupported> {
        let leaves = self.pointee_leaves(place.layout, pointer)?;
        self.store_leaves(place, &leaves, values);
        Ok(())
    }

    pub(super) fn store_leaves(&mut self, place: &Place, leaves: &[Leaf], values: &[Value]) {
        for (leaf, value) in leaves.iter().zip(values) {
            match self.access(place, *leaf) {
                Some(access) => self.builder.push(Statement::Store(access, *value)),
                None => self.set_variable(place, leaf.offset, &place.terms, None, *value),
            }
        }
    }

    /// Sets the variable that index terms select, where `condition` holds.
    fn set_variable(&mut self, place: &Place, offset: u32, terms: &[Term], condition: Option<Value>, value: Value) {
        if let Some((term, rest)) = terms.split_first() {
            for element in 0..term.count {
                let number = self.builder.u32(element);
                let selected = self.builder.compare(Compare::Equal, term.index, number);
                let condition = match condition {
                    Some(condition) => self.builder.binary(Binary::And, condition, selected),
                    None => selected,
                };
                self.set_variable(place, offset + element * term.stride, rest, Some(condition), value);
            }
            return;
        }
        let variable = Variable(place.offset + offset);
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
