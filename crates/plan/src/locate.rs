//! [`Placement`]: owners of regions, regions of ranks, and conversion of coordinates.

use std::sync::Arc;

use crate::chunks::{ChunkId, Chunks};
use crate::error::LayoutError;
use crate::extents::Index;
use crate::ownership::{Owner, Ownership};
use crate::region::Region;

/// Cuts of an array with the owners of its chunks. A clone is cheap. Comparison is by content, with
/// a fast path for clones.
#[derive(Debug, Clone)]
pub struct Placement {
    chunks: Arc<Chunks>,
    ownership: Arc<Ownership>,
}

/// Chunk with cells of a region, from [`Placement::holders`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Index of the chunk.
    pub chunk: ChunkId,
    /// Common cells of the chunk and the region, in global coordinates.
    pub part: Region,
    /// Rank and slot of the chunk.
    pub owner: Owner,
}

/// Cell in the coordinates of its chunk, from [`Placement::to_local`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocalCell {
    /// Index of the chunk.
    pub chunk: ChunkId,
    /// Rank and slot of the chunk.
    pub owner: Owner,
    /// Offset from the first cell that the chunk owns; negative or past the end for ghost cells.
    pub cell: Index,
}

impl Placement {
    /// Creates a placement from cuts and owners.
    ///
    /// # Errors
    /// * [`LayoutError::ChunkCount`]: the numbers of chunks differ.
    /// * [`LayoutError::NoSuchRank`]: the ownership has no ranks.
    pub fn new(chunks: Arc<Chunks>, ownership: Arc<Ownership>) -> Result<Self, LayoutError> {
        let (given, expected) = (ownership.chunks(), chunks.count());
        if given != expected {
            return Err(LayoutError::ChunkCount { what: "the ownership", given, expected });
        }
        if ownership.ranks() == 0 {
            return Err(LayoutError::NoSuchRank { chunk: 0, rank: 0, ranks: 0 });
        }
        Ok(Self { chunks, ownership })
    }

    /// Creates a placement with the default ownership, [`Ownership::balanced`].
    ///
    /// # Panics
    /// If `ranks` is 0.
    pub fn balanced(chunks: Chunks, ranks: usize) -> Self {
        assert!(ranks > 0, "chunks need a rank that owns them");
        let ownership = Arc::new(Ownership::balanced(chunks.count(), ranks));
        Self { chunks: Arc::new(chunks), ownership }
    }

    /// Cuts of the array.
    #[inline]
    pub fn chunks(&self) -> &Arc<Chunks> {
        &self.chunks
    }

    /// Owners of the chunks.
    #[inline]
    pub fn ownership(&self) -> &Arc<Ownership> {
        &self.ownership
    }

    /// Number of ranks.
    #[inline]
    pub fn ranks(&self) -> usize {
        self.ownership.ranks()
    }

    /// The same cuts with re-arranged chunks: see [`Ownership::reassigned`].
    ///
    /// # Errors
    /// `order` is not a permutation of the chunks, or exchanges chunks with different extents.
    pub fn reassigned(&self, order: &[ChunkId]) -> Result<Self, LayoutError> {
        let ownership = Arc::new(self.ownership.reassigned(order, &self.chunks)?);
        Ok(Self { chunks: self.chunks.clone(), ownership })
    }

    /// Chunks with cells of a region, in ascending order. The cost is proportional to their number.
    pub fn holders(&self, region: &Region) -> Vec<Holder> {
        let mut out = Vec::new();
        self.chunks.touching(region, |chunk, part| {
            out.push(Holder { chunk, part, owner: self.ownership.owner(chunk) });
        });
        out
    }

    /// Owner of a cell; `None` outside of the shape.
    pub fn holder(&self, cell: &Index) -> Option<Owner> {
        self.chunks.chunk_at(cell).map(|chunk| self.ownership.owner(chunk))
    }

