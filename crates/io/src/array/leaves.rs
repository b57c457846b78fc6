//! [`Leaf`]: the numbers of a cell in formats without records.

use zippy_base::element::{ElementInfo, ElementKind, Packed, Scalar};

use crate::scalar::ScalarKind;

/// Adjacent numbers of one type in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Name of the field, with the names of the enclosing records as prefix; empty if the cell is
    /// no record.
    pub name: String,
    /// Offset in the cell.
    pub offset: usize,
    pub kind: ScalarKind,
    /// Count of numbers.
    pub components: u64,
}

impl Leaf {
    pub fn bytes(&self) -> usize {
        (self.kind.bytes() * self.components) as usize
    }
}

/// All leaves of a cell, in order.
///
/// # Errors
/// A number type that these formats do not have.
pub(super) fn leaves(element: &ElementInfo) -> Result<Vec<Leaf>, String> {
    element.flat().into_iter().map(|(fields, offset, kind)| leaf(fields.join("."), offset, kind)).collect()
}

fn leaf(name: String, offset: usize, kind: ElementKind) -> Result<Leaf, String> {
    let (number, components) = match kind {
        ElementKind::Scalar(one) => (scalar(one), 1),
        ElementKind::Vector(one, count) => (scalar(one), count as u64),
        ElementKind::Packed(one) => (Some(packed(one)), 1),
        ElementKind::Record(_) => unreachable!("taken apart"),
    };
    let kind = number.ok_or_else(|| {
        let within = if name.is_empty() { String::new() } else { format!(" in its field {name}") };
        format!("cannot have numbers of 16-bit floats{within}; .npy can")
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
