//! Indices into a distributed vector: those of this rank's cells, and those of cells of others.

use std::ops::Range;

use crate::World;
use crate::algorithms::numbers::over_numbers;
use crate::algorithms::scan::largest;
use crate::algorithms::vectors::Span;
use crate::array::Cells;
use crate::element::Element;
use crate::error::Result;

/// Where the cells of a vector lie, for one rank.
pub struct Places<'a> {
    spans: &'a [Span],
    /// The spans of this rank: their cells, and how many of its own come before.
    own: Vec<(Range<u64>, u64)>,
}

impl<'a> Places<'a> {
    pub fn new(spans: &'a [Span], rank: usize) -> Self {
        let (mut own, mut before) = (Vec::new(), 0);
        for span in spans.iter().filter(|span| span.owner == rank) {
            own.push((span.cells.clone(), before));
            before += span.cells.end - span.cells.start;
        }
        Self { spans, own }
    }

    /// The number of a cell among those of this rank, which may have another owner.
    fn own(&self, index: u32) -> Option<u64> {
        let index = u64::from(index);
        let number = if self.own.len() == 1 { 0 } else { self.own.partition_point(|(cells, _)| cells.end <= index) };
        let (cells, before) = self.own.get(number)?;
        cells.contains(&index).then(|| before + index - cells.start)
    }

    /// The same, or a number beyond all cells of this rank.
    pub fn number(&self, index: u32) -> u32 {
        self.own(index).map_or(u32::MAX, |own| own as u32)
    }

    /// Whether this rank has all cells, so that numbers are indices.
    pub fn has_all(&self) -> bool {
        self.own.len() == self.spans.len()
    }

    /// The rank that has a cell of the vector.
    fn owner(&self, index: u32) -> usize {
        self.spans[self.spans.partition_point(|span| span.cells.end <= index.into())].owner
    }

    /// One more than the largest index, and how many are of cells that this rank does not have.
    pub fn survey(&self, world: &World, indices: &Cells) -> Result<[u64; 2]> {
        if self.has_all() {
            return Ok([largest(world, indices)?.map_or(0, |index| u64::from(index) + 1), 0]);
        }
        let (mut end, mut elsewhere) = (0, 0);
        over_numbers(indices, |_, some| {
            end = some.iter().fold(end, |end, &index| end.max(u64::from(index) + 1));
            elsewhere += some.iter().filter(|&&index| self.own(index).is_none()).count() as u64;
            Ok(())
        })?;
        Ok([end, elsewhere])
    }
}

/// The indices of cells that this rank does not have.
pub struct Elsewhere {
    pub indices: Cells,
    /// The owners of the cells.
    pub ranks: Cells,
    /// Where the indices stand among all indices of this rank.
    pub positions: Cells,
}

impl Elsewhere {
    /// A number of these indices, all of cells of the vector.
    pub fn new(world: &World, indices: &Cells, places: &Places, count: u64) -> Result<Self> {
        let room = |name| Cells::scratch(&world.home(), name, &u32::INFO, count);
        let all = Self { indices: room("indices")?, ranks: room("ranks")?, positions: room("positions")? };
        let mut begin = 0;
        over_numbers(indices, |first, some| {
            let position = |index: usize| (first + index as u64) as u32;
            let found: Vec<usize> = (0..some.len()).filter(|&index| places.own(some[index]).is_none()).collect();
            let cells = begin..begin + found.len() as u64;
            begin = cells.end;
            let write = |to: &Cells, number: &dyn Fn(usize) -> u32| {
                let numbers: Vec<u32> = found.iter().map(|&index| number(index)).collect();
                to.write(cells.clone(), bytemuck::cast_slice(&numbers))
            };
            write(&all.indices, &|index| some[index])?;
            write(&all.ranks, &|index| places.owner(some[index]) as u32)?;
            write(&all.positions, &position)
        })?;
        Ok(all)
    }
}
