//! Compaction, partition, unique and reduction by key of distributed vectors.

use bytemuck::Pod;
use zippy::array::GlobalArray;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::{CallSite, Result};
use zippy::transport::{copied, values};
use zippy::{ArrayOptions, World};

use super::{Selection, tails};
use crate::heads::flags_after;
use crate::scan::{ByKey, Segmentation, VectorCombination};
use crate::vectors::{
    FittedCells, IntoVector, Vectors, array, check_lengths, evenly_distributed_spans, fitted, local_cells, ordered,
    spans,
};

impl Vectors<'_> {
    /// Creates a vector of the cells whose flag is not 0, in order. Collective.
    ///
    /// Cells stay on their ranks: each rank owns one chunk with its selected cells, possibly empty.
    /// [`rebalanced`](Self::rebalanced) distributes them evenly. If the chunks of the ranks are not
    /// in rank order, or the flags are cut differently, the vectors are copied first.
    ///
    /// # Errors
    /// Different lengths, a name that is in use, too little memory, an invalid section, a failure
    /// of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cut = Layout::new([10]).split([Split::Auto]);
    /// let (x, odd) = (world.array::<u32, 1>("x", &cut)?, world.array::<u32, 1>("odd", &cut)?);
    /// x.fill_with(|[i]| (i * i) as u32)?;
    /// world.elementwise("x % 2u").call().read("x", x.at(..)).write("flag", odd.at(..))?;
    /// let squares = world.vectors().compact("odd squares", &x, &odd)?;
    /// let ticket = world.get(squares.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [1, 9, 25, 49, 81]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn compact<T: Element>(
        &self,
        name: &str,
        input: impl IntoVector<T>,
        flags: impl IntoVector<u32>,
    ) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("compact");
        let (world, input, flags) = (self.world(), input.into(), flags.into());
        input.check_length(&flags, "the vector of flags")?;
        self.collective("compact", vec![input.named()?, flags.named()?], name, || Ok(()))?;
        let cut = ordered(world, &spans(&input)?);
        let input = fitted(world, "cells of a selection", &input, &cut, true)?;
        let flags = fitted(world, "flags of a selection", &flags, &cut, true)?;
        let flags = world.failing("compact", || local_cells(&flags.vector))?;
        selected(world, name, "compact", &flags, &input)
    }

    /// Creates an evenly distributed vector of all cells: first the cells whose flag is not 0, then
    /// the others, both in order. Also returns the number of cells whose flag is not 0. Collective.
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    #[track_caller]
    pub fn partition<T: Element>(
        &self,
        name: &str,
        input: impl IntoVector<T>,
        flags: impl IntoVector<u32>,
    ) -> Result<(GlobalArray<T, 1>, u64)> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("partition");
        let (world, input, flags) = (self.world(), input.into(), flags.into());
        let first = self.compact("zippy: selected", &input, &flags)?;
        let cells = first.shape()[0] as u64;
        let not = array::<u32>(world, "zippy: opposite flags", flags.cells()?, &spans(&flags)?)?;
        world.failing("partition", || {
            world.elementwise("u32(flag == 0u)").call().read("flag", flags.section()).write("not", not.at(..))
        })?;
        let second = self.compact("zippy: not selected", &input, &not)?;
        let all = input.cells()?;
        let parts = evenly_distributed_spans(all, world.size());
        let both = array(world, name, all, &parts)?;
        world.copy(first.at(..), both.at(..cells as i64))?;
        world.copy(second.at(..), both.at(cells as i64..))?;
        Ok((both, cells))
    }

    /// Creates a vector of the first cell of each run of equal cells. Cells are equal if all their
    /// bits are. Collective, as [`compact`](Self::compact).
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    #[track_caller]
    pub fn unique<T: Element>(&self, name: &str, input: impl IntoVector<T>) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("unique");
        let (world, input) = (self.world(), input.into());
        self.collective("unique", vec![input.named()?], name, || Ok(()))?;
        let input = fitted(world, "cells of a selection", &input, &ordered(world, &spans(&input)?), true)?;
        let heads = world.failing("unique", || heads(world, &local_cells(&input.vector)?))?;
        selected(world, name, "unique", &heads, &input)
    }
}

