//! [`CellIndices`]: indices of cells of one sequence, or of a distributed vector.

use std::ops::Range;

use zippy::collective::CellSequence;

use crate::vectors::Span;

/// Indices of the cells that a gather reads or a scatter writes.
#[derive(Clone, Copy)]
pub(crate) struct CellIndices<'a> {
    pub(super) cells: &'a CellSequence,
    /// Positions of the cells on this rank; `None` if they equal the indices.
    pub(super) local_positions: Option<&'a LocalPositions<'a>>,
}

impl<'a> From<&'a CellSequence> for CellIndices<'a> {
    fn from(cells: &'a CellSequence) -> Self {
        Self { cells, local_positions: None }
    }
}

impl<'a> CellIndices<'a> {
    /// Creates indices into a distributed vector.
    pub(super) fn of_vector(cells: &'a CellSequence, local_positions: &'a LocalPositions<'_>) -> Self {
        Self { cells, local_positions: Some(local_positions).filter(|positions| !positions.has_all()) }
    }
}

/// Owners and local positions of the cells of a vector, on one rank.
pub(crate) struct LocalPositions<'a> {
    spans: &'a [Span],
    /// Spans of this rank, each with the number of this rank's cells before it.
    local_spans: Vec<(Range<u64>, u64)>,
}

impl<'a> LocalPositions<'a> {
    pub(super) fn new(spans: &'a [Span], rank: usize) -> Self {
        let (mut local_spans, mut before) = (Vec::new(), 0);
        for span in spans.iter().filter(|span| span.owner == rank) {
            local_spans.push((span.cells.clone(), before));
            before += span.cells.end - span.cells.start;
        }
        Self { spans, local_spans }
    }

    /// Returns the position of a cell among this rank's cells; `None` if another rank owns the
    /// cell.
    pub(super) fn position(&self, index: u32) -> Option<u64> {
        let index = u64::from(index);
        let number = if self.local_spans.len() == 1 {
            0
        } else {
            self.local_spans.partition_point(|(cells, _)| cells.end <= index)
        };
        let (cells, before) = self.local_spans.get(number)?;
        cells.contains(&index).then(|| before + index - cells.start)
    }

    /// Returns the position of a cell among this rank's cells, or a number larger than all
    /// positions.
    pub(super) fn position_or_max(&self, index: u32) -> u32 {
        self.position(index).map_or(u32::MAX, |position| position as u32)
    }

    /// True if this rank owns all cells, so that positions equal indices.
    pub(super) fn has_all(&self) -> bool {
        self.local_spans.len() == self.spans.len()
    }

    pub(super) fn owner(&self, index: u32) -> usize {
        self.spans[self.spans.partition_point(|span| span.cells.end <= index.into())].owner
    }
}
