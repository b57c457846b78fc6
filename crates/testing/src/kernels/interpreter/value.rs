use naga::{Handle, LocalVariable, Module, TypeInner, VectorSize};

use super::scalar::ScalarValue;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Scalar(ScalarValue),
    Vector(Vec<ScalarValue>),
    /// Columns.
    Matrix(Vec<Vec<ScalarValue>>),
    /// Elements of an array or members of a struct.
    Composite(Vec<Value>),
    Pointer(Pointer),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Global(Handle<naga::GlobalVariable>),
    /// Variable of an active function; `frame` counts from the entry point.
    Local {
        frame: usize,
        variable: Handle<LocalVariable>,
    },
}

pub(super) const OUT_OF_RANGE: &str = "an index out of range";

/// Accesses clamp or check the indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    pub root: Root,
    pub path: Vec<u32>,
}

impl Value {
    pub fn scalar(&self) -> Result<ScalarValue, String> {
        match self {
            Self::Scalar(scalar) => Ok(*scalar),
            _ => Err(format!("{self:?} is no scalar")),
        }
    }

    pub fn pointer(&self) -> Result<&Pointer, String> {
        match self {
            Self::Pointer(pointer) => Ok(pointer),
            _ => Err(format!("{self:?} is no pointer")),
        }
    }

    pub fn components(&self) -> Result<&[ScalarValue], String> {
        match self {
            Self::Scalar(scalar) => Ok(std::slice::from_ref(scalar)),
            Self::Vector(components) => Ok(components),
            _ => Err(format!("{self:?} is no scalar or vector")),
        }
    }

    pub fn columns(&self) -> Result<&[Vec<ScalarValue>], String> {
        match self {
            Self::Matrix(columns) => Ok(columns),
            _ => Err(format!("{self:?} is no matrix")),
        }
    }

    pub fn check_path(&self, path: &[u32]) -> Result<(), String> {
        let Some((&index, rest)) = path.split_first() else { return Ok(()) };
        let length = match self {
            Self::Vector(components) => components.len(),
            Self::Matrix(columns) => columns.len(),
            Self::Composite(parts) => parts.len(),
            _ => 0,
        };
        if index as usize >= length { Err(OUT_OF_RANGE.into()) } else { self.part(&[index])?.check_path(rest) }
    }

    /// An index out of range selects the last element.
    pub fn part(&self, path: &[u32]) -> Result<Value, String> {
        let Some((&index, rest)) = path.split_first() else { return Ok(self.clone()) };
        match self {
            Self::Vector(components) => Self::Scalar(components[clamped(index, components.len())]).part(rest),
            Self::Matrix(columns) => Self::Vector(columns[clamped(index, columns.len())].clone()).part(rest),
            Self::Composite(parts) => parts[clamped(index, parts.len())].part(rest),
            _ => Err(format!("{self:?} has no parts")),
        }
    }

    /// An index out of range selects the last element.
    pub fn set_part(&mut self, path: &[u32], new: Value) -> Result<(), String> {
        match (self, path) {
            (this, []) => *this = new,
            (Self::Vector(components), [index]) => {
                let index = clamped(*index, components.len());
                components[index] = new.scalar()?;
            }
            (Self::Matrix(columns), [index]) => {
                let index = clamped(*index, columns.len());
                columns[index] = new.components()?.to_vec();
            }
            (Self::Matrix(columns), [column, row]) => {
                let column = clamped(*column, columns.len());
                let row = clamped(*row, columns[column].len());
                columns[column][row] = new.scalar()?;
            }
            (Self::Composite(parts), [index, rest @ ..]) => {
                let index = clamped(*index, parts.len());
                parts[index].set_part(rest, new)?;
            }
            (this, _) => return Err(format!("{this:?} has no parts")),
        }
        Ok(())
    }
}

fn clamped(index: u32, length: usize) -> usize {
    (index as usize).min(length - 1)
}

/// Bytes between the columns of a matrix.
pub(super) fn column_stride(rows: VectorSize, scalar: naga::Scalar) -> usize {
    let components = if rows == VectorSize::Bi { 2 } else { 4 };
    components * usize::from(scalar.width)
}

