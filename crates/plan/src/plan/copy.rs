//! [`copy`]: plan of a copy or a composite, which moves the same boxes.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::build::{Builder, Written};
use super::{Move, RankPlan, matching};
use crate::chunks::ChunkId;
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::{Region, RegionTree};

const MAX_PAIRS: usize = 1 << 18;

/// Copy between regions inside two arrays, or inside one array.
#[derive(Debug, Clone, Copy)]
pub struct CopySpec<'a> {
    /// Source array, array 0 of the plan.
    pub src: &'a Placement,
    /// Region of the source array.
    pub src_region: Region,
    /// Destination array, array 1 of the plan.
    pub dst: &'a Placement,
    /// Region of the destination array.
    pub dst_region: Region,
    /// True if both arrays have the same data: one array, or its re-arrangements.
    pub aliased: bool,
    /// Axis `i` of the destination is axis `permutation[i]` of the source; `None` is the identity.
    pub permutation: Option<&'a [usize]>,
}

/// Plan of `rank` for a copy.
///
/// Every rank with cells of one of the regions must build the plan with the same arguments. Local;
/// the cost is proportional to the chunks of the rank and its peers. A rank with messages also
/// visits up to 2¹⁶ edges of the graph of ranks: smaller graphs are scheduled by matching, larger
/// graphs by rank difference.
///
/// # Errors
/// * [`PlanError::Axes`], [`PlanError::Ranks`]: the arrays have different numbers of axes or ranks.
/// * [`PlanError::NoSuchRank`]: `rank` does not exist.
/// * [`PlanError::Permutation`]: the permutation is invalid.
/// * [`PlanError::Region`]: a region is not inside its array.
/// * [`PlanError::Extents`]: the extents of the regions differ.
///
/// All except `NoSuchRank` are equal on all ranks.
pub fn copy(spec: &CopySpec<'_>, rank: usize) -> Result<RankPlan, PlanError> {
    spec.check(rank)?;
    let (src, dst) =
        (OwnChunks::new(spec.src, rank, &spec.src_region), OwnChunks::new(spec.dst, rank, &spec.dst_region));
    let mut builder = Builder::new(rank);
    spec.collect(0, [0, 1], [&src, &dst], &mut builder);
    let mut plan = schedule(builder, std::slice::from_ref(spec), None);
    plan.permutation = spec.permutation.map(<[usize]>::to_vec);
    plan.overlap = spec.aliased && (spec.src != spec.dst || spec.src_region.intersects(&spec.dst_region));
    Ok(plan)
}

/// Sort key of a move: index of the copy, destination chunk, source chunk.
pub(super) type CopyKey = (usize, ChunkId, ChunkId);

/// Chunks of a rank with cells of a region, with a spatial index.
pub(super) struct OwnChunks {
    chunks: Vec<ChunkId>,
    tree: RegionTree,
}

impl OwnChunks {
    pub(super) fn new(placement: &Placement, rank: usize, bounds: &Region) -> Self {
        let held = placement.held_by(rank).filter(|(_, region)| region.intersects(bounds));
        let (chunks, boxes): (Vec<_>, Vec<_>) = held.unzip();
        Self { chunks, tree: RegionTree::new(&boxes) }
    }

    fn visit(&self, region: &Region, found: &mut dyn FnMut(ChunkId, Region)) {
        let _ = self.tree.visit(region, &mut |item, part| {
            found(self.chunks[item], part);
            ControlFlow::Continue(())
        });
    }
}