impl<K: Element, T: Element> VectorCombination<'_, T, ByKey<K>> {
    /// Creates vectors of the key of each run of equal keys, and of the combination of its cells
    /// from first to last. Collective, as [`Vectors::compact`]: the result of a run on several
    /// ranks is on the last of them.
    ///
    /// Cells are combined as by [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// As [`Vectors::compact`], and an operator that the cells do not support.
    #[track_caller]
    pub fn reduce_runs(self, keys_name: &str, name: &str) -> Result<(GlobalArray<K, 1>, GlobalArray<T, 1>)> {
        let _call = CallSite::enter();
        let (world, keys, values) = (self.vectors().world(), self.segment_cells(), self.input());
        let _operation = world.enter_operation("reduce_runs");
        check_lengths(keys, values, "the vector of values")?;
        let cut = ordered(world, &keys.spans()?);
        let keys = keys.fitted(world, "keys of a reduction", &cut, true)?;
        let sums = array::<T>(world, "zippy: sums of runs", values.cells()?, &cut)?;
        self.cut::<ByKey<K>>(Segmentation::Keys(keys.vector())).inclusive_scan(&sums)?;
        let ends = world.failing("reduce_runs", || {
            let heads = heads(world, &keys.local_cells()?)?;
            ends(world, &heads)
        })?;
        let found = selected(world, keys_name, "reduce_runs", &ends, &*keys)?;
        let sums = fitted(world, "sums of a reduction", &(&sums).into(), &cut, true)?;
        Ok((found, selected(world, name, "reduce_runs", &ends, &sums)?))
    }
}

/// Creates a vector of this rank's cells whose flags are not 0.
pub(crate) fn selected<T: Element>(
    world: &World,
    name: &str,
    verb: &'static str,
    flags: &CellSequence,
    input: &dyn FittedCells,
) -> Result<GlobalArray<T, 1>> {
    let (selection, input) = world.failing(verb, || Ok((Selection::new(world, flags)?, input.local_cells()?)))?;
    let output = world.array::<T, 1>(name, ArrayOptions::of_length(selection.count))?;
    world.failing(verb, || selection.compact(&input, &local_cells(&(&output).into())?))?;
    Ok(output)
}

/// Returns flags of the cells that differ from the previous cell, which may be on another rank.
fn heads(world: &World, keys: &CellSequence) -> Result<CellSequence> {
    let mut last = vec![0; if keys.is_empty() { 0 } else { keys.element().bytes }];
    if !keys.is_empty() {
        keys.read(keys.len() - 1..keys.len(), &mut last)?;
    }
    let before = nearest_rank_value(world, &last, true)?;
    flags_after(world, keys, before)
}

/// Returns flags of the last cells of segments. The cell after this rank's last one may be on
/// another rank.
pub(crate) fn ends(world: &World, heads: &CellSequence) -> Result<CellSequence> {
    let mut first = vec![0_u32; usize::from(!heads.is_empty())];
    if !heads.is_empty() {
        heads.read(0..1, bytemuck::cast_slice_mut(&mut first))?;
    }
    let next = nearest_rank_value(world, &first, false)?;
    let ends = tails(world, heads)?;
    if let (Some(next), true) = (next, !heads.is_empty()) {
        ends.write(heads.len() - 1..heads.len(), bytemuck::cast_slice(&next))?;
    }
    Ok(ends)
}

/// Returns the value of the nearest lower (`below`) or higher rank that has one. Collective.
fn nearest_rank_value<T: Pod>(world: &World, own: &[T], below: bool) -> Result<Option<Vec<T>>> {
    let all = world.inner_group().all_gather_v(copied(own))?;
    let all = all.iter().map(values::<T>).collect::<Result<Vec<_>>>()?;
    let (lower, higher) = all.split_at(world.rank());
    let found = if below {
        lower.iter().rfind(|some| !some.is_empty())
    } else {
        higher[1..].iter().find(|some| !some.is_empty())
    };
    Ok(found.cloned())
}
