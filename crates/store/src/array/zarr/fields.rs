//! [`Leaf`]: Zarr array of a global array's cells, or of one field of its records.

use zippy::element::{ElementInfo, ElementKind, Packed, Scalar};
use zippy::extents::Index;

/// Numbers of one type at one offset of each cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// Names of the nested groups and the array, below the node of the whole array; empty for that
    /// node.
    pub fields: Vec<&'static str>,
    pub offset: usize,
    /// Number type in Zarr.
    pub kind: &'static str,
    pub number_bytes: usize,
    /// Components of a vector; `None` for scalars.
    pub numbers: Option<usize>,
}

impl Leaf {
    pub(super) fn bytes(&self) -> usize {
        self.number_bytes * self.numbers.unwrap_or(1)
    }

    /// Path of the leaf's node; `node` is the path of the whole array.
    pub(super) fn node(&self, node: &str) -> String {
        self.fields.iter().fold(node.to_string(), |node, field| child_path(&node, field))
    }
}

/// The root has the empty path.
pub(super) fn child_path(node: &str, name: &str) -> String {
    if node.is_empty() { name.to_string() } else { format!("{node}/{name}") }
}

pub(super) fn leaves(element: &ElementInfo) -> Vec<Leaf> {
    let leaf = |(fields, offset, kind)| {
        let (kind, number_bytes, numbers) = match kind {
            ElementKind::Scalar(scalar) => (scalar_name(scalar), scalar.bytes(), None),
            ElementKind::Vector(scalar, numbers) => (scalar_name(scalar), scalar.bytes(), Some(numbers)),
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

fn scalar_name(scalar: Scalar) -> &'static str {
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

/// Cell extents, axis 0 first, from Zarr's extents of an array or a chunk; checks the number of
/// components.
pub(super) fn cell_extents(extents: &[u64], leaf: &Leaf, axes: usize, is_array: bool) -> Result<Index, String> {
    let (what, least) = if is_array { ("an array", 0) } else { ("a chunk", 1) };
    let Some((extents, last)) = extents.split_at_checked(axes) else {
        return Err(format!("{what} of {} axes, not of {axes}", extents.len()));
    };
    match (leaf.numbers, last) {
        (None, []) => {}
        // A partial component axis would pad each cell.
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
