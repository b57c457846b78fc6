//! [`Metadata`]: what a file says of an array beside its cells.

use serde_json::{Map, Value};
use zippy::Grid;

use crate::placing;

/// What goes into a file beside the cells of an array, and comes back with them. Formats keep what they have words for; the
/// table of [`array`](mod@crate::array) says which.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// Name of the array in the file; `None` takes the array's own name. Arrays that are swapped also exchange their own
    /// names.
    pub name: Option<String>,
    /// One for each axis of the array, axis 0 first; empty: nothing is known of them.
    pub axes: Vec<Axis>,
    /// Where each axis points, as vectors of length 1, one for each axis, with as many numbers as there are axes; `None`:
    /// along the axes of space. Then the origins of all axes together are the position of the first cell in space.
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

/// Directions of other lengths than 1 than by so much are refused.
const ROUNDED: f64 = 1e-6;

impl Metadata {
    /// The same with the positions of the cells of an array of three axes; names and units of axes stay.
    #[must_use]
    pub fn with_grid(mut self, grid: &Grid) -> Self {
        self.axes.resize(3, Axis::default());
        for (number, axis) in self.axes.iter_mut().enumerate() {
            (axis.spacing, axis.origin) = (grid.spacing[number], grid.origin[number]);
        }
        self.directions = (!grid.is_along_space()).then(|| grid.directions.map(|vector| vector.to_vec()).to_vec());
        self
    }

    /// Positions of the cells of an array of up to three axes; `None` for one of more. An axis that is missing has a
    /// spacing of 1 and points across the others.
    pub fn grid(&self) -> Option<Grid> {
        let axes = self.axes.len().max(self.directions.as_ref().map_or(0, Vec::len));
        let numbers = |number: fn(&Axis) -> f64| self.axes.iter().map(number).collect::<Vec<f64>>();
        let (spacing, origin) = (numbers(|axis| axis.spacing), numbers(|axis| axis.origin));
        (axes <= 3).then(|| placing::grid(&spacing, &origin, self.directions.as_deref()))
    }

    /// Whether it can be that of an array of so many axes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(&self, axes: usize) -> Result<(), String> {
        if !self.axes.is_empty() && self.axes.len() != axes {
            return Err(format!("metadata of {} axes for an array of {axes}; one for each, or none", self.axes.len()));
        }
        for (number, axis) in self.axes.iter().enumerate() {
            if !(axis.spacing.is_finite() && axis.spacing > 0.0) {
                let spacing = axis.spacing;
                return Err(format!("a spacing of {spacing} on axis {number}; it must be a positive number"));
            }
            if !axis.origin.is_finite() {
                return Err(format!("an origin of {} on axis {number}; it must be finite", axis.origin));
            }
        }
        let Some(directions) = &self.directions else { return Ok(()) };
        if directions.len() != axes || directions.iter().any(|vector| vector.len() != axes) {
            return Err(format!("directions {directions:?} for {axes} axes; each needs a vector of {axes} numbers"));
        }
        for vector in directions {
            let length = vector.iter().map(|part| part * part).sum::<f64>().sqrt();
            if (length - 1.0).abs() > ROUNDED || length.is_nan() {
                return Err(format!("a direction {vector:?} of length {length}; it must be 1 (spacing is apart)"));
            }
        }
        Ok(())
    }

    /// With the attributes in the order of their names, at every depth: in which order they were put in is no matter of what
    /// ranks agree on, nor of what is written.
    pub(crate) fn sorted(&self) -> Self {
        Self { attributes: sorted(&self.attributes), ..self.clone() }
    }

    /// Whether it says nothing but a name.
    pub(crate) fn is_name_alone(&self) -> bool {
        self.axes.is_empty() && self.directions.is_none() && self.attributes.is_empty()
    }

    /// Whether all axes point along the axes of space.
    pub(crate) fn is_along_space(&self) -> bool {
        let is_axis = |axis: usize, vector: &[f64]| {
            vector.iter().enumerate().all(|(at, &part)| part == f64::from(u8::from(at == axis)))
        };
        self.directions.as_ref().is_none_or(|all| all.iter().enumerate().all(|(axis, vector)| is_axis(axis, vector)))
    }
}

fn sorted(attributes: &Map<String, Value>) -> Map<String, Value> {
    let mut all: Vec<_> = attributes.iter().collect();
    all.sort_by_key(|(name, _)| *name);
    all.into_iter().map(|(name, value)| (name.clone(), sorted_value(value))).collect()
}

fn sorted_value(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(sorted(fields)),
        Value::Array(values) => values.iter().map(sorted_value).collect(),
        other => other.clone(),
    }
}
