//! The plan of a copy (and of a composite, which moves the same boxes).

use super::build::Builder;
use super::{Move, RankPlan, matching};
use crate::chunks::ChunkId;
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::Region;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Pairs of chunks looked at before the graph counts as too large for matching.
const MAX_PAIRS: usize = 1 << 18;

/// A copy between regions of two arrays, or of one. Both regions lie within the arrays' shapes.
#[derive(Debug, Clone, Copy)]
pub struct CopySpec<'a> {
    /// The array read, array 0 of the plan.
    pub src: &'a Placement,
    /// What is read.
    pub src_region: Region,
    /// The array written, array 1 of the plan.
    pub dst: &'a Placement,
    /// What is written.
    pub dst_region: Region,
    /// Whether both are the same data: one array, or re-arrangements of one.
    pub aliased: bool,
    /// Axis `i` of the destination takes axis `permutation[i]` of the source.
    pub permutation: Option<&'a [usize]>,
}

/// What `rank` does in a copy.
///
/// Every rank that holds a part of either region must build the plan with the same arguments. It costs
/// what the rank and its peers hold, plus, where the rank talks to others, a look at up to 2¹⁶ edges
/// of the graph of ranks: those are scheduled by matching, more by rank difference.
///
/// # Errors
/// When a region leaves its array, the extents or the numbers of ranks differ, or the permutation
/// is none; the same on every rank.
pub fn copy(spec: &CopySpec, rank: usize) -> Result<RankPlan, PlanError> {
    spec.check(rank)?;
    if spec.src_region.is_empty() {
        return Ok(RankPlan::empty(rank));
    }
    let (src, dst) = (spec.src, spec.dst);
    let mut builder = Builder::new(rank);
    for (src_chunk, held) in src.held_by(rank) {
        let Some(part) = held.intersect(&spec.src_region) else { continue };
        dst.chunks().touching(&spec.dst_of(&part), |dst_chunk, part| {
            builder.send(
                dst.ownership().owner(dst_chunk).rank,
                (dst_chunk, src_chunk),
                spec.step(src_chunk, dst_chunk, part),
            );
        });
    }
    for (dst_chunk, held) in dst.held_by(rank) {
        let Some(part) = held.intersect(&spec.dst_region) else { continue };
        src.chunks().touching(&spec.src_of(&part), |src_chunk, part| {
            let part = spec.dst_of(&part);
            builder.receive(
                src.ownership().owner(src_chunk).rank,
                (dst_chunk, src_chunk),
                spec.step(src_chunk, dst_chunk, part),
            );
        });
    }
    let ranks = src.ranks();
    let mut plan = match builder.talks().then(|| spec.edges()).flatten() {
        Some(edges) => {
            let schedule = matching::rounds(&edges);
            let round: HashMap<_, _> = edges.iter().copied().zip(schedule.round).collect();
            builder.finish(schedule.rounds, false, |from, to, _| round[&(from, to)])
        }
        None => builder.finish(ranks - 1, false, |from, to, _| {
            matching::round_by_difference(from, to, ranks).expect("messages go to other ranks")
        }),
    };
    plan.permutation = spec.permutation.map(<[usize]>::to_vec);
    plan.overlap = spec.aliased && (src != dst || spec.src_region.intersects(&spec.dst_region));
    Ok(plan)
}

impl CopySpec<'_> {
    fn check(&self, rank: usize) -> Result<(), PlanError> {
        let (src, dst) = (self.src.chunks(), self.dst.chunks());
        if src.axes() != dst.axes() {
            return Err(PlanError::Axes { src: src.axes(), dst: dst.axes() });
        }
        let (ranks, others) = (self.src.ranks(), self.dst.ranks());
        if ranks != others {
            return Err(PlanError::Ranks { given: others, expected: ranks });
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

    /// Where a part of the source region goes.
    fn dst_of(&self, part: &Region) -> Region {
        let by = |at: &Index, axis: usize| {
            let from = self.src_axis(axis);
            at[from] - self.src_region.start[from] + self.dst_region.start[axis]
        };
        Region {
            start: Index::from_fn(part.axes(), |axis| by(&part.start, axis)),
            end: Index::from_fn(part.axes(), |axis| by(&part.end, axis)),
        }
    }

    /// Where a part of the destination region comes from.
    fn src_of(&self, part: &Region) -> Region {
        let mut out = *part;
        for axis in 0..part.axes() {
            let from = self.src_axis(axis);
            let by = self.src_region.start[from] - self.dst_region.start[axis];
            (out.start[from], out.end[from]) = (part.start[axis] + by, part.end[axis] + by);
        }
        out
    }

    fn step(&self, src_chunk: ChunkId, dst_chunk: ChunkId, dst: Region) -> Move {
        Move { src_array: 0, src_chunk, src: self.src_of(&dst), dst_array: 1, dst_chunk, dst }
    }

    /// All pairs of different ranks that exchange data, or `None` when they are too many. Found in the same
    /// order on every rank, so that all give up or none.
    fn edges(&self) -> Option<Vec<(usize, usize)>> {
        let (mut edges, mut known, mut pairs) = (Vec::new(), HashSet::new(), 0);
        let flow = self.src.chunks().visit(&self.src_region, &mut |src_chunk, part| {
            let from = self.src.ownership().owner(src_chunk).rank;
            self.dst.chunks().visit(&self.dst_of(&part), &mut |dst_chunk, _| {
                let to = self.dst.ownership().owner(dst_chunk).rank;
                pairs += 1;
                if from != to && known.insert((from, to)) {
                    edges.push((from, to));
                }
                match pairs > MAX_PAIRS || edges.len() > matching::MAX_EDGES {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
        });
        flow.is_continue().then_some(edges)
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
