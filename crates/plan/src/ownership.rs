//! [`Ownership`]: the owner of each chunk, independent of the cuts and the data.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};

use crate::chunks::{ChunkId, Chunks, Fnv, MAX_WRITTEN_ITEMS, write_list};
use crate::error::LayoutError;

/// Owner of a chunk: a rank, and the index of the chunk on the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// Rank.
    pub rank: usize,
    /// Index in the chunks of the rank.
    pub slot: usize,
}

/// Map from chunks to owners. Immutable, compared and hashed by content.
///
/// A rank can own any number of chunks. A re-arrangement of chunks is another ownership of the same
/// buffers: see [`reassigned`](Self::reassigned).
#[derive(Debug, Clone)]
pub struct Ownership {
    ranks: usize,
    map: OwnerMap,
    fingerprint: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum OwnerMap {
    /// Contiguous runs of chunks with lengths that differ by at most one, longer runs first.
    Balanced { chunks: usize },
    Table {
        owners: Vec<Owner>,
        /// The chunks of rank `r`, in slot order, are `chunks[first[r]..first[r + 1]]`.
        first: Vec<usize>,
        chunks: Vec<ChunkId>,
    },
}

impl Ownership {
    /// Default ownership: balanced contiguous runs of chunks. Chunk *i* is on rank *i* if the
    /// counts are equal. No memory per chunk.
    pub fn balanced(chunks: usize, ranks: usize) -> Self {
        Self::from_map(ranks, OwnerMap::Balanced { chunks })
    }

    /// Ownership of chunk `i` by rank `table[i]`, with slots in the order of chunks. A rank can own
    /// no chunks.
    ///
    /// # Errors
    /// [`LayoutError::NoSuchRank`]: a rank of the table does not exist.
    pub fn table(table: Vec<usize>, ranks: usize) -> Result<Self, LayoutError> {
        if let Some((chunk, &rank)) = table.iter().enumerate().find(|&(_, &rank)| rank >= ranks) {
            return Err(LayoutError::NoSuchRank { chunk, rank, ranks });
        }
        let mut next = vec![0; ranks];
        let owners = table.iter().map(|&rank| {
            next[rank] += 1;
            Owner { rank, slot: next[rank] - 1 }
        });
        Ok(Self::from_owners(ranks, owners.collect()))
    }

    /// Ownership in which chunk *i* has the rank and the slot of chunk `order[i]`, so that no data
    /// moves. `chunks` are the cuts of this ownership.
    ///
    /// # Errors
    /// * [`LayoutError::ChunkCount`]: `chunks` or `order` has another number of chunks.
    /// * [`LayoutError::NotAPermutation`]: `order` is not a permutation of the chunks.
    /// * [`LayoutError::UnequalChunks`]: the chunks of a buffer have different extents.
    /// * [`LayoutError::NoSuchRank`]: the ownership has no ranks.
    pub fn reassigned(&self, order: &[ChunkId], chunks: &Chunks) -> Result<Self, LayoutError> {
        let count = self.chunks();
        if chunks.count() != count {
            return Err(LayoutError::ChunkCount { what: "the ownership", given: count, expected: chunks.count() });
        }
        if order.len() != count {
            return Err(LayoutError::ChunkCount { what: "the re-arrangement", given: order.len(), expected: count });
        }
        if self.ranks == 0 {
            return Err(LayoutError::NoSuchRank { chunk: 0, rank: 0, ranks: 0 });
        }
        let mut is_listed = vec![false; count];
        for (position, &chunk) in order.iter().enumerate() {
            let problem = match is_listed.get(chunk) {
                None => "does not exist",
                Some(true) => "was named before",
                Some(false) => {
                    is_listed[chunk] = true;
                    let (extents, other_extents) = (chunks.region(position).extents(), chunks.region(chunk).extents());
                    if extents != other_extents {
                        let (extents, other_extents) = (extents.to_string(), other_extents.to_string());
                        return Err(LayoutError::UnequalChunks {
                            chunk: position,
                            extents,
                            other: chunk,
                            other_extents,
                        });
                    }
                    continue;
                }
            };
            return Err(LayoutError::NotAPermutation { position, chunk, problem, count });
        }
        Ok(Self::from_owners(self.ranks, order.iter().map(|&chunk| self.owner(chunk)).collect()))
    }

