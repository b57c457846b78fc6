//! Layout of composite types: offsets of scalars in variables and memories.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Type, TypeInner, VectorSize};

use super::value_type;
use crate::ir::Format;

const MAX_SCALARS: u64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Layout {
    /// A run of variables: offsets count scalars.
    Variables,
    /// Workgroup memory and the frame: offsets in bytes, each scalar has 4 or 8 bytes.
    Packed,
    /// Storage and uniform memory: offsets in bytes, by the rules of WGSL.
    Host,
}

/// Scalar of a composite type.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScalarLeaf {
    pub(super) scalar: Scalar,
    pub(super) offset: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    size: u64,
    alignment: u64,
}

type LeafCache = RefCell<HashMap<(Layout, Handle<Type>), Rc<[ScalarLeaf]>>>;

pub(super) struct Layouts<'m> {
    module: &'m Module,
    variables: Vec<Extent>,
    packed: Vec<Extent>,
    leaves: LeafCache,
}

impl Layout {
    fn slot(self, scalar: Scalar) -> u64 {
        match self {
            Self::Variables => 1,
            Self::Packed => u64::from(scalar.width).next_multiple_of(4),
            Self::Host => u64::from(scalar.width),
        }
    }

    pub(super) fn format(self, scalar: Scalar) -> Format {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) if self == Self::Host => Format::F16,
            (ScalarKind::Float, 8) => Format::F64,
            (ScalarKind::Float, _) => Format::F32,
            (_, 8) => Format::Long,
            _ => Format::Word,
        }
    }
}

