//! The arrays of all ranks.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::protocol::{ArrayEntry, ArrayRef, ChunkEntry, ElementType, GhostEntry, LastWrite, MOST_CHUNKS};
use super::told::told;
use crate::World;
use crate::array::ArrayCore;
use crate::error::Result;
use crate::history::Site;

/// What a rank tells of its arrays.
#[derive(Default, Serialize, Deserialize)]
struct Own {
    /// By the number of the array.
    global: BTreeMap<u64, Held>,
    local: Vec<ArrayEntry>,
}

/// What a rank has of a global array.
#[derive(Serialize, Deserialize)]
struct Held {
    bytes: u64,
    /// How often each of its chunks was written, in slot order.
    writes: Vec<u64>,
    last_write: Option<LastWrite>,
}

/// All arrays, on rank 0. Called by all ranks, inside of an operation.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn arrays(world: &World) -> Result<Option<Result<Vec<ArrayEntry>, String>>> {
    let mut own = Own::default();
    let (global, local) = world.alive_arrays();
    for array in &global {
        own.global.insert(array.id().0, held(array));
    }
    for array in &local {
        let rank = Some(world.rank() as u32);
        own.local.push(entry(array, ArrayRef { rank, number: array.id().0 }, &[held(array)], world.rank()));
    }
    let own = postcard::to_allocvec(&own).map_err(|error| error.to_string());
    let listed = |told: Result<Vec<Vec<u8>>, String>| {
        let damaged = |error: postcard::Error| format!("what a rank tells of its arrays makes no sense: {error}");
        let mut ranks: Vec<Own> =
            told?.iter().map(|bytes| postcard::from_bytes(bytes).map_err(damaged)).collect::<Result<_, _>>()?;
        let mut all = Vec::new();
        for array in &global {
            let number = array.id().0;
            // A rank that has dropped its handle tells nothing of it.
            let nothing = || Held { bytes: 0, writes: Vec::new(), last_write: None };
            let held: Vec<Held> =
                ranks.iter_mut().map(|own| own.global.remove(&number).unwrap_or_else(nothing)).collect();
            all.push(entry(array, ArrayRef { rank: None, number }, &held, 0));
        }
        all.extend(ranks.into_iter().flat_map(|own| own.local));
        // All of them have to fit a message.
        let mut left = 4 * MOST_CHUNKS;
        for entry in &mut all {
            match left.checked_sub(entry.chunks.len()) {
                Some(rest) => left = rest,
                None => entry.chunks.clear(),
            }
        }
        Ok(all)
    };
    Ok(told(world, own)?.map(listed))
}

/// What is known here of the ghost cells of all ranks' chunks, on rank 0. Called by all ranks, inside of an operation.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn ghosts(world: &World, array: ArrayRef) -> Result<Option<Result<Vec<GhostEntry>, String>>> {
    let own = own_ghosts(world, array).and_then(|own| postcard::to_allocvec(&own).map_err(|error| error.to_string()));
    let joined = |told: Result<Vec<Vec<u8>>, String>| {
        let mut all = Vec::new();
        for bytes in told? {
            let own: Vec<GhostEntry> = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
            all.extend(own);
        }
        Ok(all)
    };
    Ok(told(world, own)?.map(joined))
}

fn own_ghosts(world: &World, array: ArrayRef) -> Result<Vec<GhostEntry>, String> {
    if !world.is_checked() {
        return Err("which ghost cells are stale is known in checked runs only: start it with ZIPPY_CHECK=1".into());
    }
    if array.rank.is_some() {
        return Ok(Vec::new());
    }
    let array = world.numbered(None, array.number).ok_or("there is no such array any more")?;
    let Some(ghosts) = array.ghosts() else { return Ok(Vec::new()) };
    let states = ghosts.states().ok_or_else(|| {
        format!("the chunks of array {:?} have other neighbours in another handle, so nothing is known", array.name())
    })?;
    let entry = |(chunk, side, state)| GhostEntry { chunk: chunk as u64, side, state };
    Ok(states.into_iter().map(entry).collect())
}

fn held(array: &ArrayCore) -> Held {
    let histories: Vec<_> = array.owned().map(|chunk| array.history(chunk)).collect();
    let writes = histories.iter().map(|history| history.map_or(0, |history| history.writes())).collect();
    let last = histories.iter().flatten().filter_map(|history| history.last_writer()).max_by_key(Site::step);
    let last_write = last.map(|site| LastWrite {
        operation: site.operation(),
        file: site.call_site().file().to_string(),
        line: site.call_site().line(),
        step: site.step(),
    });
    Held { bytes: array.owned().map(|chunk| array.chunk_bytes(chunk)).sum(), writes, last_write }
}

/// An array, and what each rank that may own chunks has of it; `first_rank` owns those of the first.
fn entry(array: &Rc<ArrayCore>, named: ArrayRef, held: &[Held], first_rank: usize) -> ArrayEntry {
    let chunks = array.chunks();
    let listed = if chunks.count() > MOST_CHUNKS { 0 } else { chunks.count() };
    let chunk = |chunk: usize| {
        let (owner, region) = (array.ownership().owner(chunk), chunks.region(chunk));
        let writes = held.get(owner.rank).and_then(|held| held.writes.get(owner.slot));
        ChunkEntry {
            rank: (first_rank + owner.rank) as u32,
            start: region.start.to_vec(),
            end: region.end.to_vec(),
            writes: writes.copied().unwrap_or(0),
        }
    };
    ArrayEntry {
        array: named,
        name: array.name().to_string(),
        kind: array.kind(),
        element: ElementType::from(array.element()),
        shape: array.in_use().to_vec(),
        ghosts: [chunks.ghost_lo().to_vec(), chunks.ghost_hi().to_vec()],
        periodic: chunks.periodic().to_vec(),
        chunk_count: chunks.count() as u64,
        grid: chunks.grid().map(|grid| grid.iter().map(|&parts| parts as u64).collect()),
        chunks: (0..listed).map(chunk).collect(),
        bytes: held.iter().map(|held| held.bytes).sum(),
        writes: held.iter().flat_map(|held| &held.writes).copied().max().unwrap_or(0),
        last_write: held.iter().filter_map(|held| held.last_write.clone()).max_by_key(|write| write.step),
    }
}
