//! [`Cell`]: a cell of an array.

use zippy_protocol::{ArrayRef, ElementType, View, ViewRequest};

use crate::imaging::{self, Member};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub array: ArrayRef,
    /// Chunk that provides the cell, possibly as a ghost cell. `None`: the chunk that owns the
    /// cell.
    pub chunk: Option<u64>,
    pub at: Vec<i64>,
}

impl Cell {
    /// Returns the request for all numbers of the cell.
    pub(crate) fn request(&self) -> ViewRequest {
        ViewRequest {
            array: self.array,
            chunk: self.chunk,
            start: self.at.clone(),
            end: self.at.iter().map(|at| at.saturating_add(1)).collect(),
            stride: vec![1; self.at.len()],
            numbers: None,
        }
    }

    /// Returns the numbers of the cell from the answer to [`request`](Self::request).
    ///
    /// # Errors
    /// The view does not contain the cell, as can happen with a recording.
    pub(crate) fn members(&self, view: &View, element: &ElementType) -> Result<Vec<Member>, String> {
        imaging::cell(view, element, &self.at).ok_or_else(|| "this cell was not recorded".into())
    }
}

/// Returns the name of a number, such as `first.position.y`. Empty for the only component of an
/// unnamed member.
pub(super) fn number_name(member: &str, component: usize, components: usize) -> String {
    if components == 1 {
        return member.into();
    }
    let part = match ["x", "y", "z", "w"].get(component) {
        Some(name) if components <= 4 => (*name).into(),
        _ => component.to_string(),
    };
    if member.is_empty() { part } else { format!("{member}.{part}") }
}
