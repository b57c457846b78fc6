//! Plans between a global array and local arrays, each rank naming its own section.
//!
//! A rank's local section is known to that rank alone, so the requests are exchanged first: a list of
//! [`LocalSection`]s that holds at least those of this rank and those that touch chunks of this rank, each rank's
//! in the order in which it named them.

use super::build::Builder;
use super::copy::{check_rank, check_region};
use super::{Move, RankPlan, matching};
use crate::error::PlanError;
use crate::locate::Placement;
use crate::region::Region;

/// What one rank asks for. A rank may ask more than once; all its sections are of the same local array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocalSection {
    /// The rank whose local array it is.
    pub rank: usize,
    /// Cells of the global array.
    pub global: Region,
    /// The cells of the local array that they go to or come from, in its own coordinates.
    pub local: Region,
}

/// Copies sections of a global array (array 0) into the ranks' local arrays (array 1, chunk 0).
///
/// Sections of one rank that share local cells are applied in the order of the list. Messages are scheduled by
/// rank difference. Costs the length of the list and what `rank` holds of it.
///
/// # Errors
/// When a section leaves the global array, extents differ, or a rank does not exist.
pub fn to_local(global: &Placement, sections: &[LocalSection], rank: usize) -> Result<RankPlan, PlanError> {
    plan(global, sections, rank, true)
}

/// Copies sections of the ranks' local arrays (array 1, chunk 0) into a global array (array 0).
///
/// Where sections share global cells they are applied in the order of (rank, place in the list), so that the
/// last one remains. Cost and schedule as [`to_local`].
///
/// # Errors
/// When a section leaves the global array, extents differ, or a rank does not exist.
pub fn from_local(global: &Placement, sections: &[LocalSection], rank: usize) -> Result<RankPlan, PlanError> {
    plan(global, sections, rank, false)
}

fn plan(global: &Placement, sections: &[LocalSection], rank: usize, fetch: bool) -> Result<RankPlan, PlanError> {
    let ranks = global.ranks();
    check_rank(rank, ranks)?;
    for section in sections {
        check_rank(section.rank, ranks)?;
        check_region(&section.global, global, "the global section")?;
        let (given, local) = (section.global.extents(), section.local.extents());
        if given != local {
            let (from, to) = (section.global.to_string(), section.local.to_string());
            let (src, dst) = if fetch { (from, to) } else { (to, from) };
            let (src_extents, dst_extents) = if fetch { (given, local) } else { (local, given) };
            return Err(PlanError::Extents { src, src_extents, dst, dst_extents, permuted: None });
        }
    }
    // Ranks may know different parts of the list, so places differ, but not the order in which they stand.
    let mut builder = Builder::new(rank);
    for (place, section) in sections.iter().enumerate() {
        let mut step = |chunk: usize, part: Region, incoming: bool, peer: usize| {
            let local = part.translate(&(section.local.start - section.global.start));
            let this = match fetch {
                true => Move { src_array: 0, src_chunk: chunk, src: part, dst_array: 1, dst_chunk: 0, dst: local },
                false => Move { src_array: 1, src_chunk: 0, src: local, dst_array: 0, dst_chunk: chunk, dst: part },
            };
            let key = (section.rank, place, chunk);
            if incoming { builder.receive(peer, key, this) } else { builder.send(peer, key, this) }
        };
        let owner = |chunk: usize| global.ownership().owner(chunk).rank;
        if section.rank == rank {
            // All parts of my own section, local ones (counted by sending) included.
            global.chunks().touching(&section.global, |chunk, part| {
                let other = owner(chunk);
                step(chunk, part, fetch && other != rank, other);
            });
        } else {
            for (chunk, held) in global.held_by(rank) {
                if let Some(part) = held.intersect(&section.global) {
                    step(chunk, part, !fetch, section.rank);
                }
            }
        }
    }
    let round = |from, to, _: &[_]| matching::round_by_difference(from, to, ranks).unwrap_or(0);
    Ok(builder.finish(ranks - 1, true, round))
}
