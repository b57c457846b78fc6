//! Memory that invocations share: bindings and variables of the workgroup, as bytes.
//!
//! A dynamic index past the end of a vector, a matrix or an array of fixed size is clamped to the
//! last element. Past the end of a runtime-sized array a load gives zero, a store does nothing.

use std::borrow::Cow;

use naga::{AddressSpace, GlobalVariable, Handle, TypeInner};

use super::Buffers;
use super::races::{Identity, Kind, Races};
use super::value::{Pointer, Root, Types, Value, column_stride};

/// Bytes that a pointer can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Group and binding.
    Binding(u32, u32),
    /// Index of a global variable.
    Workgroup(usize),
}

/// Part of a global variable in memory.
struct Place<'m> {
    area: Area,
    offset: usize,
    ty: Cow<'m, TypeInner>,
    /// False past the end of a runtime-sized array.
    in_range: bool,
    is_writable: bool,
}

pub struct Memory<'m, 'b> {
    pub types: Types<'m>,
    pub buffers: &'b mut Buffers,
    /// Variables of the current workgroup by the index of their handle; empty for other variables.
    pub workgroup: Vec<Vec<u8>>,
    pub races: Option<Races>,
}

impl<'m> Memory<'m, '_> {
    /// Begins a workgroup: its variables are zero.
    pub fn clear_workgroup(&mut self) -> Result<(), String> {
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

    pub fn load(&mut self, reader: Identity, pointer: &Pointer) -> Result<Value, String> {
        let place = self.resolve(pointer)?;
        if !place.in_range {
            return self.types.zero(&place.ty);
        }
        self.record(reader, &place, Kind::Read)?;
        self.types.load(&place.ty, self.bytes(place.area)?, place.offset)
    }

    /// Stores a value; true where the place exists.
    pub fn store(&mut self, writer: Identity, pointer: &Pointer, value: Value) -> Result<bool, String> {
        let place = self.resolve(pointer)?;
        if place.in_range {
            self.record(writer, &place, Kind::Write)?;
            let types = self.types;
            types.store(&place.ty, self.bytes(place.area)?, place.offset, value)?;
        }
        Ok(place.in_range)
    }

    /// Elements of a runtime-sized array.
    pub fn array_length(&mut self, pointer: &Pointer) -> Result<u32, String> {
        let place = self.resolve(pointer)?;
        let TypeInner::Array { stride, .. } = *place.ty else { return Err("the length of no array".into()) };
        let bytes = self.bytes(place.area)?.len();
        Ok((bytes.saturating_sub(place.offset) / stride as usize) as u32)
    }

    fn bytes(&mut self, area: Area) -> Result<&mut Vec<u8>, String> {
        match area {
            Area::Binding(group, binding) => {
                let buffer = self.buffers.get_mut(&(group, binding));
                buffer.ok_or_else(|| format!("no buffer for group {group}, binding {binding}"))
            }
            Area::Workgroup(index) => Ok(&mut self.workgroup[index]),
        }
    }

    fn resolve(&mut self, pointer: &Pointer) -> Result<Place<'m>, String> {
        let Root::Global(variable) = pointer.root else { return Err("a local variable is not shared".into()) };
        let variable: (Handle<GlobalVariable>, &'m GlobalVariable) =
            (variable, &self.types.module.global_variables[variable]);
        let area = match (variable.1.space, variable.1.binding) {
            (AddressSpace::Storage { .. } | AddressSpace::Uniform, Some(binding)) => {
                Area::Binding(binding.group, binding.binding)
            }
            (AddressSpace::WorkGroup, _) => Area::Workgroup(variable.0.index()),
            (space, _) => return Err(format!("memory of {space:?} is not supported")),
        };
        let is_writable = match variable.1.space {
            AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
            space => space == AddressSpace::WorkGroup,
        };
        let bytes = self.bytes(area)?.len();
        let mut place =
            Place { area, offset: 0, ty: Cow::Borrowed(self.types.inner(variable.1.ty)), in_range: true, is_writable };
        for &index in &pointer.path {
            self.step(&mut place, index, bytes)?;
        }
        Ok(place)
    }

    /// Goes from a composite to one of its parts.
    fn step(&self, place: &mut Place<'m>, index: u32, bytes: usize) -> Result<(), String> {
        let clamped = |length: u32| index.min(length - 1) as usize;
        match *place.ty {
            TypeInner::Vector { size, scalar } => {
                place.offset += clamped(size as u32) * usize::from(scalar.width);
                place.ty = Cow::Owned(TypeInner::Scalar(scalar));
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                place.offset += clamped(columns as u32) * column_stride(rows, scalar);
                place.ty = Cow::Owned(TypeInner::Vector { size: rows, scalar });
            }
            TypeInner::Array { base, size, stride } => {
                let stride = stride as usize;
                let index = match self.types.length(size)? {
                    Some(length) => clamped(length),
                    None => {
                        let length = bytes.saturating_sub(place.offset) / stride;
                        place.in_range &= (index as usize) < length;
                        index as usize
                    }
                };
                place.offset += index * stride;
                place.ty = Cow::Borrowed(self.types.inner(base));
            }
            TypeInner::Struct { .. } => {
                let TypeInner::Struct { members, .. } = &*place.ty else { return Err("no struct".into()) };
                let member = members.get(index as usize).ok_or("no such member")?;
                let (offset, ty) = (member.offset as usize, member.ty);
                place.offset += offset;
                place.ty = Cow::Borrowed(self.types.inner(ty));
            }
            _ => return Err(format!("no parts of {:?}", place.ty)),
        }
        Ok(())
    }

    fn record(&mut self, by: Identity, place: &Place<'m>, kind: Kind) -> Result<(), String> {
        let Some(races) = self.races.as_mut().filter(|_| place.is_writable) else { return Ok(()) };
        let kind = if matches!(*place.ty, TypeInner::Atomic(_)) { Kind::Atomic } else { kind };
        self.types.for_each_scalar(&place.ty, place.offset, &mut |scalar, offset| {
            races.record(by, place.area, offset..offset + usize::from(scalar.width), kind)
        })
    }
}