/// The types of a module and the lengths of arrays with a size by an override.
#[derive(Clone, Copy)]
pub struct Types<'m> {
    pub module: &'m Module,
    pub overrides: &'m [Option<ScalarValue>],
}

impl<'m> Types<'m> {
    pub fn inner(self, ty: Handle<naga::Type>) -> &'m TypeInner {
        &self.module.types[ty].inner
    }

    /// Length of an array; `None` for a runtime-sized array.
    pub fn length(self, size: naga::ArraySize) -> Result<Option<u32>, String> {
        match size {
            naga::ArraySize::Constant(length) => Ok(Some(length.get())),
            naga::ArraySize::Pending(length) => match self.overrides.get(length.index()) {
                Some(Some(ScalarValue::U32(length @ 1..))) => Ok(Some(*length)),
                Some(Some(ScalarValue::I32(length @ 1..))) => Ok(Some(*length as u32)),
                _ => Err("an array without a valid length".into()),
            },
            naga::ArraySize::Dynamic => Ok(None),
        }
    }

    fn fixed_length(self, size: naga::ArraySize) -> Result<usize, String> {
        Ok(self.length(size)?.ok_or("a runtime-sized array as a value")? as usize)
    }

    pub fn size(self, ty: &TypeInner) -> Result<usize, String> {
        Ok(match *ty {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => usize::from(scalar.width),
            TypeInner::Vector { size, scalar } => size as usize * usize::from(scalar.width),
            TypeInner::Matrix { columns, rows, scalar } => columns as usize * column_stride(rows, scalar),
            TypeInner::Array { size, stride, .. } => self.fixed_length(size)? * stride as usize,
            TypeInner::Struct { span, .. } => span as usize,
            _ => return Err(format!("no memory of type {ty:?}")),
        })
    }

    pub fn zero(self, ty: &TypeInner) -> Result<Value, String> {
        Ok(match *ty {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => Value::Scalar(ScalarValue::zero(scalar)?),
            TypeInner::Vector { size, scalar } => Value::Vector(vec![ScalarValue::zero(scalar)?; size as usize]),
            TypeInner::Matrix { columns, rows, scalar } => {
                Value::Matrix(vec![vec![ScalarValue::zero(scalar)?; rows as usize]; columns as usize])
            }
            TypeInner::Array { base, size, .. } => {
                Value::Composite(vec![self.zero(self.inner(base))?; self.fixed_length(size)?])
            }
            TypeInner::Struct { ref members, .. } => {
                let members = members.iter().map(|member| self.zero(self.inner(member.ty)));
                Value::Composite(members.collect::<Result<_, _>>()?)
            }
            _ => return Err(format!("no zero of type {ty:?}")),
        })
    }

    /// Calls `visit` for each scalar of a value with its offset in memory.
    pub fn for_each_scalar(
        self,
        ty: &TypeInner,
        offset: usize,
        visit: &mut dyn FnMut(naga::Scalar, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        match *ty {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => visit(scalar, offset),
            TypeInner::Vector { size, scalar } => {
                (0..size as usize).try_for_each(|i| visit(scalar, offset + i * usize::from(scalar.width)))
            }
            TypeInner::Matrix { columns, rows, scalar } => (0..columns as usize).try_for_each(|i| {
                let column = TypeInner::Vector { size: rows, scalar };
                self.for_each_scalar(&column, offset + i * column_stride(rows, scalar), visit)
            }),
            TypeInner::Array { base, size, stride } => {
                let base = self.inner(base);
                (0..self.fixed_length(size)?)
                    .try_for_each(|i| self.for_each_scalar(base, offset + i * stride as usize, visit))
            }
            TypeInner::Struct { ref members, .. } => members.iter().try_for_each(|member| {
                self.for_each_scalar(self.inner(member.ty), offset + member.offset as usize, visit)
            }),
            _ => Err(format!("no memory of type {ty:?}")),
        }
    }

    /// Offset and stride of the runtime-sized array at the end of a type.
    pub fn runtime_sized_array(self, ty: &TypeInner) -> Option<(usize, usize)> {
        match ty {
            TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => Some((0, *stride as usize)),
            TypeInner::Struct { members, .. } => {
                let last = members.last()?;
                let (offset, stride) = self.runtime_sized_array(self.inner(last.ty))?;
                Some((last.offset as usize + offset, stride))
            }
            _ => None,
        }
    }

    /// Least size of a binding, with one element of a runtime-sized array.
    pub fn least_size(self, ty: &TypeInner) -> Result<usize, String> {
        match *ty {
            TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => Ok(stride as usize),
            _ => self.size(ty),
        }
    }

    /// Calls `visit` for each scalar of a binding, also of a runtime-sized array.
    pub fn for_each_scalar_of_binding(
        self,
        ty: &TypeInner,
        bytes: usize,
        visit: &mut dyn FnMut(naga::Scalar, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        self.for_each_scalar_of_part(ty, 0, bytes, visit)
    }

    fn for_each_scalar_of_part(
        self,
        ty: &TypeInner,
        offset: usize,
        bytes: usize,
        visit: &mut dyn FnMut(naga::Scalar, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        match *ty {
            TypeInner::Array { base, size: naga::ArraySize::Dynamic, stride } => {
                let length = bytes.saturating_sub(offset) / stride as usize;
                let base = self.inner(base);
                (0..length).try_for_each(|i| self.for_each_scalar(base, offset + i * stride as usize, visit))
            }
            TypeInner::Struct { ref members, .. } => members.iter().try_for_each(|member| {
                self.for_each_scalar_of_part(self.inner(member.ty), offset + member.offset as usize, bytes, visit)
            }),
            _ => self.for_each_scalar(ty, offset, visit),
        }
    }

    pub fn load(self, ty: &TypeInner, bytes: &[u8], offset: usize) -> Result<Value, String> {
        let mut scalars = Vec::new();
        self.for_each_scalar(ty, offset, &mut |ty, offset| {
            let bytes = bytes.get(offset..offset + usize::from(ty.width)).ok_or("a load past the end of a binding")?;
            scalars.push(read_scalar(ty, bytes)?);
            Ok(())
        })?;
        let mut value = self.zero(ty)?;
        let mut scalars = scalars.into_iter();
        for_each_scalar_of(&mut value, &mut |scalar| *scalar = scalars.next().unwrap_or(*scalar));
        Ok(value)
    }

    pub fn store(self, ty: &TypeInner, bytes: &mut [u8], offset: usize, mut value: Value) -> Result<(), String> {
        let mut scalars = Vec::new();
        for_each_scalar_of(&mut value, &mut |scalar| scalars.push(*scalar));
        let mut scalars = scalars.into_iter();
        self.for_each_scalar(ty, offset, &mut |ty, offset| {
            let scalar = scalars.next().ok_or("a value smaller than its type")?;
            if scalar.ty() != ty {
                return Err(format!("{scalar:?} stored as {ty:?}"));
            }
            let width = usize::from(ty.width);
            let bytes = bytes.get_mut(offset..offset + width).ok_or("a store past the end of a binding")?;
            bytes.copy_from_slice(&scalar.bits().to_le_bytes()[..width]);
            Ok(())
        })
    }
}

pub fn read_scalar(ty: naga::Scalar, bytes: &[u8]) -> Result<ScalarValue, String> {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    ScalarValue::from_bits(ty, u64::from_le_bytes(bits))
}

/// Calls `visit` for each scalar of a value, in the order of memory.
pub(super) fn for_each_scalar_of(value: &mut Value, visit: &mut dyn FnMut(&mut ScalarValue)) {
    match value {
        Value::Scalar(scalar) => visit(scalar),
        Value::Vector(components) => components.iter_mut().for_each(visit),
        Value::Matrix(columns) => columns.iter_mut().flatten().for_each(visit),
        Value::Composite(parts) => parts.iter_mut().for_each(|part| for_each_scalar_of(part, visit)),
        Value::Pointer(_) => {}
    }
}