impl<'m> Layouts<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut layouts = Self { module, variables: Vec::new(), packed: Vec::new(), leaves: RefCell::default() };
        for (_, ty) in module.types.iter() {
            let extent = layouts.extent(Layout::Variables, &ty.inner);
            layouts.variables.push(extent);
            let extent = layouts.extent(Layout::Packed, &ty.inner);
            layouts.packed.push(extent);
        }
        layouts
    }

    fn extent_of(&self, layout: Layout, ty: Handle<Type>) -> Extent {
        match layout {
            Layout::Variables => self.variables[ty.index()],
            Layout::Packed => self.packed[ty.index()],
            Layout::Host => self.extent(layout, &self.module.types[ty].inner),
        }
    }

    /// Size and alignment of a type after the extents of its parts.
    fn extent(&self, layout: Layout, inner: &TypeInner) -> Extent {
        if layout == Layout::Host {
            let size = inner.try_size(self.module.to_ctx()).map_or(u64::MAX, u64::from);
            return Extent { size, alignment: 1 };
        }
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => {
                let slot = layout.slot(scalar);
                Extent { size: slot, alignment: slot }
            }
            TypeInner::Vector { size, scalar } => {
                let slot = layout.slot(scalar);
                Extent { size: slot * size as u64, alignment: slot }
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let slot = layout.slot(scalar);
                Extent { size: slot * columns as u64 * rows as u64, alignment: slot }
            }
            TypeInner::Array { base, size, .. } => {
                let element = self.extent_of(layout, base);
                Extent { size: element.size.saturating_mul(array_length(size)), alignment: element.alignment }
            }
            TypeInner::Struct { ref members, .. } => {
                let mut extent = Extent { size: 0, alignment: 1 };
                for member in members {
                    let member = self.extent_of(layout, member.ty);
                    extent.alignment = extent.alignment.max(member.alignment);
                    extent.size = align(extent.size, member.alignment).saturating_add(member.size);
                }
                Extent { size: align(extent.size, extent.alignment), ..extent }
            }
            _ => Extent { size: 0, alignment: 1 },
        }
    }

    pub(super) fn size(&self, layout: Layout, ty: Handle<Type>) -> u64 {
        self.extent_of(layout, ty).size
    }

    /// Distance between elements of an array, vector or matrix, in bytes or scalars.
    pub(super) fn stride(&self, layout: Layout, inner: &TypeInner) -> u64 {
        match *inner {
            TypeInner::Array { stride, .. } if layout == Layout::Host => u64::from(stride),
            TypeInner::Array { base, .. } => self.extent_of(layout, base).size,
            TypeInner::Matrix { rows, scalar, .. } => {
                let rows = if layout == Layout::Host && rows == VectorSize::Tri { 4 } else { rows as u64 };
                rows * layout.slot(scalar)
            }
            TypeInner::Vector { scalar, .. } => layout.slot(scalar),
            _ => 0,
        }
    }

    pub(super) fn member_offset(&self, layout: Layout, inner: &TypeInner, index: usize) -> u64 {
        let TypeInner::Struct { members, .. } = inner else { return 0 };
        if layout == Layout::Host {
            return members.get(index).map_or(0, |member| u64::from(member.offset));
        }
        let mut end = 0;
        for (number, member) in members.iter().enumerate() {
            let member = self.extent_of(layout, member.ty);
            let begin = align(end, member.alignment);
            if number == index {
                return begin;
            }
            end = begin + member.size;
        }
        end
    }

    /// Scalars of a type, in the order of members. The error is a noun phrase for a type with no
    /// scalars or too many.
    pub(super) fn leaves(&self, layout: Layout, inner: &TypeInner) -> Result<Rc<[ScalarLeaf]>, String> {
        let mut leaves = Vec::new();
        self.collect(layout, inner, 0, &mut leaves)?;
        Ok(leaves.into())
    }

    /// Cached scalars of a type of the module's arena; see [`Self::leaves`].
    pub(super) fn leaves_of(&self, layout: Layout, ty: Handle<Type>) -> Result<Rc<[ScalarLeaf]>, String> {
        if let Some(leaves) = self.leaves.borrow().get(&(layout, ty)) {
            return Ok(leaves.clone());
        }
        let leaves = self.leaves(layout, &self.module.types[ty].inner)?;
        self.leaves.borrow_mut().insert((layout, ty), leaves.clone());
        Ok(leaves)
    }

    fn collect(
        &self,
        layout: Layout,
        inner: &TypeInner,
        offset: u64,
        leaves: &mut Vec<ScalarLeaf>,
    ) -> Result<(), String> {
        let mut leaf = |scalar: Scalar, offset: u64| {
            if value_type(scalar).is_none() {
                return Err("16-bit integers".to_owned());
            }
            let Ok(offset) = u32::try_from(offset) else { return Err("types of 4 GiB and more".to_owned()) };
            leaves.push(ScalarLeaf { scalar, offset });
            Ok(())
        };
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => leaf(scalar, offset),
            TypeInner::Vector { size, scalar } => {
                (0..size as u64).try_for_each(|row| leaf(scalar, offset + row * layout.slot(scalar)))
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let stride = self.stride(layout, inner);
                for column in 0..columns as u64 {
                    for row in 0..rows as u64 {
                        leaf(scalar, offset + column * stride + row * layout.slot(scalar))?;
                    }
                }
                Ok(())
            }
            TypeInner::Array { base, size, .. } => {
                let ArraySize::Constant(length) = size else {
                    return Err("values of arrays without a fixed size".to_owned());
                };
                let scalars = self.variables[base.index()].size.saturating_mul(u64::from(length.get()));
                if scalars > MAX_SCALARS {
                    return Err(format!("values of {scalars} scalars"));
                }
                let stride = self.stride(layout, inner);
                let base = &self.module.types[base].inner;
                for element in 0..u64::from(length.get()) {
                    self.collect(layout, base, offset + element * stride, leaves)?;
                }
                Ok(())
            }
            TypeInner::Struct { ref members, .. } => {
                let mut end = 0;
                for member in members {
                    let extent = self.extent_of(layout, member.ty);
                    let begin = match layout {
                        Layout::Host => u64::from(member.offset),
                        _ => align(end, extent.alignment),
                    };
                    end = begin + extent.size;
                    self.collect(layout, &self.module.types[member.ty].inner, offset + begin, leaves)?;
                }
                Ok(())
            }
            _ => Err(describe(inner).to_owned()),
        }
    }
}

/// Number of elements; 0 for a runtime-sized array.
pub(super) fn array_length(size: ArraySize) -> u64 {
    match size {
        ArraySize::Constant(length) => u64::from(length.get()),
        ArraySize::Pending(_) | ArraySize::Dynamic => 0,
    }
}

/// Noun phrase for a type that native kernels do not support.
pub(super) fn describe(inner: &TypeInner) -> &'static str {
    match inner {
        TypeInner::Image { .. } => "textures",
        TypeInner::Sampler { .. } => "samplers",
        TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => "ray queries",
        TypeInner::BindingArray { .. } => "arrays of bindings",
        TypeInner::CooperativeMatrix { .. } => "cooperative matrices",
        _ => "values of this type",
    }
}

fn align(offset: u64, alignment: u64) -> u64 {
    offset.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX)
}
