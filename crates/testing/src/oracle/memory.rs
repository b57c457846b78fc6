//! [`Memory`]: host memory of an array.

use zippy_plan::chunks::ChunkId;
use zippy_plan::extents::Index;
use zippy_plan::locate::Placement;
use zippy_plan::region::Region;

/// Host memory of an array on all ranks: for each rank and slot, the cells of the chunk's storage
/// with its ghost cells, dense, axis 0 fastest.
///
/// An array and its re-arrangements share the memory, which belongs to ranks and slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory<T> {
    slots: Vec<Vec<Vec<T>>>,
}

impl<T> Memory<T> {
    /// Creates the memory of an array. Each stored cell has the value `cell(chunk, position)`;
    /// positions of ghost cells can be outside of the shape.
    pub fn new(placement: &Placement, mut cell: impl FnMut(ChunkId, Index) -> T) -> Self {
        let mut chunk = |chunk| placement.chunks().storage(chunk).points().map(|at| cell(chunk, at)).collect();
        let rank = |rank| placement.ownership().of_rank(rank).map(&mut chunk).collect();
        Self { slots: (0..placement.ranks()).map(rank).collect() }
    }

    /// Cells of a chunk's storage.
    ///
    /// # Panics
    /// For a chunk that does not exist.
    pub fn chunk(&self, placement: &Placement, chunk: ChunkId) -> &[T] {
        let owner = placement.ownership().owner(chunk);
        &self.slots[owner.rank][owner.slot]
    }

    fn chunk_mut(&mut self, placement: &Placement, chunk: ChunkId) -> &mut [T] {
        let owner = placement.ownership().owner(chunk);
        &mut self.slots[owner.rank][owner.slot]
    }

    /// Values of cells in a chunk's storage, in the order of `cells`.
    pub(super) fn read<'a>(
        &'a self,
        placement: &Placement,
        chunk: ChunkId,
        cells: impl Iterator<Item = Index> + 'a,
    ) -> impl Iterator<Item = &'a T> + 'a {
        let storage = placement.chunks().storage(chunk);
        let data = self.chunk(placement, chunk);
        cells.map(move |cell| &data[storage.offset(&cell) as usize])
    }

    /// Sets each cell of a box in a chunk's storage to `write(value, cell)`, with values in the
    /// order of the box.
    pub(super) fn write(
        &mut self,
        placement: &Placement,
        chunk: ChunkId,
        region: &Region,
        values: &[T],
        write: &dyn Fn(&T, &T) -> T,
    ) {
        let storage = placement.chunks().storage(chunk);
        let data = self.chunk_mut(placement, chunk);
        for (cell, value) in region.points().zip(values) {
            let cell = &mut data[storage.offset(&cell) as usize];
            *cell = write(value, cell);
        }
    }
}
