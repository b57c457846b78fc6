//! [`Wanted`]: the cells of an array in a store that are read.

use std::ops::Range;
use std::path::Path;

use zippy::extents::Index;
use zippy::region::Region;

use crate::IoError;
use crate::array::metadata::Metadata;

/// Which cells are wanted: of those from `start` on, one in every `step`.
pub struct Wanted {
    pub start: Index,
    pub step: Index,
    /// Cells of the array that they make.
    pub shape: Index,
}

impl Wanted {
    /// # Errors
    /// A section or a step that does not fit the array.
    pub fn new(path: &Path, shape: &Index, section: Option<&[Range<i64>]>, step: &[i64]) -> Result<Self, IoError> {
        let axes = shape.axes();
        if step.len() != axes || section.is_some_and(|ranges| ranges.len() != axes) {
            let message = format!("holds an array of {axes} axes; the section and the steps must have as many");
            return Err(IoError::request(path, message));
        }
        if let Some(axis) = (0..axes).find(|&axis| step[axis] < 1) {
            return Err(IoError::request(
                path,
                format!("a step of {} along axis {axis}; it must be 1 or more", step[axis]),
            ));
        }
        let range = |axis: usize| section.map_or(0..shape[axis], |ranges| ranges[axis].clone());
        let bad = |axis: &usize| {
            let range = range(*axis);
            range.start < 0 || range.end < range.start || range.end > shape[*axis]
        };
        if let Some(axis) = (0..axes).find(bad) {
            let message =
                format!("cells {:?} along axis {axis} are wanted, and there are {}", range(axis), shape[axis]);
            return Err(IoError::request(path, message));
        }
        let start = Index::from_fn(axes, |axis| range(axis).start);
        let cells = |axis: usize| {
            (range(axis).end - range(axis).start) / step[axis]
                + i64::from((range(axis).end - range(axis).start) % step[axis] != 0)
        };
        Ok(Self { start, step: Index::new(step), shape: Index::from_fn(axes, cells) })
    }

    /// The cell of the store for a cell of the array.
    pub fn source(&self, cell: &Index) -> Index {
        Index::from_fn(cell.axes(), |axis| self.start[axis] + cell[axis] * self.step[axis])
    }

    /// The box of the store that the cells of a box of the array, which is not empty, lie in.
    pub fn source_box(&self, cells: &Region) -> Region {
        let last = self.source(&Index::from_fn(cells.axes(), |axis| cells.end[axis] - 1));
        Region::between(self.source(&cells.start), Index::from_fn(cells.axes(), |axis| last[axis] + 1))
    }

    /// The box of the array whose cells lie in a box of the store; `None`: none do.
    pub fn target_box(&self, source: &Region) -> Option<Region> {
        let axes = source.axes();
        let up = |place: i64, axis: usize| {
            let distance = (place - self.start[axis]).max(0);
            distance / self.step[axis] + i64::from(distance % self.step[axis] != 0)
        };
        let start = Index::from_fn(axes, |axis| up(source.start[axis], axis).min(self.shape[axis]));
        let end = Index::from_fn(axes, |axis| up(source.end[axis], axis).min(self.shape[axis]));
        let is_empty = (0..axes).any(|axis| start[axis] >= end[axis]);
        (!is_empty).then(|| Region::between(start, end))
    }

    /// The metadata of the cells that are read.
    pub fn of(&self, mut metadata: Metadata) -> Metadata {
        for (axis, known) in metadata.axes.iter_mut().enumerate() {
            known.origin += self.start[axis] as f64 * known.spacing;
            known.spacing *= self.step[axis] as f64;
        }
        metadata
    }
}
