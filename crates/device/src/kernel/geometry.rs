//! Layout of the geometry words in a kernel's uniform buffer.

use super::binding::Binding;
use super::signature::{Signature, Space};
use crate::element::ElementKind;
use crate::extents::{Index, MAX_AXES};

/// Name of the uniform variable with the geometry words.
pub(super) const GEOMETRY: &str = "zippy_geometry";

/// Name of the uniform variable of a counted domain. The variable holds the arguments of the
/// dispatch (workgroups along x, y and z), the number of invocations, the number of invocations of
/// all workgroups with the same z, and the number of these workgroups.
pub(super) const COUNT: &str = "zippy_count";

/// Name of the storage variable for the report of a checked run.
pub(super) const REPORT: &str = "zippy_report";

/// Number of words of a report for accesses outside of chunks, first in the report: their number,
/// and for the first access the array, the invocation and the coordinates.
pub(super) const OUTSIDE_ACCESS_WORDS: usize = 5 + MAX_AXES;

/// Number of words of a report for loops stopped by the adapter, after the first
/// [`OUTSIDE_ACCESS_WORDS`]: the number of invocations with such a loop, and the line of the loop
/// in the first of them.
pub(super) const STOPPED_LOOP_WORDS: usize = 2;

/// Number of 4-word vectors in the count variable.
pub(super) const COUNT_VECTORS: u64 = 2;

/// Tuple of the geometry words with one number per axis: of an array, in this order after one
/// vector of scalars, or of the domain.
#[derive(Clone, Copy)]
pub(super) enum Tuple {
    Strides,
    StorageLo,
    StorageExtent,
    SectionExtent,
    OwnedLo,
    OwnedExtent,
    OriginLow,
    OriginHigh,
    ShapeLow,
    ShapeHigh,
    DomainLo,
    DomainExtent,
}

impl Tuple {
    /// Returns the index of the tuple in the geometry of an array or of the domain.
    pub(super) fn index(self) -> usize {
        match self {
            Self::DomainLo => 0,
            Self::DomainExtent => 1,
            of_array => of_array as usize,
        }
    }
}

/// Number of geometry tuples per array.
pub(super) const TUPLES_PER_ARRAY: usize = 10;

/// Returns the number of 4-word vectors in a tuple of `axes` words.
pub(super) const fn vectors(axes: usize) -> usize {
    if axes <= 4 { 1 } else { 2 }
}

/// Maximum number of boxes of one dispatch.
pub(super) const MAX_BOXES_OF_DISPATCH: usize = 16;

/// Offsets of the vectors of a domain's geometry from its first vector, which holds the number of
/// boxes and the cells per invocation along axis 0. The tuples of the domain follow the first
/// vector.
pub(super) struct DomainMap {
    /// Offset of the extents of a workgroup. A counted domain has only this vector.
    pub workgroup: usize,
    /// Offset of the first invocation of each box along `id.z`.
    pub starts: usize,
    pub boxes: usize,
    pub vectors_per_box: usize,
}

impl DomainMap {
    pub(super) const fn new(axes: usize) -> Self {
        let workgroup = 1 + 2 * vectors(axes);
        let vectors_per_box = match axes {
            // Extents with the start along z, first invocation, origin, one unit vector per
            // direction.
            1..=3 => 6,
            // Also the fourth direction, folded into z, with its fold.
            4 => 8,
            // Extents, first invocation, origin, order of axes, extents of the axes folded into z.
            _ => 2 + 3 * vectors(axes),
        };
        Self { workgroup, starts: workgroup + 1, boxes: workgroup + 1 + MAX_BOXES_OF_DISPATCH / 4, vectors_per_box }
    }
}

/// Indices of the first 4-word vectors of the arrays' geometries (several arrays may share one) and
/// of the domain's geometry, which is last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GeometryMap {
    vars: Vec<usize>,
    domain: usize,
    vectors: usize,
}

impl GeometryMap {
    pub(super) fn new(signature: &Signature) -> Self {
        let mut at = 0;
        let mut vars = Vec::new();
        for (i, (shape, &first)) in signature.vars.iter().zip(&signature.geometries).enumerate() {
            vars.push(if first < i { vars[first] } else { at });
            at += if first < i { 0 } else { 1 + TUPLES_PER_ARRAY * vectors(shape.axes) };
        }
        let domain = DomainMap::new(signature.domain_axes);
        let vectors = at
            + match signature.space {
                Space::Counted => 1,
                _ => domain.boxes + MAX_BOXES_OF_DISPATCH * domain.vectors_per_box,
            };
        Self { vars, domain: at, vectors }
    }

    pub(super) fn var(&self, i: usize) -> usize {
        self.vars[i]
    }

    pub(super) fn domain(&self) -> usize {
        self.domain
    }

    /// Returns the total number of 4-word vectors.
    pub(super) fn vectors(&self) -> usize {
        self.vectors
    }
}

/// Returns the geometry words of one array; `None` if a number does not fit in 31 bits.
pub(super) fn array_words(binding: &Binding) -> Option<Vec<i32>> {
    let axes = binding.section.axes();
    let lo = binding.storage.start - binding.section.start;
    let extents = binding.storage.extents();
    let packed = matches!(binding.element.kind, ElementKind::Packed(_));
    let strides = slot_strides(binding)?;
    let mut base = 0_i64;
    for axis in usize::from(packed)..axes {
        base = base.checked_sub(lo[axis].checked_mul(strides[axis])?)?;
    }
    let mut words = vec![i32::try_from(base).ok()?, 0, 0, 0];
    let mut tuple = |value: &dyn Fn(usize) -> Option<i32>| {
        for axis in 0..4 * vectors(axes) {
            words.push(if axis < axes { value(axis)? } else { 0 });
        }
        Some(())
    };
    let fits = |value: i64| i32::try_from(value).ok();
    let owned_lo = binding.owned.start - binding.section.start;
    let section = binding.section.extents();
    let owned = binding.owned.extents();
    let origin = binding.section.start;
    tuple(&|axis| fits(strides[axis]))?;
    tuple(&|axis| fits(lo[axis]))?;
    tuple(&|axis| fits(extents[axis]))?;
    tuple(&|axis| fits(section[axis]))?;
    tuple(&|axis| fits(owned_lo[axis]))?;
    tuple(&|axis| fits(owned[axis]))?;
    tuple(&|axis| Some(origin[axis] as i32))?;
    tuple(&|axis| Some((origin[axis] >> 32) as i32))?;
    tuple(&|axis| Some(binding.shape[axis] as i32))?;
    tuple(&|axis| Some((binding.shape[axis] >> 32) as i32))?;
    Some(words)
}

/// Returns the distance of neighbouring cells along each axis, in cells; for packed cells, in words
/// from axis 1 on.
pub(super) fn slot_strides(binding: &Binding) -> Option<Index> {
    let extents = binding.storage.extents();
    let row_bytes = extents[0].checked_mul(binding.element.bytes as i64)?.checked_add(3)? / 4 * 4;
    let slot_bytes =
        binding.element.bytes.max(if matches!(binding.element.kind, ElementKind::Packed(_)) { 4 } else { 1 });
    let mut strides = Index::splat(extents.axes(), 1);
    let mut stride = row_bytes / slot_bytes as i64;
    for axis in 1..extents.axes() {
        strides[axis] = stride;
        stride = stride.checked_mul(extents[axis].max(1))?;
    }
    i32::try_from(stride).ok().map(|_| strides)
}
