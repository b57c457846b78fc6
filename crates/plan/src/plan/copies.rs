use std::collections::HashMap;
use std::ops::ControlFlow;

use super::RankPlan;
use super::build::Builder;
use super::copy::{CopySpec, OwnChunks, schedule};
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::{Region, RegionTree};

/// Copy in a list of copies. Arrays are indices in [`CopiesSpec::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Index of the source array.
    pub src: usize,
    /// Region of the source array.
    pub src_region: Region,
    /// Index of the destination array.
    pub dst: usize,
    /// Region of the destination array.
    pub dst_region: Region,
}

/// Copies between any arrays in one exchange. All reads are before all writes. Copies that write
/// the same cells take effect in the order of the list.
#[derive(Debug, Clone, Copy)]
pub struct CopiesSpec<'a> {
    /// All arrays, each with the id of its data, equal for handles of the same chunks.
    pub arrays: &'a [(&'a Placement, usize)],
    /// The copies, in order.
    pub pairs: &'a [Pair],
}

/// Plan of `rank` for several copies between the arrays of the list.
///
/// Every rank with cells of a region must build the plan with the same arguments. Local. Cost: n
/// log n in the number of copies, plus the chunks of the rank and its peers, plus the schedule as
/// for [`copy`](super::copy()).
///
/// # Errors
/// Index of the first invalid copy, with an error as for [`copy`](super::copy()); equal on all
/// ranks.
pub fn copies(spec: &CopiesSpec<'_>, rank: usize) -> Result<RankPlan, (usize, PlanError)> {
    let specs: Vec<CopySpec<'_>> = spec.pairs.iter().map(|pair| spec.copy_spec(pair)).collect();
    specs.iter().enumerate().try_for_each(|(index, copy)| copy.check(rank).map_err(|error| (index, error)))?;
    let bounds = spec.bounds();
    let arrays = spec.arrays.iter().zip(&bounds);
    let held: Vec<OwnChunks> = arrays.map(|((placement, _), bounds)| OwnChunks::new(placement, rank, bounds)).collect();
    let mut builder = Builder::new(rank);
    for (index, (copy, pair)) in specs.iter().zip(spec.pairs).enumerate() {
        copy.collect(index, [pair.src, pair.dst], [&held[pair.src], &held[pair.dst]], &mut builder);
    }
    // Handles of the same chunks have different coordinates for a cell: compare slots and offsets.
    let plan = schedule(
        builder,
        &specs,
        Some(&|step| {
            let (placement, data) = spec.arrays[step.dst_array];
            let origin = placement.chunks().storage(step.dst_chunk).start;
            let slot = placement.ownership().owner(step.dst_chunk).slot;
            let local = Region { start: step.dst.start - origin, end: step.dst.end - origin };
            ((data, slot), local)
        }),
    );
    Ok(RankPlan { overlap: spec.overlap(), ..plan })
}

impl CopiesSpec<'_> {
    fn bounds(&self) -> Vec<Region> {
        let empty = |placement: &Placement| Region::whole(Index::zeros(placement.chunks().axes()));
        let mut all: Vec<_> = self.arrays.iter().map(|(placement, _)| empty(placement)).collect();
        for pair in self.pairs {
            for (array, region) in [(pair.src, &pair.src_region), (pair.dst, &pair.dst_region)] {
                all[array] = if all[array].is_empty() { *region } else { all[array].bounding(region) };
            }
        }
        all
    }

    fn copy_spec(&self, pair: &Pair) -> CopySpec<'_> {
        let ((src, src_data), (dst, dst_data)) = (self.arrays[pair.src], self.arrays[pair.dst]);
        CopySpec {
            src,
            src_region: pair.src_region,
            dst,
            dst_region: pair.dst_region,
            aliased: src_data == dst_data,
            permutation: None,
        }
    }

    /// True if a copy can write cells that a copy reads.
    fn overlap(&self) -> bool {
        let mut written: HashMap<usize, Vec<&Pair>> = HashMap::new();
        for pair in self.pairs {
            written.entry(self.arrays[pair.dst].1).or_default().push(pair);
        }
        written.iter().any(|(data, writers)| {
            let readers = || self.pairs.iter().filter(|pair| self.arrays[pair.src].1 == *data);
            let first = self.arrays[writers[0].dst].0;
            let handles = writers.iter().map(|pair| pair.dst).chain(readers().map(|pair| pair.src));
            let is_same_placement = handles.map(|array| self.arrays[array].0).all(|placement| placement == first);
            let tree = RegionTree::new(&writers.iter().map(|pair| pair.dst_region).collect::<Vec<_>>());
            let overlaps = |pair: &Pair| tree.visit(&pair.src_region, &mut |_, _| ControlFlow::Break(())).is_break();
            readers().any(|pair| !is_same_placement || overlaps(pair))
        })
    }
}
