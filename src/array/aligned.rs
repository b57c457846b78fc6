//! Alignment of sections with equal extents: boxes of this rank with corresponding cells.

use std::rc::Rc;

use super::core::ArrayCore;
use crate::chunks::ChunkId;
use crate::error::{ArrayError, PlanError, Result};
use crate::region::Region;

/// Section without its static element type: of a global array (the same on every rank), or of one
/// chunk of this rank.
#[derive(Debug, Clone)]
pub(crate) struct UntypedSection {
    pub core: Rc<ArrayCore>,
    pub region: Region,
    /// Chunk of a local section; `None` for a global section.
    pub chunk: Option<ChunkId>,
}

/// Boxes of equal extents whose cells correspond, one box per section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlignedBoxes(pub Vec<(ChunkId, Region)>);

impl UntypedSection {
    fn label(&self) -> String {
        self.core.label(&self.region)
    }

    /// Chunks with cells of `region`, each with its part of the region.
    fn chunks_with_parts(&self, region: &Region) -> Vec<(ChunkId, Region)> {
        match self.chunk {
            Some(chunk) => vec![(chunk, *region)],
            None => {
                let mut found = Vec::new();
                self.core.chunks().touching(region, |chunk, part| found.push((chunk, part)));
                found
            }
        }
    }

    /// Rank that owns a chunk; for a local section, this rank.
    fn owner(&self, chunk: ChunkId) -> usize {
        if self.chunk.is_some() { self.core.rank() } else { self.core.ownership().owner(chunk).rank }
    }
}

/// Splits sections of equal extents into aligned boxes, and returns those of this rank. For global
/// sections, every rank checks all chunks, so that all ranks return the same error.
///
/// # Errors
/// * The sections have different extents.
/// * Some sections are global and others local.
/// * Corresponding cells belong to different ranks.
pub(crate) fn align_sections(verb: &str, sections: &[UntypedSection]) -> Result<Vec<AlignedBoxes>> {
    let Some((first, rest)) = sections.split_first() else { return Ok(Vec::new()) };
    for section in rest {
        if section.region.extents() != first.region.extents() {
            return Err(PlanError::extents(
                section.label(),
                section.region.extents(),
                first.label(),
                first.region.extents(),
            )
            .into());
        }
        if section.chunk.is_some() != first.chunk.is_some() {
            let (a, b) = (first.label(), section.label());
            let text = format!("{verb} takes either global sections or local ones, not both: {a} and {b}");
            return Err(ArrayError::Other(text).into());
        }
    }
    if first.region.is_empty() {
        return Ok(Vec::new());
    }
    // A single section has no corresponding cells on other ranks: this rank's chunks suffice.
    let single = rest.is_empty() && first.chunk.is_none();
    let owned = |chunk| Some((chunk, first.core.chunks().region(chunk).intersect(&first.region)?));
    let found =
        if single { first.core.owned().filter_map(owned).collect() } else { first.chunks_with_parts(&first.region) };
    let mut all: Vec<Vec<(ChunkId, Region)>> = found.into_iter().map(|found| vec![found]).collect();
    for section in rest {
        let offset = section.region.start - first.region.start;
        let mut refined = Vec::new();
        for boxes in all {
            let (chunk, lead_part) = boxes[0];
            for (other, part) in section.chunks_with_parts(&lead_part.translate(&offset)) {
                let (here, there) = (first.owner(chunk), section.owner(other));
                if here != there {
                    return Err(different_ranks_error(verb, (first, lead_part, here), (section, part, there)).into());
                }
                let shift = part.start - offset - lead_part.start;
                let cut =
                    |&(chunk, region): &(ChunkId, Region)| (chunk, Region::at(region.start + shift, part.extents()));
                let mut smaller: Vec<_> = boxes.iter().map(cut).collect();
                smaller.push((other, part));
                refined.push(smaller);
            }
        }
        all = refined;
    }
    let mine = |boxes: &Vec<(ChunkId, Region)>| first.owner(boxes[0].0) == first.core.rank();
    Ok(all.into_iter().filter(mine).map(AlignedBoxes).collect())
}

/// Error for corresponding cells on different ranks.
fn different_ranks_error(
    verb: &str,
    first: (&UntypedSection, Region, usize),
    other: (&UntypedSection, Region, usize),
) -> ArrayError {
    ArrayError::Apart {
        verb: verb.to_string(),
        array: first.0.core.name().to_string(),
        cell: first.1.start,
        rank: first.2,
        other: other.0.core.name().to_string(),
        other_cell: other.1.start,
        other_rank: other.2,
    }
}
