//! [`Cell`]: one cell of an array.

use zippy::debug::protocol::{ArrayRef, ElementType, View, ViewRequest};

use crate::look::{self, Member};

/// A cell of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub array: ArrayRef,
    /// As this chunk has it, maybe as a ghost cell; else as its owner has it.
    pub chunk: Option<u64>,
    /// Global coordinates.
    pub at: Vec<i64>,
}

impl Cell {
    /// Asks for all that is in it.
    pub fn request(&self) -> ViewRequest {
        ViewRequest {
            array: self.array,
            chunk: self.chunk,
            start: self.at.clone(),
            end: self.at.iter().map(|at| at.saturating_add(1)).collect(),
            stride: vec![1; self.at.len()],
            numbers: None,
        }
    }

    /// What is in it, by what was answered to [`request`](Self::request).
    ///
    /// # Errors
    /// A recording may not have it.
    pub fn members(&self, view: &View, element: &ElementType) -> Result<Vec<Member>, String> {
        look::cell(view, element, &self.at).ok_or_else(|| "this cell was not recorded".into())
    }
}

/// The name of one number: `first.position.y`; empty where there is only one.
pub fn named(member: &str, component: usize, components: usize) -> String {
    if components == 1 {
        return member.into();
    }
    let part = match ["x", "y", "z", "w"].get(component) {
        Some(name) if components <= 4 => (*name).into(),
        _ => component.to_string(),
    };
    if member.is_empty() { part } else { format!("{member}.{part}") }
}
