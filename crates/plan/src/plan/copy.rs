//! The plan of a copy (and of a composite, which moves the same boxes).

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::build::{Builder, Written};
use super::{Move, RankPlan, matching};
use crate::chunks::ChunkId;
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::{Region, RegionTree};

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
    let (src, dst) = (Held::new(spec.src, rank, &spec.src_region), Held::new(spec.dst, rank, &spec.dst_region));
    let mut builder = Builder::new(rank);
    spec.collect(0, [0, 1], [&src, &dst], &mut builder);
    let mut plan = schedule(builder, std::slice::from_ref(spec), None);
    plan.permutation = spec.permutation.map(<[usize]>::to_vec);
    plan.overlap = spec.aliased && (spec.src != spec.dst || spec.src_region.intersects(&spec.dst_region));
    Ok(plan)
}

/// The order of moves: which of the copies, chunk written, chunk read.
pub(super) type CopyKey = (usize, ChunkId, ChunkId);

/// What a rank holds of a part of an array, to be searched by region.
pub(super) struct Held {
    chunks: Vec<ChunkId>,
    tree: RegionTree,
}

impl Held {
    pub fn new(placement: &Placement, rank: usize, part: &Region) -> Self {
        let held = placement.held_by(rank).filter(|(_, region)| region.intersects(part));
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

/// Puts the messages of copies into rounds: by matching where the graph of ranks is small enough to be looked at, else by
/// rank difference. `written` as for [`Builder::finish`].
pub(super) fn schedule(builder: Builder<CopyKey>, specs: &[CopySpec], written: Option<Written>) -> RankPlan {
    let ranks = specs.first().map_or(1, |spec| spec.src.ranks());
    match builder.talks().then(|| edges(specs)).flatten() {
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

/// All pairs of different ranks that exchange data, or `None` when they are too many. Found in the same
/// order on every rank, so that all give up or none.
fn edges(specs: &[CopySpec]) -> Option<Vec<(usize, usize)>> {
    let (mut edges, mut known, mut pairs) = (Vec::new(), HashSet::new(), 0);
    for spec in specs {
        let flow = spec.src.chunks().visit(&spec.src_region, &mut |src_chunk, part| {
            let from = spec.src.ownership().owner(src_chunk).rank;
            spec.dst.chunks().visit(&spec.dst_of(&part), &mut |dst_chunk, _| {
                let to = spec.dst.ownership().owner(dst_chunk).rank;
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
        if flow.is_break() {
            return None;
        }
    }
    Some(edges)
}

impl CopySpec<'_> {
    /// Hands this copy's moves to the builder: copy number `place`, between arrays `numbers` of the plan.
    pub(super) fn collect(&self, place: usize, numbers: [usize; 2], held: [&Held; 2], builder: &mut Builder<CopyKey>) {
        let step = |src_chunk, dst_chunk, dst: Region| {
            let (src, [src_array, dst_array]) = (self.src_of(&dst), numbers);
            Move { src_array, src_chunk, src, dst_array, dst_chunk, dst }
        };
        held[0].visit(&self.src_region, &mut |src_chunk, part| {
            self.dst.chunks().touching(&self.dst_of(&part), |dst_chunk, part| {
                let to = self.dst.ownership().owner(dst_chunk).rank;
                builder.send(to, (place, dst_chunk, src_chunk), step(src_chunk, dst_chunk, part));
            });
        });
        held[1].visit(&self.dst_region, &mut |dst_chunk, part| {
            self.src.chunks().touching(&self.src_of(&part), |src_chunk, part| {
                let from = self.src.ownership().owner(src_chunk).rank;
                builder.receive(from, (place, dst_chunk, src_chunk), step(src_chunk, dst_chunk, self.dst_of(&part)));
            });
        });
    }

    pub(super) fn check(&self, rank: usize) -> Result<(), PlanError> {
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
}

pub(super) fn check_rank(rank: usize, ranks: usize) -> Result<(), PlanError> {
    if rank < ranks { Ok(()) } else { Err(PlanError::NoSuchRank { rank, ranks }) }
}

pub(super) fn check_region(region: &Region, placement: &Placement, operand: &'static str) -> Result<(), PlanError> {
    Region::new(&region.start, &region.end)
        .and_then(|region| region.check_within(&placement.chunks().whole(), "the array"))
        .map_err(|source| PlanError::Region { operand, source })
}
