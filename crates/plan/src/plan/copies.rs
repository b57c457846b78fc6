//! The plan of many copies (or composites) in one exchange.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::RankPlan;
use super::build::Builder;
use super::copy::{CopySpec, Held, schedule};
use crate::error::PlanError;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::{Region, RegionTree};

/// One of many copies; arrays are numbers of [`CopiesSpec::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The array read.
    pub src: usize,
    /// What is read.
    pub src_region: Region,
    /// The array written.
    pub dst: usize,
    /// What is written.
    pub dst_region: Region,
}

/// Copies between any arrays that travel together and take effect as listed where they write the same cells. All reading
/// comes before any writing.
#[derive(Debug, Clone, Copy)]
pub struct CopiesSpec<'a> {
    /// Every array once, and the number of its data: equal where arrays are handles of the same chunks.
    pub arrays: &'a [(&'a Placement, usize)],
    /// What goes where.
    pub pairs: &'a [Pair],
}

/// What `rank` does in many copies; arrays of the plan are those of the list.
///
/// Every rank that holds a part of a region must build the plan with the same arguments. Costs n log n in the pairs, and
/// what the rank and its peers hold of them; the schedule as for [`copy`](super::copy()).
///
/// # Errors
/// The number of the first pair that is wrong and what is, as for [`copy`](super::copy()); the same on every rank.
pub fn copies(spec: &CopiesSpec, rank: usize) -> Result<RankPlan, (usize, PlanError)> {
    let specs: Vec<CopySpec> = spec.pairs.iter().map(|pair| spec.one(pair)).collect();
    specs.iter().enumerate().try_for_each(|(place, one)| one.check(rank).map_err(|error| (place, error)))?;
    let named = spec.named();
    let arrays = spec.arrays.iter().zip(&named);
    let held: Vec<Held> = arrays.map(|((placement, _), part)| Held::new(placement, rank, part)).collect();
    let mut builder = Builder::new(rank);
    for (place, (one, pair)) in specs.iter().zip(spec.pairs).enumerate() {
        one.collect(place, [pair.src, pair.dst], [&held[pair.src], &held[pair.dst]], &mut builder);
    }
    // Handles of the same chunks name a cell by different coordinates: what counts is the slot and the place in it.
    let plan = schedule(
        builder,
        &specs,
        Some(&|this| {
            let (placement, data) = spec.arrays[this.dst_array];
            let origin = placement.chunks().storage(this.dst_chunk).start;
            let slot = placement.ownership().owner(this.dst_chunk).slot;
            let local = Region { start: this.dst.start - origin, end: this.dst.end - origin };
            ((data, slot), local)
        }),
    );
    Ok(RankPlan { overlap: spec.overlap(), ..plan })
}

impl CopiesSpec<'_> {
    /// A box around all regions of each array.
    fn named(&self) -> Vec<Region> {
        let mut all: Vec<_> =
            self.arrays.iter().map(|(of, _)| Region::whole(Index::zeros(of.chunks().axes()))).collect();
        for pair in self.pairs {
            for (array, region) in [(pair.src, &pair.src_region), (pair.dst, &pair.dst_region)] {
                all[array] = if all[array].is_empty() { *region } else { all[array].bounding(region) };
            }
        }
        all
    }

    fn one(&self, pair: &Pair) -> CopySpec<'_> {
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

    /// Whether anything written may be read.
    fn overlap(&self) -> bool {
        let mut written: HashMap<usize, Vec<&Pair>> = HashMap::new();
        for pair in self.pairs {
            written.entry(self.arrays[pair.dst].1).or_default().push(pair);
        }
        written.iter().any(|(data, writers)| {
            let readers = || self.pairs.iter().filter(|pair| self.arrays[pair.src].1 == *data);
            let first = self.arrays[writers[0].dst].0;
            let handles = writers.iter().map(|pair| pair.dst).chain(readers().map(|pair| pair.src));
            let alike = handles.map(|array| self.arrays[array].0).all(|placement| placement == first);
            let tree = RegionTree::new(&writers.iter().map(|pair| pair.dst_region).collect::<Vec<_>>());
            let meets = |pair: &Pair| tree.visit(&pair.src_region, &mut |_, _| ControlFlow::Break(())).is_break();
            readers().any(|pair| !alike || meets(pair))
        })
    }
}