    /// Chunks of a rank in slot order, with their cells, which can be empty.
    pub fn held_by(&self, rank: usize) -> impl ExactSizeIterator<Item = (ChunkId, Region)> + '_ {
        self.ownership.of_rank(rank).map(|chunk| (chunk, self.chunks.region(chunk)))
    }

    /// Number of cells of a rank, without ghost cells.
    pub fn cells_of(&self, rank: usize) -> u64 {
        self.held_by(rank).map(|(_, region)| region.cells()).sum()
    }

    /// Converts a cell to local coordinates: its owner and the offset in the chunk. `None` outside
    /// of the shape.
    pub fn to_local(&self, cell: &Index) -> Option<LocalCell> {
        let chunk = self.chunks.chunk_at(cell)?;
        let cell = *cell - self.chunks.region(chunk).start;
        Some(LocalCell { chunk, owner: self.ownership.owner(chunk), cell })
    }

    /// Converts an offset in a chunk of `owner` to a cell of the array. A ghost cell on a periodic
    /// axis gives the cell of its image.
    ///
    /// `None` for a chunk that does not exist, a cell that the chunk does not store, and a ghost
    /// cell beyond the shape on an axis that is not periodic.
    pub fn to_global(&self, owner: Owner, cell: &Index) -> Option<Index> {
        let chunk = self.ownership.of_rank(owner.rank).nth(owner.slot)?;
        let stored =
            Index::from_fn(self.chunks.axes(), |axis| self.chunks.region(chunk).start[axis].saturating_add(cell[axis]));
        if !self.chunks.storage(chunk).contains(&stored) {
            return None;
        }
        let (shape, periodic) = (self.chunks.shape(), self.chunks.periodic());
        let wrap = |axis: usize| if periodic[axis] { stored[axis].rem_euclid(shape[axis]) } else { stored[axis] };
        let global = Index::from_fn(shape.axes(), wrap);
        self.chunks.whole().contains(&global).then_some(global)
    }
}

impl PartialEq for Placement {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.chunks, &other.chunks) || self.chunks == other.chunks)
            && (Arc::ptr_eq(&self.ownership, &other.ownership) || self.ownership == other.ownership)
    }
}

impl Eq for Placement {}

impl std::hash::Hash for Placement {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.chunks.fingerprint(), self.ownership.fingerprint()).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Split};

    fn placement() -> Placement {
        let layout =
            Layout::new([8, 5]).split([[3, 0, 5].into(), Split::Even(2)]).ghost([2, 1]).periodic([true, false]);
        let chunks = Arc::new(layout.resolve(3, 4, u64::MAX).unwrap());
        let owners = Arc::new(Ownership::table(vec![2, 0, 1, 2, 2, 0], 4).unwrap());
        Placement::new(chunks, owners).unwrap()
    }

    #[test]
    fn to_global_inverts_to_local_for_every_cell() {
        let placement = placement();
        for cell in placement.chunks().whole().points() {
            let local = placement.to_local(&cell).unwrap();
            assert_eq!(placement.holder(&cell), Some(local.owner));
            assert_eq!(placement.to_global(local.owner, &local.cell), Some(cell));
            assert!(
                placement
                    .held_by(local.owner.rank)
                    .any(|(chunk, region)| chunk == local.chunk && region.contains(&cell))
            );
        }
        assert_eq!(placement.to_local(&Index::from([8, 0])), None);
        assert_eq!(placement.to_local(&Index::from([0, -1])), None);
        assert_eq!((0..4).map(|rank| placement.cells_of(rank)).collect::<Vec<_>>(), [10, 15, 15, 0]);
    }

    #[test]
    fn to_global_maps_ghost_cell_to_cell_of_its_image() {
        let placement = placement();
        let owner = placement.ownership().owner(0);
        assert_eq!(placement.to_global(owner, &Index::from([-2, 0])), Some(Index::from([6, 0])));
        assert_eq!(placement.to_global(owner, &Index::from([4, 3])), Some(Index::from([4, 3])));
        assert_eq!(placement.to_global(owner, &Index::from([0, -1])), None, "not periodic");
        assert_eq!(placement.to_global(owner, &Index::from([5, 0])), None, "not stored");
        assert_eq!(placement.to_global(Owner { rank: 3, slot: 0 }, &Index::from([0, 0])), None);
    }

    #[test]
    fn holders_returns_chunk_part_and_rank() {
        let holders = placement().holders(&Region::new(&[2, 2], &[4, 9]).unwrap());
        let parts: Vec<_> = holders.iter().map(|h| (h.chunk, h.part.to_string(), h.owner.rank)).collect();
        let expected = [(0, "[2..3, 2..3]", 2), (2, "[3..4, 2..3]", 1), (3, "[2..3, 3..5]", 2), (5, "[3..4, 3..5]", 0)];
        assert_eq!(parts, expected.map(|(chunk, part, rank)| (chunk, part.to_owned(), rank)));
    }

    #[test]
    fn new_with_different_chunk_counts_or_without_ranks_is_refused() {
        let refusal =
            |ownership| Placement::new(placement().chunks().clone(), Arc::new(ownership)).unwrap_err().to_string();
        assert_eq!(refusal(Ownership::balanced(5, 4)), "the ownership lists 5 chunks, but the layout has 6");
        assert_eq!(refusal(Ownership::balanced(6, 0)), "chunk 0 is owned by rank 0, but there are 0 ranks");
    }
}