/// Schedules the messages of copies in rounds: by matching for a small graph of ranks, otherwise by
/// rank difference. `written` is as for [`Builder::finish`].
pub(super) fn schedule(builder: Builder<CopyKey>, specs: &[CopySpec<'_>], written: Option<Written<'_>>) -> RankPlan {
    let ranks = specs.first().map_or(1, |spec| spec.src.ranks());
    match builder.has_messages().then(|| edges(specs)).flatten() {
        Some(edges) => {
            let schedule = matching::rounds(&edges);
            let round: HashMap<_, _> = edges.iter().copied().zip(schedule.round).collect();
            builder.finish(schedule.rounds, written, |from, to, _| round[&(from, to)])
        }
        None => builder.finish(ranks - 1, written, |from, to, _| {
            matching::round_by_difference(from, to, ranks).expect("messages go to other ranks")
        }),
    }
}

/// All pairs of different ranks that exchange data, or `None` for too many pairs, equally on all
/// ranks.
fn edges(specs: &[CopySpec<'_>]) -> Option<Vec<(usize, usize)>> {
    let (mut edges, mut edge_set, mut pairs) = (Vec::new(), HashSet::new(), 0);
    for spec in specs {
        let flow = spec.src.chunks().visit(&spec.src_region, &mut |src_chunk, part| {
            let from = spec.src.ownership().owner(src_chunk).rank;
            spec.dst.chunks().visit(&spec.dst_of(&part), &mut |dst_chunk, _| {
                let to = spec.dst.ownership().owner(dst_chunk).rank;
                pairs += 1;
                if from != to && edge_set.insert((from, to)) {
                    edges.push((from, to));
                }
                if pairs > MAX_PAIRS || edges.len() > matching::MAX_EDGES {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        if flow.is_break() {
            return None;
        }
    }
    Some(edges)
}

impl CopySpec<'_> {
    /// Adds the moves of this copy to the builder. `index` is the index of the copy, `arrays` are
    /// the plan's source and destination arrays.
    pub(super) fn collect(
        &self,
        index: usize,
        arrays: [usize; 2],
        held: [&OwnChunks; 2],
        builder: &mut Builder<CopyKey>,
    ) {
        let step = |src_chunk, dst_chunk, dst: Region| {
            let (src, [src_array, dst_array]) = (self.src_of(&dst), arrays);
            Move { src_array, src_chunk, src, dst_array, dst_chunk, dst }
        };
        held[0].visit(&self.src_region, &mut |src_chunk, part| {
            self.dst.chunks().touching(&self.dst_of(&part), |dst_chunk, part| {
                let to = self.dst.ownership().owner(dst_chunk).rank;
                builder.send(to, (index, dst_chunk, src_chunk), step(src_chunk, dst_chunk, part));
            });
        });
        held[1].visit(&self.dst_region, &mut |dst_chunk, part| {
            self.src.chunks().touching(&self.src_of(&part), |src_chunk, part| {
                let from = self.src.ownership().owner(src_chunk).rank;
                builder.receive(from, (index, dst_chunk, src_chunk), step(src_chunk, dst_chunk, self.dst_of(&part)));
            });
        });
    }

    pub(super) fn check(&self, rank: usize) -> Result<(), PlanError> {
        let (src, dst) = (self.src.chunks(), self.dst.chunks());
        if src.axes() != dst.axes() {
            return Err(PlanError::Axes { src: src.axes(), dst: dst.axes() });
        }
        let (ranks, dst_ranks) = (self.src.ranks(), self.dst.ranks());
        if ranks != dst_ranks {
            return Err(PlanError::Ranks { given: dst_ranks, expected: ranks });
        }
        check_rank(rank, ranks)?;
        if let Some(order) = self.permutation {
            let mut sorted = order.to_vec();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..src.axes()) {
                return Err(PlanError::Permutation { given: order.to_vec(), axes: src.axes() });
            }
        }
        check_region(&self.src_region, self.src, "the source")?;
        check_region(&self.dst_region, self.dst, "the destination")?;
        let (src_extents, dst_extents) = (self.src_region.extents(), self.dst_region.extents());
        if Index::from_fn(src.axes(), |axis| src_extents[self.src_axis(axis)]) != dst_extents {
            return Err(PlanError::Extents {
                src: self.src_region.to_string(),
                src_extents,
                dst: self.dst_region.to_string(),
                dst_extents,
                permuted: self.permutation.map(<[usize]>::to_vec),
            });
        }
        Ok(())
    }

    fn src_axis(&self, dst_axis: usize) -> usize {
        self.permutation.map_or(dst_axis, |order| order[dst_axis])
    }

    fn dst_of(&self, part: &Region) -> Region {
        let mapped = |cell: &Index, axis: usize| {
            let from = self.src_axis(axis);
            cell[from] - self.src_region.start[from] + self.dst_region.start[axis]
        };
        Region {
            start: Index::from_fn(part.axes(), |axis| mapped(&part.start, axis)),
            end: Index::from_fn(part.axes(), |axis| mapped(&part.end, axis)),
        }
    }

    fn src_of(&self, part: &Region) -> Region {
        let mut out = *part;
        for axis in 0..part.axes() {
            let from = self.src_axis(axis);
            let offset = self.src_region.start[from] - self.dst_region.start[axis];
            (out.start[from], out.end[from]) = (part.start[axis] + offset, part.end[axis] + offset);
        }
        out
    }
}

pub(super) fn check_rank(rank: usize, ranks: usize) -> Result<(), PlanError> {
    if rank < ranks { Ok(()) } else { Err(PlanError::NoSuchRank { rank, ranks }) }
}

pub(super) fn check_region(region: &Region, placement: &Placement, operand: &'static str) -> Result<(), PlanError> {
    Region::new(&region.start, &region.end)
        .and_then(|region| region.check_within(&placement.chunks().whole(), "the array"))
        .map_err(|source| PlanError::Region { operand, source })
}
