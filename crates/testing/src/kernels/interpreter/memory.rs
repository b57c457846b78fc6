//! Shared memory: bindings and variables of the workgroup, as bytes.
//!
//! A dynamic index past the end of a vector, a matrix or an array of fixed size is clamped to the
//! last element. Past the end of a runtime-sized array a load gives zero, a store does nothing.

use std::borrow::Cow;

use naga::{AddressSpace, GlobalVariable, Handle, TypeInner};

use super::Buffers;
use super::races::{AccessKind, InvocationEpoch, Races};
use super::value::{OUT_OF_RANGE, Pointer, Root, Types, Value, column_stride};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryArea {
    /// Group and binding.
    Binding(u32, u32),
    /// Index of a global variable.
    Workgroup(usize),
}

struct Location<'m> {
    area: MemoryArea,
    offset: usize,
    ty: Cow<'m, TypeInner>,
    /// False past the end of a runtime-sized array.
    in_range: bool,
    is_clamped: bool,
    is_writable: bool,
}

pub(super) struct Memory<'m, 'b> {
    pub types: Types<'m>,
    pub buffers: &'b mut Buffers,
    /// Variables of the workgroup by the index of their handle; empty for other variables.
    pub workgroup: Vec<Vec<u8>>,
    pub races: Option<Races>,
    /// An index out of range is an error.
    pub check_ranges: bool,
}

impl<'m> Memory<'m, '_> {
    pub(super) fn clear_workgroup(&mut self) -> Result<(), String> {
        let variables = self.types.module.global_variables.iter();
        let variables = variables.map(|(_, variable)| match variable.space {
            AddressSpace::WorkGroup => Ok(vec![0; self.types.size(self.types.inner(variable.ty))?]),
            _ => Ok(Vec::new()),
        });
        self.workgroup = variables.collect::<Result<_, String>>()?;
        if let Some(races) = &mut self.races {
            races.clear_workgroup();
        }
        Ok(())
    }

    pub(super) fn load(&mut self, reader: InvocationEpoch, pointer: &Pointer) -> Result<Value, String> {
        let location = self.resolve(pointer)?;
        if !location.in_range {
            return self.types.zero(&location.ty);
        }
        self.record(reader, &location, AccessKind::Read)?;
        self.types.load(&location.ty, self.bytes(location.area)?, location.offset)
    }

    /// Stores a value; true where the location exists.
    pub(super) fn store(&mut self, writer: InvocationEpoch, pointer: &Pointer, value: Value) -> Result<bool, String> {
        let location = self.resolve(pointer)?;
        if location.in_range {
            self.record(writer, &location, AccessKind::Write)?;
            let types = self.types;
            types.store(&location.ty, self.bytes(location.area)?, location.offset, value)?;
        }
        Ok(location.in_range)
    }

    pub(super) fn array_length(&mut self, pointer: &Pointer) -> Result<u32, String> {
        let location = self.resolve(pointer)?;
        let TypeInner::Array { stride, .. } = *location.ty else { return Err("the length of no array".into()) };
        let bytes = self.bytes(location.area)?.len();
        Ok((bytes.saturating_sub(location.offset) / stride as usize) as u32)
    }

    fn bytes(&mut self, area: MemoryArea) -> Result<&mut Vec<u8>, String> {
        match area {
            MemoryArea::Binding(group, binding) => {
                let buffer = self.buffers.get_mut(&(group, binding));
                buffer.ok_or_else(|| format!("no buffer for group {group}, binding {binding}"))
            }
            MemoryArea::Workgroup(index) => Ok(&mut self.workgroup[index]),
        }
    }

    fn resolve(&mut self, pointer: &Pointer) -> Result<Location<'m>, String> {
        let Root::Global(variable) = pointer.root else { return Err("a local variable is not shared".into()) };
        let variable: (Handle<GlobalVariable>, &'m GlobalVariable) =
            (variable, &self.types.module.global_variables[variable]);
        let area = match (variable.1.space, variable.1.binding) {
            (AddressSpace::Storage { .. } | AddressSpace::Uniform, Some(binding)) => {
                MemoryArea::Binding(binding.group, binding.binding)
            }
            (AddressSpace::WorkGroup, _) => MemoryArea::Workgroup(variable.0.index()),
            (space, _) => return Err(format!("memory of {space:?} is not supported")),
        };
        let is_writable = match variable.1.space {
            AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
            space => space == AddressSpace::WorkGroup,
        };
        let bytes = self.bytes(area)?.len();
        let mut location = Location {
            area,
            offset: 0,
            ty: Cow::Borrowed(self.types.inner(variable.1.ty)),
            in_range: true,
            is_clamped: false,
            is_writable,
        };
        for &index in &pointer.path {
            self.step(&mut location, index, bytes)?;
        }
        if self.check_ranges && (location.is_clamped || !location.in_range) {
            return Err(OUT_OF_RANGE.into());
        }
        Ok(location)
    }

    fn step(&self, location: &mut Location<'m>, index: u32, bytes: usize) -> Result<(), String> {
        let is_clamped = &mut location.is_clamped;
        let mut clamped = |length: u32| {
            *is_clamped |= index >= length;
            index.min(length - 1) as usize
        };
        match *location.ty {
            TypeInner::Vector { size, scalar } => {
                location.offset += clamped(size as u32) * usize::from(scalar.width);
                location.ty = Cow::Owned(TypeInner::Scalar(scalar));
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                location.offset += clamped(columns as u32) * column_stride(rows, scalar);
                location.ty = Cow::Owned(TypeInner::Vector { size: rows, scalar });
            }
            TypeInner::Array { base, size, stride } => {
                let stride = stride as usize;
                let index = match self.types.length(size)? {
                    Some(length) => clamped(length),
                    None => {
                        let length = bytes.saturating_sub(location.offset) / stride;
                        location.in_range &= (index as usize) < length;
                        index as usize
                    }
                };
                location.offset += index * stride;
                location.ty = Cow::Borrowed(self.types.inner(base));
            }
            TypeInner::Struct { .. } => {
                let TypeInner::Struct { members, .. } = &*location.ty else { return Err("no struct".into()) };
                let member = members.get(index as usize).ok_or("no such member")?;
                let (offset, ty) = (member.offset as usize, member.ty);
                location.offset += offset;
                location.ty = Cow::Borrowed(self.types.inner(ty));
            }
            _ => return Err(format!("no parts of {:?}", location.ty)),
        }
        Ok(())
    }

    fn record(&mut self, by: InvocationEpoch, location: &Location<'m>, kind: AccessKind) -> Result<(), String> {
        let Some(races) = self.races.as_mut().filter(|_| location.is_writable) else { return Ok(()) };
        let kind = if matches!(*location.ty, TypeInner::Atomic(_)) { AccessKind::Atomic } else { kind };
        self.types.for_each_scalar(&location.ty, location.offset, &mut |scalar, offset| {
            races.record(by, location.area, offset..offset + usize::from(scalar.width), kind)
        })
    }
}
