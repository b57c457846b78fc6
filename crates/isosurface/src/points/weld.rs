//! Numbers of ghost points: each owner sends them to the users of its border.
//!
//! Both sides have bit-identical samples of a border and list its points in the same order.
//! Messages contain numbers, and a hash of the positions for verification.

use std::collections::{BTreeMap, HashMap};

use zippy::chunks::{ChunkId, Chunks};
use zippy::extents::Index;
use zippy::ownership::Ownership;
use zippy::region::Region;
use zippy::{Result, World};

use super::chunk_points::{ChunkPoints, Layer};
use super::numbering::Directions;
use crate::error::IsosurfaceError;
use crate::field::bricked_chunk::BrickedChunk;
use crate::messages::exchange;

/// Samples of one chunk that another chunk uses.
struct Border {
    user: ChunkId,
    owner: ChunkId,
    samples: Region,
    /// Samples that the user can reach.
    reach: Region,
}

fn reach(chunks: &Chunks, chunk: ChunkId) -> Region {
    let (own, shape) = (chunks.region(chunk), chunks.shape());
    Region::between(own.start, Index::from_fn(3, |axis| (own.end[axis] + 1).min(shape[axis])))
}

/// Borders of a chunk as a user or as the owner of their samples.
fn borders(chunks: &Chunks, chunk: ChunkId, as_user: bool) -> Vec<Border> {
    let own = chunks.region(chunk);
    let mut found = Vec::new();
    if own.is_empty() {
        return found;
    }
    let one = Index::from_fn(3, |_| 1);
    let within = if as_user { reach(chunks, chunk) } else { own.grow(&one, &Index::from_fn(3, |_| 0)) };
    let bounds = chunks.whole();
    chunks.touching(&within.intersect(&bounds).unwrap_or(own), |other, _| {
        let (user, owner) = if as_user { (chunk, other) } else { (other, chunk) };
        let reach = reach(chunks, user);
        if let Some(samples) = reach.intersect(&chunks.region(owner)).filter(|_| other != chunk) {
            found.push(Border { user, owner, samples, reach });
        }
    });
    found
}

/// Points of a border in the order that both sides share.
struct BorderPoints {
    numbers: Vec<u32>,
    /// FNV-1a hash of positions: samples in the border, and directions.
    positions: u64,
}

/// Points of a border, sorted by sample and kind, because both sides have different bricks.
fn points<const K: usize>(
    border: &Border,
    (part, layer): (&BrickedChunk, &Layer<K>),
    directions: Directions<K>,
) -> BorderPoints {
    let in_part = |at: Index| std::array::from_fn::<i64, 3, _>(|axis| at[axis] - part.start[axis]);
    let (low, end, limit) = (in_part(border.samples.start), in_part(border.samples.end), in_part(border.reach.end));
    let [first, last] = [low, end.map(|at| at - 1)].map(|sample| part.brick_of(sample).0);
    let mut found: Vec<(i64, u32)> = Vec::new();
    for at in Region::between(Index::new(&first), Index::new(&last.map(|brick| brick + 1))).points() {
        let at = [at[0], at[1], at[2]];
        let Some(brick) = layer.numbering.brick(part, at) else { continue };
        let start = part.samples(at).start;
        for (kind, direction) in directions.into_iter().enumerate() {
            // Both ends are samples that the user reaches.
            let end = std::array::from_fn(|axis| end[axis].min(limit[axis] - i64::from(direction >> axis & 1)));
            let span = [low, end].map(|at| std::array::from_fn(|axis| at[axis] - start[axis]));
            brick.within(kind, span, |at, number| {
                let from_low = |axis: usize| start[axis] + at[axis] as i64 - low[axis];
                let extent = |axis: usize| border.samples.end[axis] - border.samples.start[axis];
                let place = from_low(0) + extent(0) * (from_low(1) + extent(1) * from_low(2));
                found.push((place * K as i64 + kind as i64, number));
            });
        }
    }
    found.sort_unstable();
    let mixed = |hash: u64, &(position, _): &(i64, u32)| (hash ^ position as u64).wrapping_mul(0x0100_0000_01b3);
    let positions = found.iter().fold(0xcbf2_9ce4_8422_2325, mixed);
    BorderPoints { numbers: found.into_iter().map(|(_, number)| number).collect(), positions }
}

/// Numbers of this rank's ghost points in each whole mesh. `before`: points of each mesh that lower
/// ranks own. Collective; one exchange for all meshes.
pub(crate) fn ghosts<const K: usize>(
    world: &World,
    (chunks, owners): (&Chunks, &Ownership),
    chunk_points: &[ChunkPoints<K>],
    directions: Directions<K>,
    before: &[u64],
) -> Result<Vec<Vec<u64>>> {
    let pieces_by_chunk: HashMap<ChunkId, &ChunkPoints<K>> =
        chunk_points.iter().map(|piece| (piece.chunk, piece)).collect();
    // In an order that both sides of a border share.
    let all = |as_user: bool| {
        let mut all: Vec<Border> =
            chunk_points.iter().flat_map(|piece| borders(chunks, piece.chunk, as_user)).collect();
        all.sort_by_key(|border| (border.user, border.owner));
        all
    };
    let mut messages: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for border in all(false) {
        let numbers = messages.entry(owners.owner(border.user).rank).or_default();
        let owner = pieces_by_chunk[&border.owner];
        for (layer, before) in owner.layers.iter().zip(before) {
            let first = before + layer.before[0];
            let points = points(&border, (&owner.part, layer), directions);
            numbers.extend([points.numbers.len() as u64, points.positions]);
            numbers.extend(points.numbers.into_iter().map(|number| first + u64::from(number)));
        }
    }
    let mut received = exchange(world, messages)?;
    let mut received: BTreeMap<usize, _> =
        received.iter_mut().map(|(&rank, numbers)| (rank, numbers.drain(..))).collect();
    let count = |mesh: usize| chunk_points.iter().map(|piece| piece.layers[mesh].numbering.ghosts as usize).sum();
    let mut ghosts: Vec<Vec<u64>> = (0..before.len()).map(|mesh| vec![0; count(mesh)]).collect();
    for border in all(true) {
        let user = pieces_by_chunk[&border.user];
        let mut received = received.get_mut(&owners.owner(border.owner).rank);
        for (layer, ghosts) in user.layers.iter().zip(&mut ghosts) {
            let mut next = || received.as_mut().and_then(|received| received.next()).unwrap_or(0);
            let (found, positions) = (next(), next());
            let points = points(&border, (&user.part, layer), directions);
            let expected = points.numbers.len() as u64;
            if (expected, points.positions) != (found, positions) {
                return Err(IsosurfaceError::Border { of: border.owner, to: border.user, found, expected }.into());
            }
            for (ghost, number) in
                points.numbers.into_iter().zip(received.iter_mut().flat_map(|received| received.by_ref()))
            {
                ghosts[(layer.before[1] + u64::from(ghost)) as usize] = number;
            }
        }
    }
    Ok(ghosts)
}
