//! Lists of the arrays and the ghost cells of all ranks.
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use zippy_protocol::{ArrayEntry, ArrayRef, ChunkEntry, ElementType, GhostEntry, LastWrite, MOST_CHUNKS};

use super::reports::gather_reports;
use crate::World;
use crate::array::ArrayCore;
use crate::error::Result;
use crate::history::Site;

/// One rank's report of its arrays.
#[derive(Default, Serialize, Deserialize)]
struct RankArrays {
    /// The rank's share of each global array, by array number.
    global: BTreeMap<u64, RankShare>,
    local: Vec<ArrayEntry>,
}

#[derive(Serialize, Deserialize)]
struct RankShare {
    bytes: u64,
    /// Number of writes of each chunk of the rank, in slot order.
    writes: Vec<u64>,
    last_write: Option<LastWrite>,
}

/// Lists all arrays, on rank 0; the other ranks return `None`. All ranks must call it, inside a
/// collective operation.
pub(super) fn list_arrays(world: &World) -> Result<Option<Result<Vec<ArrayEntry>, String>>> {
    let mut report = RankArrays::default();
    let (global, local) = world.alive_arrays();
    for array in &global {
        report.global.insert(array.id().0, rank_share(array));
    }
    for array in &local {
        let rank = Some(world.rank() as u32);
        report.local.push(array_entry(
            array,
            ArrayRef { rank, number: array.id().0 },
            &[rank_share(array)],
            world.rank(),
        ));
    }
    let report = postcard::to_allocvec(&report).map_err(|error| error.to_string());
    let list = |reports: Result<Vec<Vec<u8>>, String>| {
        let damaged = |error: postcard::Error| format!("the report of a rank about its arrays is invalid: {error}");
        let mut ranks: Vec<RankArrays> =
            reports?.iter().map(|bytes| postcard::from_bytes(bytes).map_err(damaged)).collect::<Result<_, _>>()?;
        let mut all = Vec::new();
        for array in &global {
            let number = array.id().0;
            // A rank that has dropped its handle reports nothing about the array.
            let nothing = || RankShare { bytes: 0, writes: Vec::new(), last_write: None };
            let shares: Vec<RankShare> =
                ranks.iter_mut().map(|rank| rank.global.remove(&number).unwrap_or_else(nothing)).collect();
            all.push(array_entry(array, ArrayRef { rank: None, number }, &shares, 0));
        }
        all.extend(ranks.into_iter().flat_map(|rank| rank.local));
        // All entries must fit into one message.
        let mut chunks_left = 4 * MOST_CHUNKS;
        for entry in &mut all {
            match chunks_left.checked_sub(entry.chunks.len()) {
                Some(rest) => chunks_left = rest,
                None => entry.chunks.clear(),
            }
        }
        Ok(all)
    };
    Ok(gather_reports(world, report)?.map(list))
}

/// Lists the ghost state of each side of an array's chunks on all ranks, on rank 0; the other ranks
/// return `None`. All ranks must call it, inside a collective operation.
pub(super) fn list_ghost_states(world: &World, array: ArrayRef) -> Result<Option<Result<Vec<GhostEntry>, String>>> {
    let report =
        rank_ghosts(world, array).and_then(|report| postcard::to_allocvec(&report).map_err(|error| error.to_string()));
    let join = |reports: Result<Vec<Vec<u8>>, String>| {
        let mut all = Vec::new();
        for bytes in reports? {
            let report: Vec<GhostEntry> = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
            all.extend(report);
        }
        Ok(all)
    };
    Ok(gather_reports(world, report)?.map(join))
}

fn rank_ghosts(world: &World, array: ArrayRef) -> Result<Vec<GhostEntry>, String> {
    if !world.is_checked() {
        return Err(
            "the state of ghost cells is known in checked runs only: start the program with ZIPPY_CHECK=1".into()
        );
    }
    if array.rank.is_some() {
        return Ok(Vec::new());
    }
    let array = world.array_by_number(None, array.number).ok_or("there is no such array any more")?;
    let Some(ghosts) = array.ghosts() else { return Ok(Vec::new()) };
    let states = ghosts.states().ok_or_else(|| {
        let name = array.name();
        format!(
            "the chunks of array {name:?} have other neighbours in another handle: the state of ghost cells is unknown"
        )
    })?;
    let entry = |(chunk, side, state)| GhostEntry { chunk: chunk as u64, side, state };
    Ok(states.into_iter().map(entry).collect())
}

fn rank_share(array: &ArrayCore) -> RankShare {
    let histories: Vec<_> = array.owned().map(|chunk| array.history(chunk)).collect();
    let writes = histories.iter().map(|history| history.map_or(0, |history| history.writes())).collect();
    let last = histories.iter().flatten().filter_map(|history| history.last_writer()).max_by_key(Site::step);
    let last_write = last.map(|site| LastWrite {
        operation: site.operation(),
        file: site.call_site().file().to_string(),
        line: site.call_site().line(),
        step: site.step(),
    });
    RankShare { bytes: array.owned().map(|chunk| array.chunk_bytes(chunk)).sum(), writes, last_write }
}

/// Builds the entry of an array. `shares` has one share per rank, from rank `first_rank` on.
fn array_entry(array: &Rc<ArrayCore>, array_ref: ArrayRef, shares: &[RankShare], first_rank: usize) -> ArrayEntry {
    let chunks = array.chunks();
    let listed_chunks = if chunks.count() > MOST_CHUNKS { 0 } else { chunks.count() };
    let chunk = |chunk: usize| {
        let (owner, region) = (array.ownership().owner(chunk), chunks.region(chunk));
        let writes = shares.get(owner.rank).and_then(|share| share.writes.get(owner.slot));
        ChunkEntry {
            rank: (first_rank + owner.rank) as u32,
            start: region.start.to_vec(),
            end: region.end.to_vec(),
            writes: writes.copied().unwrap_or(0),
        }
    };
    ArrayEntry {
        array: array_ref,
        name: array.name().to_string(),
        kind: array.kind(),
        element: ElementType::from(array.element()),
        shape: array.in_use().to_vec(),
        ghosts: [chunks.ghost_lo().to_vec(), chunks.ghost_hi().to_vec()],
        periodic: chunks.periodic().to_vec(),
        chunk_count: chunks.count() as u64,
        grid: chunks.grid().map(|grid| grid.iter().map(|&parts| parts as u64).collect()),
        chunks: (0..listed_chunks).map(chunk).collect(),
        bytes: shares.iter().map(|share| share.bytes).sum(),
        writes: shares.iter().flat_map(|share| &share.writes).copied().max().unwrap_or(0),
        last_write: shares.iter().filter_map(|share| share.last_write.clone()).max_by_key(|write| write.step),
    }
}
