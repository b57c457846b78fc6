//! One-sided operations: which rank holds what of a request, and in which order requests run.

use crate::chunks::ChunkId;
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::ownership::Owner;
use crate::region::{Region, levels};

/// A part of a one-sided operation's region that lies in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPart {
    /// Where the chunk is.
    pub owner: Owner,
    /// The chunk.
    pub chunk: ChunkId,
    /// The cells, global coordinates.
    pub region: Region,
    /// The same cells in the dense box of the request: relative to the request's first cell.
    pub within: Region,
}

/// Cuts the region of a get, put or accumulate into the parts that single chunks hold, in the order of
/// (rank, chunk). Costs what it finds.
///
/// # Errors
/// When the region leaves the array.
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

/// One access of a fence: an operation, or its part in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The rank that queued the operation.
    pub rank: usize,
    /// Its place in that rank's queue.
    pub sequence: u64,
    /// Which array: any number that is the same for the same data.
    pub array: u64,
    /// The cells.
    pub region: Region,
    /// Put and accumulate write; get does not.
    pub writes: bool,
}

/// The order in which a fence runs its operations: batches of indices into `accesses`, each in the order of
/// (rank, sequence). Within a batch nothing conflicts, so that it may run at once; running batch after batch has the
/// effect of running one operation after the other in the order of (rank, sequence).
///
/// Costs n log n and the overlaps between different regions.
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
    fn parts_name_rank_chunk_and_place_in_the_request() {
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
    fn a_hot_cell_is_cheap_and_fully_ordered() {
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
            // Wrapping hashes of the order of writes stand for the values.
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
                // Backwards within a batch: must not matter.
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
