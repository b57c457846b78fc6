//! Where the words of geometry lie in a kernel's uniform buffer.

use super::binding::Binding;
use super::signature::{Signature, Space};
use crate::element::ElementKind;
use crate::extents::{Index, MAX_AXES};

/// The name of the uniform variable that holds the geometry.
pub const GEOMETRY: &str = "zippy_geometry";

/// The name of the uniform variable that holds a counted domain: the arguments of its dispatch (workgroups along x, y and
/// z), then its invocations, those of all workgroups with the same z, and how many workgroups these are.
pub const COUNT: &str = "zippy_count";

/// The name of the storage variable in which helpers report what they reach, in checked runs.
pub const REPORT: &str = "zippy_report";

/// The first words of a report, for positions outside of chunks: how many, of which array the first one is, its invocation
/// and its place on each axis.
pub const STRAY_WORDS: usize = 5 + MAX_AXES;

/// The words of a report after those, for loops that the adapter has stopped: of how many invocations, and the line of the
/// loop in the first one.
pub const LOOP_WORDS: usize = 2;

/// Vectors of four words in it.
pub const COUNT_VECTORS: u64 = 2;

/// The tuples of an array's geometry, in order, after one vector of scalars, and those of the domain's.
#[derive(Clone, Copy)]
pub enum Tuple {
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
    /// Its place among the tuples of an array or of the domain.
    pub fn place(self) -> usize {
        match self {
            Self::DomainLo => 0,
            Self::DomainExtent => 1,
            of_array => of_array as usize,
        }
    }
}

/// How many there are.
pub const TUPLES: usize = 10;

/// Vectors of four words that a tuple takes.
pub const fn vectors(axes: usize) -> usize {
    if axes <= 4 { 1 } else { 2 }
}

/// Boxes that one dispatch can run over.
pub const MAX_BOXES: usize = 16;

/// Where the vectors of a domain's geometry lie, from its first one, which has the number of boxes and the cells of one
/// invocation along axis 0. Its tuples follow.
pub struct DomainMap {
    /// The extents of a workgroup. A counted domain has no other vector than this.
    pub workgroup: usize,
    /// Where each box begins along `id.z`.
    pub starts: usize,
    /// The first box.
    pub boxes: usize,
    /// Vectors of one box.
    pub of_box: usize,
}

impl DomainMap {
    pub const fn new(axes: usize) -> Self {
        let workgroup = 1 + 2 * vectors(axes);
        let of_box = match axes {
            // Extents with z start, the first invocation, origin, a unit vector for every direction of the dispatch.
            1..=3 => 6,
            // And the fourth direction, folded into z, with its fold.
            4 => 8,
            // Extents, the first invocation, origin, the order of axes, the extents of the axes folded into z.
            _ => 2 + 3 * vectors(axes),
        };
        Self { workgroup, starts: workgroup + 1, boxes: workgroup + 1 + MAX_BOXES / 4, of_box }
    }
}

/// First vector (of four words) of every array's geometry, which some arrays share, and of the
/// domain's, which comes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeometryMap {
    vars: Vec<usize>,
    domain: usize,
    vectors: usize,
}

impl GeometryMap {
    pub fn new(signature: &Signature) -> Self {
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
                _ => domain.boxes + MAX_BOXES * domain.of_box,
            };
        Self { vars, domain: at, vectors }
    }

    pub fn var(&self, i: usize) -> usize {
        self.vars[i]
    }

    pub fn domain(&self) -> usize {
        self.domain
    }

    /// All of it.
    pub fn vectors(&self) -> usize {
        self.vectors
    }
}

/// The words of one array's geometry.
///
/// `None` when a number does not fit 31 bits.
pub fn array_words(binding: &Binding) -> Option<Vec<i32>> {
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

/// Distance between neighbours along each axis, in cells, or in words for packed cells (from axis 1).
pub fn slot_strides(binding: &Binding) -> Option<Index> {
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
