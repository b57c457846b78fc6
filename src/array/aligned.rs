//! Alignment of equally shaped sections: the boxes of this rank whose cells correspond.

use std::rc::Rc;

use super::core::ArrayCore;
use crate::chunks::ChunkId;
use crate::error::{ArrayError, PlanError, Result};
use crate::region::Region;

/// A section of a global array (the same on every rank), or a section of one local chunk.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub core: Rc<ArrayCore>,
    pub region: Region,
    /// The chunk, if the section is local.
    pub chunk: Option<ChunkId>,
}

/// Boxes of equal extents with corresponding cells, one box per section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aligned(pub Vec<(ChunkId, Region)>);

impl Side {
    fn label(&self) -> String {
        self.core.label(&self.region)
    }

    /// The chunks that hold cells of `region`, each with its part of the region.
    fn touching(&self, region: &Region) -> Vec<(ChunkId, Region)> {
        match self.chunk {
            Some(chunk) => vec![(chunk, *region)],
            None => {
                let mut found = Vec::new();
                self.core.chunks().touching(region, |chunk, part| found.push((chunk, part)));
                found
            }
        }
    }

    /// The rank that owns a chunk; for a local section, this rank.
    fn owner(&self, chunk: ChunkId) -> usize {
        if self.chunk.is_some() { self.core.rank() } else { self.core.ownership().owner(chunk).rank }
    }
}

/// Splits equally shaped sections into aligned boxes and returns those of this rank. For global
/// sections, every rank checks all chunks, so that all ranks return the same error.
///
/// # Errors
/// * The sections have different extents.
/// * Some sections are global and others local.
/// * Corresponding cells belong to different ranks.
pub(crate) fn aligned(verb: &str, sides: &[Side]) -> Result<Vec<Aligned>> {
    let Some((lead, rest)) = sides.split_first() else { return Ok(Vec::new()) };
    for side in rest {
        if side.region.extents() != lead.region.extents() {
            return Err(
                PlanError::extents(side.label(), side.region.extents(), lead.label(), lead.region.extents()).into()
            );
        }
        if side.chunk.is_some() != lead.chunk.is_some() {
            let (a, b) = (lead.label(), side.label());
            let text = format!("{verb} takes either global sections or local ones, not both: {a} and {b}");
            return Err(ArrayError::Other(text).into());
        }
    }
    if lead.region.is_empty() {
        return Ok(Vec::new());
    }
    // A single section has no corresponding cells on another rank: only this rank's chunks matter.
    let alone = rest.is_empty() && lead.chunk.is_none();
    let owned = |chunk| Some((chunk, lead.core.chunks().region(chunk).intersect(&lead.region)?));
    let found = if alone { lead.core.owned().filter_map(owned).collect() } else { lead.touching(&lead.region) };
    let mut all: Vec<Vec<(ChunkId, Region)>> = found.into_iter().map(|found| vec![found]).collect();
    for side in rest {
        let offset = side.region.start - lead.region.start;
        let mut refined = Vec::new();
        for boxes in all {
            let (chunk, of_lead) = boxes[0];
            for (other, part) in side.touching(&of_lead.translate(&offset)) {
                let (here, there) = (lead.owner(chunk), side.owner(other));
                if here != there {
                    return Err(apart(verb, (lead, of_lead, here), (side, part, there)).into());
                }
                let shift = part.start - offset - of_lead.start;
                let cut =
                    |&(chunk, region): &(ChunkId, Region)| (chunk, Region::at(region.start + shift, part.extents()));
                let mut smaller: Vec<_> = boxes.iter().map(cut).collect();
                smaller.push((other, part));
                refined.push(smaller);
            }
        }
        all = refined;
    }
    let mine = |boxes: &Vec<(ChunkId, Region)>| lead.owner(boxes[0].0) == lead.core.rank();
    Ok(all.into_iter().filter(mine).map(Aligned).collect())
}

/// The error for corresponding cells on different ranks.
fn apart(verb: &str, lead: (&Side, Region, usize), other: (&Side, Region, usize)) -> ArrayError {
    ArrayError::Apart {
        verb: verb.to_string(),
        array: lead.0.core.name().to_string(),
        cell: lead.1.start,
        rank: lead.2,
        other: other.0.core.name().to_string(),
        other_cell: other.1.start,
        other_rank: other.2,
    }
}