    fn from_owners(ranks: usize, owners: Vec<Owner>) -> Self {
        let mut first = vec![0; ranks + 1];
        owners.iter().for_each(|owner| first[owner.rank + 1] += 1);
        (0..ranks).for_each(|rank| first[rank + 1] += first[rank]);
        let mut chunks = vec![0; owners.len()];
        owners.iter().enumerate().for_each(|(chunk, owner)| chunks[first[owner.rank] + owner.slot] = chunk);
        Self::from_map(ranks, OwnerMap::Table { owners, first, chunks })
    }

    fn from_map(ranks: usize, map: OwnerMap) -> Self {
        let mut hash = Fnv::default();
        (ranks, &map).hash(&mut hash);
        Self { ranks, map, fingerprint: hash.finish() }
    }

    /// Number of ranks.
    #[inline]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Number of chunks.
    #[inline]
    pub fn chunks(&self) -> usize {
        match &self.map {
            OwnerMap::Balanced { chunks } => *chunks,
            OwnerMap::Table { owners, .. } => owners.len(),
        }
    }

    /// Owner of a chunk.
    ///
    /// # Panics
    /// For a chunk that does not exist, and without ranks.
    #[inline]
    pub fn owner(&self, chunk: ChunkId) -> Owner {
        match &self.map {
            OwnerMap::Balanced { chunks } => {
                assert!(chunk < *chunks, "chunk {chunk} of {chunks}");
                let (size, longer) = (chunks / self.ranks, chunks % self.ranks);
                let longer_end = longer * (size + 1);
                let rank = if chunk < longer_end { chunk / (size + 1) } else { longer + (chunk - longer_end) / size };
                Owner { rank, slot: chunk - self.run(rank).start }
            }
            OwnerMap::Table { owners, .. } => owners[chunk],
        }
    }

    /// Returns the chunks of a rank in slot order. Empty for a rank that does not exist.
    pub fn of_rank(&self, rank: usize) -> impl ExactSizeIterator<Item = ChunkId> + Clone {
        if rank >= self.ranks {
            return OwnedChunks::List([].iter());
        }
        match &self.map {
            OwnerMap::Balanced { .. } => OwnedChunks::Range(self.run(rank)),
            OwnerMap::Table { first, chunks, .. } => OwnedChunks::List(chunks[first[rank]..first[rank + 1]].iter()),
        }
    }

    fn run(&self, rank: usize) -> std::ops::Range<usize> {
        let (size, longer) = (self.chunks() / self.ranks, self.chunks() % self.ranks);
        let start = |rank: usize| rank * size + rank.min(longer);
        start(rank)..start(rank + 1)
    }

    /// Hash of the content, equal on all ranks.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Writes owners as `rank`, or as `rank.slot` if a rank has several chunks.
impl Display for Ownership {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let OwnerMap::Table { owners, first, .. } = &self.map else {
            return write!(f, "in balanced runs over {} ranks", self.ranks);
        };
        let several = first.windows(2).any(|pair| pair[1] - pair[0] > 1);
        let text = |owner: &Owner| {
            if several { format!("{}.{}", owner.rank, owner.slot) } else { owner.rank.to_string() }
        };
        write_list(f, owners.iter().map(text), MAX_WRITTEN_ITEMS)?;
        if owners.len() > MAX_WRITTEN_ITEMS { write!(f, " #{:04x}", self.fingerprint as u16) } else { Ok(()) }
    }
}

impl PartialEq for Ownership {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || self.fingerprint == other.fingerprint && self.ranks == other.ranks && self.map == other.map
    }
}

impl Eq for Ownership {}

