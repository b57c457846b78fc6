//! [`Leaf`]: a Zarr array with the cells of a global array, or with one field of its records.

use zippy::element::{ElementInfo, ElementKind, Packed, Scalar};
use zippy::extents::Index;

/// Numbers of one type at one offset of each cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// Names of the nested groups and the array, relative to the node of the whole array; empty for
    /// that node.
    pub fields: Vec<&'static str>,
    /// Offset in a cell.
    pub offset: usize,
    /// Number type in Zarr.
    pub kind: &'static str,
    /// Bytes of a number.
    pub number_bytes: usize,
    /// Components of a vector.
    pub numbers: Option<usize>,
}

impl Leaf {
    /// Bytes of the leaf in a cell.
    pub(super) fn bytes(&self) -> usize {
        self.number_bytes * self.numbers.unwrap_or(1)
    }

    /// Path of the leaf's node, below the node of the whole array.
    pub(super) fn node(&self, node: &str) -> String {
        self.fields.iter().fold(node.to_string(), |node, field| under(&node, field))
    }
}

/// Path of a node in a group; the root has the empty path.
pub(super) fn under(node: &str, name: &str) -> String {
    if node.is_empty() { name.to_string() } else { format!("{node}/{name}") }
}

/// Leaves of an element type.
pub(super) fn leaves(element: &ElementInfo) -> Vec<Leaf> {
    let leaf = |(fields, offset, kind)| {
        let (kind, number_bytes, numbers) = match kind {
            ElementKind::Scalar(scalar) => (name(scalar), scalar.bytes(), None),
            ElementKind::Vector(scalar, numbers) => (name(scalar), scalar.bytes(), Some(numbers)),
            ElementKind::Packed(packed) => (packed_name(packed), packed.bytes(), None),
            ElementKind::Record(_) => unreachable!("taken apart"),
        };
        Leaf { fields, offset, kind, number_bytes, numbers }
    };
    element.flat().into_iter().map(leaf).collect()
}

fn packed_name(packed: Packed) -> &'static str {
    match packed {
        Packed::U8 => "uint8",
        Packed::I8 => "int8",
        Packed::U16 => "uint16",
        Packed::I16 => "int16",
    }
}

fn name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F16 => "float16",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
        Scalar::I32 => "int32",
        Scalar::U32 => "uint32",
        Scalar::I64 => "int64",
        Scalar::U64 => "uint64",
    }
}

/// Extents with axis 0 first, without the numbers of a vector.
pub(super) fn reversed(extents: &[u64], leaf: &Leaf, axes: usize, is_array: bool) -> Result<Index, String> {
    let (what, least) = if is_array { ("an array", 0) } else { ("a chunk", 1) };
    let Some((extents, last)) = extents.split_at_checked(axes) else {
        return Err(format!("{what} of {} axes, not of {axes}", extents.len()));
    };
    match (leaf.numbers, last) {
        (None, []) => {}
        // A chunk beyond the end of the component axis would contain padding in each cell.
        (Some(numbers), &[last]) if last == numbers as u64 => {}
        (Some(numbers), &[_]) if !is_array => {
            return Err(format!("chunks do not hold all {numbers} numbers of a cell"));
        }
        (None, _) => return Err(format!("{what} of {} axes, not of {axes}", extents.len() + last.len())),
        (Some(numbers), _) => {
            let found: Vec<u64> = extents.iter().chain(last).copied().collect();
            return Err(format!(
                "{what} of extents {found:?}, and vectors need {axes} axes and a last one of {numbers}"
            ));
        }
    }
    let fits = extents.iter().all(|&extent| i64::try_from(extent).is_ok_and(|extent| extent >= least));
    if fits && Index::from_fn(axes, |axis| extents[axis] as i64).product().is_some() {
        Ok(Index::from_fn(axes, |axis| extents[axes - 1 - axis] as i64))
    } else {
        Err(format!("extents {extents:?} are none of {what}"))
    }
}
