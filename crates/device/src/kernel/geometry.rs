//! Layout of the geometry words in a kernel's uniform buffer.

use super::binding::Binding;
use super::signature::{Signature, Space};
use crate::element::ElementKind;
use crate::extents::{Index, MAX_AXES};

/// The name of the uniform variable that holds the geometry.
pub(super) const GEOMETRY: &str = "zippy_geometry";

/// The name of the uniform variable of a counted domain. It holds the arguments of the dispatch
/// (workgroups along x, y and z), the number of invocations, the number of invocations of all
/// workgroups with the same z, and the number of these workgroups.
pub(super) const COUNT: &str = "zippy_count";

/// The name of the storage variable for the report of a checked run.
pub(super) const REPORT: &str = "zippy_report";

/// The number of leading words of a report, for positions outside of chunks: their number, and for
/// the first one the array, the invocation and the coordinates.
pub(super) const STRAY_WORDS: usize = 5 + MAX_AXES;

/// The number of the next words of a report, for loops stopped by the adapter: the number of
/// invocations with such a loop, and the line of the loop in the first of them.
pub(super) const LOOP_WORDS: usize = 2;

/// Number of 4-word vectors in the count variable.
pub(super) const COUNT_VECTORS: u64 = 2;

/// Tuples of an array's geometry, in order after one vector of scalars, and tuples of the domain's
/// geometry.
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
    /// The index of the tuple in the geometry of an array or of the domain.
    pub(super) fn index(self) -> usize {
        match self {
            Self::DomainLo => 0,
            Self::DomainExtent => 1,
            of_array => of_array as usize,
        }
    }
}

/// The number of tuples per array.
pub(super) const TUPLES: usize = 10;

/// Number of 4-word vectors in a tuple.
pub(super) const fn vectors(axes: usize) -> usize {
    if axes <= 4 { 1 } else { 2 }
}

/// Maximum number of boxes of one dispatch.
pub(super) const MAX_BOXES: usize = 16;

/// Offsets of the vectors of a domain's geometry from its first vector, which holds the number of
/// boxes and the cells per invocation along axis 0. The tuples of the domain follow the first
/// vector.
pub(super) struct DomainMap {
    /// The extents of a workgroup. A counted domain has only this vector.
    pub workgroup: usize,
    /// The first invocation of each box along `id.z`.
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
        Self { workgroup, starts: workgroup + 1, boxes: workgroup + 1 + MAX_BOXES / 4, vectors_per_box }
    }
}

/// Index of the first 4-word vector of each array's geometry (several arrays may share one), and of
/// the domain's geometry, which is last.
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
            at += if first < i { 0 } else { 1 + TUPLES * vectors(shape.axes) };
        }
        let domain = DomainMap::new(signature.domain_axes);
        let vectors = at
            + match signature.space {
                Space::Counted => 1,
                _ => domain.boxes + MAX_BOXES * domain.vectors_per_box,
            };
        Self { vars, domain: at, vectors }
    }

    pub(super) fn var(&self, i: usize) -> usize {
        self.vars[i]
    }

    pub(super) fn domain(&self) -> usize {
        self.domain
    }

    /// The total number of vectors.
    pub(super) fn vectors(&self) -> usize {
        self.vectors
    }
}

/// The geometry words of one array; `None` if a number does not fit in 31 bits.
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

/// Distance of neighbouring cells along each axis, in cells; for packed cells, in words from axis 1
/// on.
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