impl Hash for Ownership {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

/// Iterator over the chunks of a rank, from [`Ownership::of_rank`].
#[derive(Debug, Clone)]
enum OwnedChunks<'a> {
    Range(std::ops::Range<usize>),
    List(std::slice::Iter<'a, ChunkId>),
}

impl Iterator for OwnedChunks<'_> {
    type Item = ChunkId;
    fn next(&mut self) -> Option<ChunkId> {
        match self {
            Self::Range(range) => range.next(),
            Self::List(list) => list.next().copied(),
        }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Range(range) => range.size_hint(),
            Self::List(list) => list.size_hint(),
        }
    }
}

impl ExactSizeIterator for OwnedChunks<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Split};
    use proptest::prelude::*;

    fn chunks(sizes: Vec<i64>) -> Chunks {
        let total: i64 = sizes.iter().sum();
        Layout::new([total]).split([sizes.into()]).resolve(1, 4, u64::MAX).unwrap()
    }

    #[test]
    fn balanced_with_equal_counts_gives_each_rank_one_chunk() {
        let owners = Ownership::balanced(5, 5);
        assert!((0..5).all(|i| owners.owner(i) == Owner { rank: i, slot: 0 }));
        let few = Ownership::balanced(2, 5);
        assert_eq!((0..5).map(|rank| few.of_rank(rank).len()).collect::<Vec<_>>(), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn re_arrangement_keeps_rank_and_slot() {
        let cuts = chunks(vec![2; 5]);
        let owners = Ownership::table(vec![1, 0, 1, 2, 1], 4).unwrap();
        let order = [2, 0, 4, 1, 3];
        let other = owners.reassigned(&order, &cuts).unwrap();
        for (chunk, &former) in order.iter().enumerate() {
            assert_eq!(other.owner(chunk), owners.owner(former));
        }
        assert_eq!(other.of_rank(1).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!(other.of_rank(3).len(), 0);
        let same = owners.reassigned(&[0, 1, 2, 3, 4], &cuts).unwrap();
        assert_eq!(same, owners);
        assert_ne!(other, owners);
    }

    #[test]
    fn invalid_table_or_re_arrangement_is_refused_with_its_reason() {
        let cuts = chunks(vec![2, 3, 2]);
        let owners = Ownership::balanced(3, 2);
        let text = |order: &[usize]| owners.reassigned(order, &cuts).unwrap_err().to_string();
        assert!(text(&[0, 1]).contains("lists 2 chunks"));
        assert!(text(&[0, 1, 3]).contains("does not exist"));
        assert!(text(&[0, 1, 0]).contains("named before"));
        assert!(text(&[1, 0, 2]).contains("equal shape"));
        assert!(owners.reassigned(&[2, 1, 0], &cuts).is_ok());
        let error = Ownership::table(vec![0, 2], 2).unwrap_err();
        assert_eq!(error.to_string(), "chunk 1 is owned by rank 2, but there are 2 ranks");
        let even = Layout::new([7]).split([Split::Even(2)]).resolve(1, 4, u64::MAX).unwrap();
        assert!(matches!(owners.reassigned(&[0, 1, 2], &even), Err(LayoutError::ChunkCount { .. })));
    }

    proptest! {
        #[test]
        fn of_rank_inverts_owner(chunks in 0_usize..40, ranks in 1_usize..9, table in prop::collection::vec(0_usize..9, 40)) {
            let table: Vec<_> = table[..chunks].iter().map(|rank| rank % ranks).collect();
            for owners in [Ownership::balanced(chunks, ranks), Ownership::table(table, ranks).unwrap()] {
                let mut count = 0;
                for rank in 0..ranks {
                    for (slot, chunk) in owners.of_rank(rank).enumerate() {
                        prop_assert_eq!(owners.owner(chunk), Owner { rank, slot });
                        count += 1;
                    }
                }
                prop_assert_eq!(count, chunks);
            }
            let lengths: Vec<_> = (0..ranks).map(|rank| Ownership::balanced(chunks, ranks).of_rank(rank).len()).collect();
            prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
    }
}
