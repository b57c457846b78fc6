//! [`FileSelection`]: the cells of a file that become an array.

use std::ops::Range;
use std::path::Path;

use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::FileError;

use zippy_io::array::AxisOrder;
use zippy_io::array::Metadata;

/// Box of file cells, with a step along each axis.
#[derive(Debug, Clone)]
pub(super) struct FileSelection {
    start: Index,
    pub step: Index,
    /// Shape of the selected array.
    pub shape: Index,
}

impl FileSelection {
    /// Selects all cells by default.
    pub(super) fn new(
        path: &Path,
        shape: &Index,
        section: Option<&[Range<i64>]>,
        step: Option<&[i64]>,
    ) -> Result<Self, FileError> {
        let axes = shape.axes();
        let wrong = |message: String| Err(FileError::request(path, message));
        let section = match section {
            None => Region::whole(*shape),
            Some(ranges) => {
                let fits = |(axis, range): (usize, &Range<i64>)| {
                    range.start >= 0 && range.start <= range.end && range.end <= shape[axis]
                };
                if ranges.len() != axes || !ranges.iter().enumerate().all(fits) {
                    return wrong(format!("holds an array of {shape}, in which the section {ranges:?} does not lie"));
                }
                Region::between(
                    Index::from_fn(axes, |axis| ranges[axis].start),
                    Index::from_fn(axes, |axis| ranges[axis].end),
                )
            }
        };
        let step = step.map_or_else(|| vec![1; axes], <[i64]>::to_vec);
        if step.len() != axes || step.iter().any(|&step| step < 1) {
            return wrong(format!("cannot be loaded with steps {step:?}; {axes} are needed, each at least 1"));
        }
        let extents = section.extents();
        // A step beyond the end selects one cell.
        let step = Index::from_fn(axes, |axis| step[axis].min(extents[axis].max(1)));
        let kept = Index::from_fn(axes, |axis| (extents[axis] - 1).max(-1).div_euclid(step[axis]) + 1);
        Ok(Self { start: section.start, step, shape: kept })
    }

    pub(super) fn reordered(&self, order: &AxisOrder) -> Self {
        let Self { start, step, shape } = self;
        Self { start: order.to_file(start), step: order.to_file(step), shape: order.to_file(shape) }
    }

    pub(super) fn cell_in_file(&self, cell: &Index) -> Index {
        Index::from_fn(cell.axes(), |axis| self.start[axis] + cell[axis] * self.step[axis])
    }

    pub(super) fn in_file(&self, wanted: &Region) -> Region {
        let last = Index::from_fn(wanted.axes(), |axis| wanted.end[axis] - 1);
        let end = self.cell_in_file(&last);
        Region::between(self.cell_in_file(&wanted.start), Index::from_fn(end.axes(), |axis| end[axis] + 1))
    }

    /// Array box of a file box; `None` if no cell is selected.
    #[cfg(feature = "zarr")]
    pub(super) fn in_array(&self, found: &Region) -> Option<Region> {
        let axes = found.axes();
        let array_index = |cell: i64, axis: usize| {
            let distance = (cell - self.start[axis]).max(0);
            (distance / self.step[axis] + i64::from(distance % self.step[axis] != 0)).min(self.shape[axis])
        };
        let start = Index::from_fn(axes, |axis| array_index(found.start[axis], axis));
        let end = Index::from_fn(axes, |axis| array_index(found.end[axis], axis));
        (0..axes).all(|axis| start[axis] < end[axis]).then(|| Region::between(start, end))
    }

    pub(super) fn metadata(&self, mut metadata: Metadata) -> Metadata {
        let offsets: Vec<f64> =
            metadata.axes.iter().zip(self.start.iter()).map(|(axis, &start)| axis.spacing * start as f64).collect();
        let directions = metadata.directions.take();
        // Distance from the first cell of the array to the first selected cell, along a dimension
        // of space.
        let shift = |row: usize| match &directions {
            None => offsets.get(row).copied().unwrap_or(0.0),
            Some(all) => {
                let part = |(vector, offset): (&Vec<f64>, &f64)| vector.get(row).map_or(0.0, |part| part * offset);
                all.iter().zip(&offsets).map(part).sum()
            }
        };
        for (number, axis) in metadata.axes.iter_mut().enumerate() {
            axis.origin += shift(number);
            axis.spacing *= self.step[number] as f64;
        }
        let axes = metadata.axes.len();
        metadata.further_origin.iter_mut().enumerate().for_each(|(number, part)| *part += shift(axes + number));
        metadata.directions = directions;
        metadata
    }
}
