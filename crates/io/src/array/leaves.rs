//! [`Leaf`]: the numbers of a cell in formats without records.

use zippy_base::element::{ElementInfo, ElementKind, Packed, Scalar};

use crate::scalar::ScalarKind;

#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Name of the field with the enclosing records as prefix; empty unless the cell is a record.
    pub name: String,
    pub offset: usize,
    pub kind: ScalarKind,
    /// Number of numbers.
    pub components: u64,
}

impl Leaf {
    pub fn bytes(&self) -> usize {
        (self.kind.bytes() * self.components) as usize
    }
}

/// Leaves of an element type in order; 16-bit floats are an error.
pub(super) fn leaves(element: &ElementInfo) -> Result<Vec<Leaf>, String> {
    element.flat().into_iter().map(|(fields, offset, kind)| leaf(fields.join("."), offset, kind)).collect()
}

fn leaf(name: String, offset: usize, kind: ElementKind) -> Result<Leaf, String> {
    let (number, components) = match kind {
        ElementKind::Scalar(scalar_type) => (scalar(scalar_type), 1),
        ElementKind::Vector(scalar_type, count) => (scalar(scalar_type), count as u64),
        ElementKind::Packed(scalar_type) => (Some(packed(scalar_type)), 1),
        ElementKind::Record(_) => unreachable!("taken apart"),
    };
    let kind = number.ok_or_else(|| {
        let in_field = if name.is_empty() { String::new() } else { format!(" in its field {name}") };
        format!("cannot have numbers of 16-bit floats{in_field}; .npy can")
    })?;
    Ok(Leaf { name, offset, kind, components })
}

fn scalar(scalar: Scalar) -> Option<ScalarKind> {
    Some(match scalar {
        Scalar::F16 => return None,
        Scalar::F32 => ScalarKind::F32,
        Scalar::F64 => ScalarKind::F64,
        Scalar::I32 => ScalarKind::I32,
        Scalar::U32 => ScalarKind::U32,
        Scalar::I64 => ScalarKind::I64,
        Scalar::U64 => ScalarKind::U64,
    })
}

fn packed(packed: Packed) -> ScalarKind {
    match packed {
        Packed::U8 => ScalarKind::U8,
        Packed::I8 => ScalarKind::I8,
        Packed::U16 => ScalarKind::U16,
        Packed::I16 => ScalarKind::I16,
    }
}
