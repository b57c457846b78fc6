//! [`Metadata`]: what a file says of an array beside its cells.

use serde_json::{Map, Value};

/// What goes into a file beside the cells of an array, and comes back with them. Formats keep what they have words for; the
/// table of [`array`](mod@crate::array) says which.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// What the array is called in the file; where it is `None` a save takes the array's own name.
    pub name: Option<String>,
    /// One for each axis of the array, axis 0 first; empty: nothing is known of them.
    pub axes: Vec<Axis>,
    /// Where each axis points, as vectors of length 1, one for each axis; `None`: along the axes of space.
    pub directions: Option<Vec<Vec<f64>>>,
    /// What the user wants to keep beside, by name.
    pub attributes: Map<String, Value>,
}

/// An axis of an array in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its name, as "x" or "time"; `None`: it has none.
    pub name: Option<String>,
    /// The unit of spacing and origin, as "mm"; `None`: unknown.
    pub unit: Option<String>,
    /// The distance of neighbouring cells.
    pub spacing: f64,
    /// Where the first cell is.
    pub origin: f64,
}

impl Default for Axis {
    fn default() -> Self {
        Self { name: None, unit: None, spacing: 1.0, origin: 0.0 }
    }
}
