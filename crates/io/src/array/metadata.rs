//! [`Metadata`]: data of a file about an array, other than its cells.

use serde_json::{Map, Value};
use zippy_plan::Grid;

use crate::grid;
use crate::voxels::Stated;

/// Data about an array that is saved and loaded with its cells. The table of
/// [`array`](mod@crate::array) lists the fields that each format can store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// Name of the array in the file; `None`: the array's own name, which moves with the array when
    /// variables are swapped.
    pub name: Option<String>,
    /// One entry per axis of the array, axis 0 first; empty if unknown.
    pub axes: Vec<Axis>,
    /// Directions of the axes: one unit vector per axis, with one number per dimension of space.
    /// `None`: the axes of the array are those of space.
    ///
    /// The position of the first cell consists of the origins of all axes, followed by
    /// [`further_origin`](Self::further_origin).
    pub directions: Option<Vec<Vec<f64>>>,
    /// Position of the first cell in the dimensions of space beyond the number of axes; for
    /// example, the z coordinate of a slice in three dimensions. Empty: space has as many
    /// dimensions as the array has axes. It requires [`axes`](Self::axes).
    pub further_origin: Vec<f64>,
    /// User-defined values by name.
    pub attributes: Map<String, Value>,
}

/// Axis of an array in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name, such as "x" or "time".
    pub name: Option<String>,
    /// Unit of spacing and origin, such as "mm"; `None` if unknown.
    pub unit: Option<String>,
    /// Distance between neighbouring cells.
    pub spacing: f64,
    /// Position of the first cell.
    pub origin: f64,
}

impl Default for Axis {
    fn default() -> Self {
        Self { name: None, unit: None, spacing: 1.0, origin: 0.0 }
    }
}

/// Maximum difference of a direction's length from 1.
const LENGTH_TOLERANCE: f64 = 1e-6;

impl Metadata {
    /// Replaces positions by those of an array with three axes; names and units of axes stay.
    #[must_use]
    pub fn with_grid(mut self, grid: &Grid) -> Self {
        self.axes.resize(3, Axis::default());
        for (number, axis) in self.axes.iter_mut().enumerate() {
            (axis.spacing, axis.origin) = (grid.spacing[number], grid.origin[number]);
        }
        self.directions = (!grid.is_along_space()).then(|| grid.directions.map(|vector| vector.to_vec()).to_vec());
        self.further_origin.clear();
        self
    }

    /// Positions of the cells in space; `None` for more than three axes or dimensions of space. A
    /// missing axis has a spacing of 1 and is perpendicular to the others.
    pub fn grid(&self) -> Option<Grid> {
        let axes = self.axes.len().max(self.directions.as_ref().map_or(0, Vec::len));
        if axes.max(self.dimensions()) > 3 {
            return None;
        }
        let numbers = |number: fn(&Axis) -> f64| self.axes.iter().map(number).collect::<Vec<f64>>();
        let (mut spacing, mut origin) = (numbers(|axis| axis.spacing), numbers(|axis| axis.origin));
        spacing.resize(axes, 1.0);
        origin.extend(&self.further_origin);
        // Rounding can make the length of a direction differ from 1.
        let directions = self.directions.clone().map(|vectors| Stated::new(vectors, 0));
        let (spacing, directions) = grid::move_lengths_into_spacing(Some(Stated::new(spacing, 0)), directions);
        Some(grid::grid(&spacing.unwrap_or_default().value, &origin, directions.as_deref()))
    }

    /// Number of dimensions of the space of origins and directions.
    pub(crate) fn dimensions(&self) -> usize {
        let longest = self.directions.iter().flatten().map(Vec::len).max();
        longest.unwrap_or(0).max(self.axes.len() + self.further_origin.len())
    }

    /// The same metadata in the smallest space that contains an array of `axes` axes: last
    /// dimensions of space with the coordinate 0 everywhere are removed, down to one dimension per
    /// axis. Directions along the axes of space become `None`.
    pub(crate) fn in_smallest_space(mut self, axes: usize) -> Self {
        let component = |vector: &[f64], at: usize| vector.get(at).copied().unwrap_or(0.0);
        let is_empty = |dimension: usize| {
            let mut all = self.directions.iter().flatten();
            component(&self.further_origin, dimension - axes) == 0.0
                && all.all(|vector| component(vector, dimension) == 0.0)
        };
        let mut dimensions = self.dimensions().max(axes + self.further_origin.len());
        while dimensions > axes && is_empty(dimensions - 1) {
            dimensions -= 1;
        }
        self.further_origin.resize(dimensions - axes, 0.0);
        self.directions.iter_mut().flatten().for_each(|vector| vector.resize(dimensions, 0.0));
        if self.is_along_space() {
            self.directions = None;
        }
        if !self.further_origin.is_empty() {
            self.axes.resize(axes, Axis::default());
        }
        self
    }

    /// Checks that the metadata fits an array of `axes` axes.
    ///
    /// # Errors
    /// The first mistake.
    pub fn check(&self, axes: usize) -> Result<(), String> {
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
        let further = &self.further_origin;
        if !further.iter().all(|component| component.is_finite()) {
            return Err(format!("a further origin of {further:?}; all its numbers must be finite"));
        }
        if !further.is_empty() && self.axes.is_empty() {
            return Err(format!("a further origin of {further:?} without axes; give `axes` as well"));
        }
        let Some(directions) = &self.directions else { return Ok(()) };
        let dimensions = axes + further.len();
        if directions.len() != axes || directions.iter().any(|vector| vector.len() != dimensions) {
            let space = match further.len() {
                0 => String::new(),
                _ => format!(" in a space of {dimensions} dimensions (further origin {further:?})"),
            };
            let need = format!("each needs a vector of {dimensions} numbers");
            return Err(format!("directions {directions:?} for {axes} axes{space}; {need}"));
        }
        for vector in directions {
            let length = vector.iter().map(|component| component * component).sum::<f64>().sqrt();
            if (length - 1.0).abs() > LENGTH_TOLERANCE || length.is_nan() {
                return Err(format!("a direction {vector:?} of length {length}; it must be 1 (spacing is apart)"));
            }
        }
        Ok(())
    }

    /// The metadata with attributes sorted by name at every depth. Neither files nor the comparison
    /// between ranks depend on the order of insertion.
    pub fn sorted(&self) -> Self {
        Self { attributes: sorted(&self.attributes), ..self.clone() }
    }

    pub(crate) fn is_name_alone(&self) -> bool {
        self.axes.is_empty()
            && self.directions.is_none()
            && self.further_origin.is_empty()
            && self.attributes.is_empty()
    }

    /// True if all axes point along the axes of space.
    pub fn is_along_space(&self) -> bool {
        let is_axis = |axis: usize, vector: &[f64]| {
            vector.iter().enumerate().all(|(at, &component)| component == f64::from(u8::from(at == axis)))
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
