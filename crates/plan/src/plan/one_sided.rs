//! One-sided operations: parts of a request by owner ([`split`]), and execution order
//! ([`batches`]).

use crate::chunks::ChunkId;
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::ownership::Owner;
use crate::region::{Region, levels};

/// Part of a one-sided operation in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPart {
    /// Rank and slot of the chunk.
    pub owner: Owner,
    /// Index of the chunk.
    pub chunk: ChunkId,
    /// Cells of the part, in global coordinates.
    pub region: Region,
    /// The same cells relative to the first cell of the request.
    pub within: Region,
}

/// Cuts the region of a get, put or accumulate into its parts in chunks, in the order of (rank,
/// chunk). Local; the cost is proportional to the number of parts.
///
/// # Errors
/// [`PlanError::Region`]: the region is not inside the array.
pub fn split(placement: &Placement, region: &Region) -> Result<Vec<ChunkPart>, PlanError> {
    super::copy::check_region(region, placement, "the section")?;
    let back = Index::zeros(region.axes()) - region.start;
    let mut parts = Vec::new();
    placement.chunks().touching(region, |chunk, part| {
        let owner = placement.ownership().owner(chunk);
        parts.push(ChunkPart { owner, chunk, region: part, within: part.translate(&back) });
    });
    parts.sort_by_key(|part| (part.owner.rank, part.chunk));
    Ok(parts)
}

/// Access in a fence: an operation, or its part in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Rank that queued the operation.
    pub rank: usize,
    /// Index in the queue of that rank.
    pub sequence: u64,
    /// Id of the array, equal for the same data.
    pub array: u64,
    /// Cells of the access.
    pub region: Region,
    /// True for put and accumulate, false for get.
    pub writes: bool,
}

/// Execution order of a fence: batches of indices into `accesses`, each in the order of (rank,
/// sequence).
///
/// The accesses of a batch have no conflicts and can run concurrently. Successive batches have the
/// result of successive operations in the order of (rank, sequence). Cost: n log n, and the number
/// of overlaps between different regions.
pub fn batches(accesses: &[Access]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..accesses.len()).collect();
    order.sort_by_key(|&index| (accesses[index].rank, accesses[index].sequence, index));
    let sorted: Vec<_> =
        order.iter().map(|&index| (accesses[index].array, accesses[index].region, accesses[index].writes)).collect();
    let levels = levels(&sorted);
    let mut batches = vec![Vec::new(); levels.iter().max().map_or(0, |last| last + 1)];
    order.iter().zip(levels).for_each(|(&index, level)| batches[level].push(index));
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Split};
    use proptest::prelude::*;
    use std::sync::Arc;

    #[test]
    fn split_returns_rank_chunk_and_region_of_each_part() {
        let chunks = Layout::new([6, 4]).split([Split::Even(2), Split::Even(2)]).resolve(2, 4, u64::MAX).unwrap();
        let owners = crate::ownership::Ownership::table(vec![1, 0, 1, 0], 2).unwrap();
        let placement = Placement::new(Arc::new(chunks), Arc::new(owners)).unwrap();
        let parts = split(&placement, &Region::new(&[2, 1], &[5, 2]).unwrap()).unwrap();
        let text: Vec<_> = parts
            .iter()
            .map(|part| format!("{} {} {} {}", part.owner.rank, part.chunk, part.region, part.within))
            .collect();
        assert_eq!(text, ["0 1 [3..5, 1..2] [1..3, 0..1]", "1 0 [2..3, 1..2] [0..1, 0..1]"]);
        assert!(split(&placement, &Region::new(&[2, 1], &[7, 2]).unwrap()).is_err());
        assert!(split(&placement, &Region::new(&[2, 1], &[2, 1]).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn many_writes_of_one_cell_are_ordered_quickly() {
        let region = Region::new(&[3], &[4]).unwrap();
        let hot = |i: usize| Access { rank: i % 7, sequence: (i / 7) as u64, array: 0, region, writes: true };
        let accesses: Vec<_> = (0..20_000).map(hot).collect();
        let batches = batches(&accesses);
        assert_eq!(batches.len(), 20_000);
        assert!(batches.iter().zip(batches.iter().skip(1)).all(|(a, b)| {
            let key = |batch: &Vec<usize>| (accesses[batch[0]].rank, accesses[batch[0]].sequence);
            key(a) < key(b)
        }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn batches_keep_the_order_of_conflicts(
            list in prop::collection::vec((0_usize..4, 0_u64..2, 0_i64..10, 0_i64..4, any::<bool>()), 0..40)
        ) {
            let accesses: Vec<_> = list.iter().enumerate().map(|(i, &(rank, array, start, extent, writes))| {
                let region = Region::new(&[start], &[start + extent]).unwrap();
                Access { rank, sequence: i as u64, array, region, writes }
            }).collect();
            let mut state = [[0_usize; 16]; 2];
            let run = |index: usize, state: &mut [[usize; 16]; 2]| {
                let access = &accesses[index];
                let mut seen = Vec::new();
                for cell in access.region.points() {
                    let cell = &mut state[access.array as usize][cell[0] as usize];
                    if access.writes { *cell = *cell * 31 + index + 1 } else { seen.push(*cell) }
                }
                seen
            };
            let mut order: Vec<_> = (0..accesses.len()).collect();
            order.sort_by_key(|&i| (accesses[i].rank, accesses[i].sequence));
            let mut expected = vec![Vec::new(); accesses.len()];
            // Values are hashes of the order of writes.
            for &index in &order { expected[index] = run(index, &mut state).iter().map(|v| v % 1_000_003).collect(); state.iter_mut().flatten().for_each(|v| *v %= 1_000_003); }
            let last = state;
            state = [[0; 16]; 2];
            let batches = batches(&accesses);
            prop_assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), accesses.len());
            for batch in &batches {
                for (i, &a) in batch.iter().enumerate() {
                    for &b in &batch[..i] {
                        let (a, b) = (&accesses[a], &accesses[b]);
                        prop_assert!(a.array != b.array || !a.region.intersects(&b.region) || !(a.writes || b.writes));
                    }
                }
                for &index in batch.iter().rev() {
                    let seen: Vec<_> = run(index, &mut state).iter().map(|v| v % 1_000_003).collect();
                    prop_assert_eq!(&seen, &expected[index]);
                    state.iter_mut().flatten().for_each(|v| *v %= 1_000_003);
                }
            }
            prop_assert_eq!(state, last);
        }
    }
}
