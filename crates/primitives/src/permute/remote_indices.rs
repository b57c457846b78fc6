//! Indices into a distributed vector: those of this rank's cells, and those of other ranks' cells.

use std::ops::Range;

use zippy::World;
use zippy::collective::CellSequence;
use zippy::element::Element;
use zippy::error::Result;

use crate::numbers::over_numbers;
use crate::scan::largest;
use crate::vectors::Span;

/// Owners and local positions of the cells of a vector, on one rank.
pub(super) struct LocalPositions<'a> {
    spans: &'a [Span],
    /// The spans of this rank, each with the number of its preceding cells on this rank.
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

    /// The position of a cell among this rank's cells; `None` if another rank owns the cell.
    fn position(&self, index: u32) -> Option<u64> {
        let index = u64::from(index);
        let number = if self.local_spans.len() == 1 {
            0
        } else {
            self.local_spans.partition_point(|(cells, _)| cells.end <= index)
        };
        let (cells, before) = self.local_spans.get(number)?;
        cells.contains(&index).then(|| before + index - cells.start)
    }

    /// The position of a cell among this rank's cells, or a number larger than all positions.
    pub(super) fn position_or_max(&self, index: u32) -> u32 {
        self.position(index).map_or(u32::MAX, |position| position as u32)
    }

    /// True if this rank owns all cells, so that positions equal indices.
    pub(super) fn has_all(&self) -> bool {
        self.local_spans.len() == self.spans.len()
    }

    /// The rank that owns a cell of the vector.
    fn owner(&self, index: u32) -> usize {
        self.spans[self.spans.partition_point(|span| span.cells.end <= index.into())].owner
    }

    /// One more than the largest index, and the number of indices of other ranks' cells.
    pub(super) fn survey(&self, world: &World, indices: &CellSequence) -> Result<[u64; 2]> {
        if self.has_all() {
            return Ok([largest(world, indices)?.map_or(0, |index| u64::from(index) + 1), 0]);
        }
        let (mut end, mut remote) = (0, 0);
        over_numbers(indices, |_, some| {
            end = some.iter().fold(end, |end, &index| end.max(u64::from(index) + 1));
            remote += some.iter().filter(|&&index| self.position(index).is_none()).count() as u64;
            Ok(())
        })?;
        Ok([end, remote])
    }
}

/// The indices of other ranks' cells.
pub(super) struct RemoteIndices {
    pub indices: CellSequence,
    /// The owners of the cells.
    pub ranks: CellSequence,
    /// Positions of these indices among all indices of this rank.
    pub positions: CellSequence,
}

impl RemoteIndices {
    /// Collects these `count` indices; all indices must be valid.
    pub(super) fn new(
        world: &World,
        indices: &CellSequence,
        local_positions: &LocalPositions<'_>,
        count: u64,
    ) -> Result<Self> {
        let room = |name| world.scratch_cells(name, &u32::INFO, count);
        let all = Self { indices: room("indices")?, ranks: room("ranks")?, positions: room("positions")? };
        let mut begin = 0;
        over_numbers(indices, |first, some| {
            let position = |index: usize| (first + index as u64) as u32;
            let found: Vec<usize> =
                (0..some.len()).filter(|&index| local_positions.position(some[index]).is_none()).collect();
            let cells = begin..begin + found.len() as u64;
            begin = cells.end;
            let write = |to: &CellSequence, number: &dyn Fn(usize) -> u32| {
                let numbers: Vec<u32> = found.iter().map(|&index| number(index)).collect();
                to.write(cells.clone(), bytemuck::cast_slice(&numbers))
            };
            write(&all.indices, &|index| some[index])?;
            write(&all.ranks, &|index| local_positions.owner(some[index]) as u32)?;
            write(&all.positions, &position)
        })?;
        Ok(all)
    }
}
