//! Positions of the points of an image.

use std::path::Path;

use super::elements::Element;
use crate::IoError;
use crate::array::{Axis, Metadata};
use crate::grid::move_lengths_into_spacing;
use crate::voxels::{Stated, make_spacings_positive};

#[derive(Default)]
pub(crate) struct Frame {
    /// First and last index of a point along each axis.
    pub whole: Stated<[(i64, i64); 3]>,
    /// Distance between neighbouring points along each axis.
    pub spacing: Option<Stated<Vec<f64>>>,
    /// Directions of the axes as unit vectors, from the columns of the image's matrix. The lengths
    /// of the columns are factors of [`spacing`](Self::spacing).
    pub directions: Option<Vec<Vec<f64>>>,
    /// Contradictions and their interpretation.
    pub notes: Vec<String>,
    /// Position of the point with index 0 on all axes.
    origin: Option<Stated<Vec<f64>>>,
}

impl Frame {
    pub(crate) fn new(path: &Path, element: &Element) -> Result<Self, IoError> {
        let whole = element.extent(path, "WholeExtent")?;
        let fits = |&(first, last): &(i64, i64)| last.checked_sub(first).is_some_and(|steps| steps < i64::MAX);
        if !whole.value.iter().all(fits) {
            let message = "the points of WholeExtent are more bytes than fit 63 bits";
            return Err(IoError::malformed(path, whole.at, message));
        }
        let column = |rows: &[f64], axis: usize| [0, 1, 2].map(|row| rows[3 * row + axis]).to_vec();
        let columns = |rows: &[f64]| (0..3).map(|axis| column(rows, axis)).collect();
        let matrix = element.floats(path, "Direction", 9)?;
        let (mut spacing, mut directions) = move_lengths_into_spacing(
            element.floats(path, "Spacing", 3)?,
            matrix.map(|rows| Stated::new(columns(&rows.value), rows.at)),
        );
        let mut notes = Vec::new();
        if let Some(spacing) = &mut spacing {
            directions = make_spacings_positive(&mut spacing.value, directions.as_deref(), &mut notes).or(directions);
        }
        Ok(Self { whole, spacing, directions, notes, origin: element.floats(path, "Origin", 3)? })
    }

    pub(crate) fn sizes(&self) -> Stated<Vec<i64>> {
        Stated::new(self.whole.value.iter().map(|(first, last)| last - first + 1).collect(), self.whole.at)
    }

    /// Position of the first point of the image; `None` if the file has no origin and its indices
    /// begin at 0. With other first indices a missing origin is 0.
    pub(crate) fn first_point(&self) -> Option<Stated<Vec<f64>>> {
        let zero = Stated::new(vec![0.0; 3], self.whole.at);
        let is_default = self.origin.is_none() && self.whole.value.iter().all(|&(first, _)| first == 0);
        let Stated { value: origin, at } = self.origin.as_ref().or((!is_default).then_some(&zero))?;
        let spacing = self.spacing.as_ref().map_or([1.0; 3], |spacing| [0, 1, 2].map(|axis| spacing.value[axis]));
        let step = [0, 1, 2].map(|axis| spacing[axis] * self.whole.value[axis].0 as f64);
        let point = |row: usize| match &self.directions {
            None => origin[row] + step[row],
            Some(vectors) => origin[row] + (0..3).map(|axis| vectors[axis][row] * step[axis]).sum::<f64>(),
        };
        Some(Stated::new((0..3).map(point).collect(), *at))
    }

    /// Metadata of the axes; VTI has no names for them.
    pub(crate) fn metadata(&self) -> Metadata {
        let mut found = Metadata { directions: self.directions.clone(), ..Metadata::default() };
        if found.is_along_space() {
            found.directions = None;
        }
        let (spacing, origin) = (self.spacing.as_ref(), self.first_point());
        if spacing.is_some() || origin.is_some() {
            let axis = |axis: usize| Axis {
                spacing: spacing.map_or(1.0, |spacing| spacing.value[axis]),
                origin: origin.as_ref().map_or(0.0, |origin| origin.value[axis]),
                ..Axis::default()
            };
            found.axes = (0..3).map(axis).collect();
        }
        found
    }
}
