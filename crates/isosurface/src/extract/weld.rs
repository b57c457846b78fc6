//! Numbers of ghost vertices: each owner tells those that use its border.
//!
//! Both sides know the samples of a border with the same bits, so both list its crossed edges in the same order, and only
//! numbers travel.

use zippy::chunks::{ChunkId, Chunks};
use zippy::extents::Index;
use zippy::ownership::Ownership;
use zippy::region::Region;
use zippy::transport::{copied, values};
use zippy::{Result, World};

use super::crossed::Crossed;
use super::part::Part;
use crate::error::IsosurfaceError;

/// A chunk of this rank with what a surface crosses there.
pub struct Piece {
    pub chunk: ChunkId,
    pub part: Part,
    pub crossed: Crossed,
    /// How many own vertices, and how many ghosts, of this rank's earlier chunks there are.
    pub before: [u64; 2],
}

/// Samples of one chunk that another one uses.
struct Border {
    user: ChunkId,
    owner: ChunkId,
    samples: Region,
    /// What the user can reach.
    reach: Region,
}

fn reach(chunks: &Chunks, chunk: ChunkId) -> Region {
    let (own, shape) = (chunks.region(chunk), chunks.shape());
    Region::between(own.start, Index::from_fn(3, |axis| (own.end[axis] + 1).min(shape[axis])))
}

/// The borders of a chunk: those whose samples it uses, or those whose samples it has.
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

/// Calls `f` with the number of each crossed edge of a border, in the order that both sides share.
fn crossed_edges(border: &Border, piece: &Piece, mut f: impl FnMut(u32)) {
    for sample in border.samples.points() {
        for axis in 0..3 {
            if sample[axis] + 1 < border.reach.end[axis] {
                let place = std::array::from_fn(|axis| sample[axis] - piece.part.start[axis]);
                piece.crossed.vertex(&piece.part, axis, place).into_iter().for_each(&mut f);
            }
        }
    }
}

/// The numbers of this rank's ghost vertices in the whole mesh. `vertices_before`: how many vertices lower ranks own.
/// Collective.
///
/// # Errors
/// Two ranks see different samples.
pub fn ghosts(
    world: &World,
    (chunks, owners): (&Chunks, &Ownership),
    pieces: &[Piece],
    vertices_before: u64,
) -> Result<Vec<u64>> {
    let piece = |chunk: ChunkId| pieces.iter().find(|piece| piece.chunk == chunk).expect("of this rank");
    let all = |as_user: bool| {
        let of = pieces.iter().flat_map(|piece| borders(chunks, piece.chunk, as_user));
        let mut all: Vec<(usize, Border)> =
            of.map(|border| (owners.owner(if as_user { border.owner } else { border.user }).rank, border)).collect();
        all.sort_by_key(|(rank, border)| (*rank, border.user, border.owner));
        all
    };
    let mut messages: Vec<(usize, Vec<u64>)> = Vec::new();
    for (rank, border) in all(false) {
        if messages.last().is_none_or(|(last, _)| *last != rank) {
            messages.push((rank, Vec::new()));
        }
        let numbers = &mut messages.last_mut().expect("just made").1;
        let (start, owner) = (numbers.len(), piece(border.owner));
        numbers.push(0);
        let first = vertices_before + owner.before[0];
        crossed_edges(&border, owner, |number| numbers.push(first + u64::from(number)));
        numbers[start] = (numbers.len() - start - 1) as u64;
    }
    let mut own: Vec<(usize, Vec<u64>)> = messages.extract_if(.., |(rank, _)| *rank == world.rank()).collect();
    let sent = messages.into_iter().map(|(rank, numbers)| (rank, copied(&numbers))).collect();
    for (rank, payload) in world.group().sparse_exchange(sent)? {
        own.push((rank, values(&payload)?));
    }
    let mut ghosts = vec![0; pieces.iter().map(|piece| piece.crossed.ghosts as usize).sum()];
    let mut read: Vec<(usize, std::vec::IntoIter<u64>)> =
        own.into_iter().map(|(rank, numbers)| (rank, numbers.into_iter())).collect();
    for (rank, border) in all(true) {
        let told = read.iter_mut().find(|(from, _)| *from == rank).map(|(_, numbers)| numbers);
        let Some(told) = told else { continue };
        let (user, found) = (piece(border.user), told.next().unwrap_or(0));
        let numbers: Vec<u64> = told.by_ref().take(found as usize).collect();
        let (mut numbers, mut expected) = (numbers.into_iter(), 0);
        crossed_edges(&border, user, |ghost| {
            expected += 1;
            if let Some(number) = numbers.next() {
                ghosts[(user.before[1] + u64::from(ghost)) as usize] = number;
            }
        });
        if expected != found {
            return Err(IsosurfaceError::Border { of: border.owner, to: border.user, found, expected }.into());
        }
    }
    Ok(ghosts)
}
