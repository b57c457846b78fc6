//! [`Leaf`]: an array of Zarr that holds the cells, or one field of the records, of a global array.

use zippy::element::{ElementInfo, ElementKind, Packed, Scalar};

/// Numbers of one type at one place of each cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// The names that lead to it from the node of the whole array; none where it is that node.
    pub fields: Vec<&'static str>,
    /// The first byte in a cell.
    pub offset: usize,
    /// The type of a number, as Zarr calls it.
    pub kind: &'static str,
    /// Bytes of a number.
    pub number_bytes: usize,
    /// Numbers of a vector.
    pub numbers: Option<usize>,
}

impl Leaf {
    /// Bytes that it has in a cell.
    pub fn bytes(&self) -> usize {
        self.number_bytes * self.numbers.unwrap_or(1)
    }

    /// Its node, where `node` is that of the whole array.
    pub fn node(&self, node: &str) -> String {
        self.fields.iter().fold(node.to_string(), |node, field| under(&node, field))
    }
}

/// A node in another one; the root has no name.
pub fn under(node: &str, name: &str) -> String {
    if node.is_empty() { name.to_string() } else { format!("{node}/{name}") }
}

/// Where the cells of an element lie.
pub fn leaves(element: &ElementInfo) -> Vec<Leaf> {
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
