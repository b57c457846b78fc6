//! Merges of sorted keys on one rank.

mod host;
mod over_ranks;

pub(super) use self::host::merge_on_host;

use zippy::World;
use zippy::array::{IntoSequence, Sequence};
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::{KernelSource, WgslComposer};
use zippy::wgsl_module;

use super::backend::HasBackend;
use super::on_rank::OnRank;
use super::permute::scatter;
use super::search::{BoundSide, find};
use super::sort_key::{KeyOrder, SortKey, SortedRun};

impl OnRank<'_> {
    /// Merges two sequences of sorted keys into a third, in separate memory; equal keys of the
    /// first sequence come first. Local. If the keys are not sorted, the output contains some of
    /// them, possibly not all.
    ///
    /// # Errors
    /// An output with another length than both inputs together, an invalid section, a device
    /// failure.
    #[track_caller]
    pub fn merge<K: SortKey>(
        &self,
        first: impl IntoSequence<K>,
        second: impl IntoSequence<K>,
        output: impl IntoSequence<K>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("merge");
        let (first, second, output) = (first.into(), second.into(), output.into());
        let output = output.cells()?;
        let runs = [(first.cells()?.clone(), None), (second.cells()?.clone(), None)];
        self.merged(K::ORDER, runs, output, None)
    }

    /// Merges two sequences of sorted keys with values, as [`merge`](Self::merge) does for keys.
    ///
    /// # Errors
    /// As [`merge`](Self::merge), and different lengths of keys and values.
    #[track_caller]
    pub fn merge_pairs<K: SortKey, V: Element>(
        &self,
        first: (impl IntoSequence<K>, impl IntoSequence<V>),
        second: (impl IntoSequence<K>, impl IntoSequence<V>),
        output: (impl IntoSequence<K>, impl IntoSequence<V>),
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("merge_pairs");
        let run = |(keys, values): (Sequence<K>, Sequence<V>)| -> Result<(CellSequence, CellSequence)> {
            let (keys, values) = (keys.cells()?, values.cells()?);
            keys.check_length(values, "the sequence of values")?;
            Ok((keys.clone(), values.clone()))
        };
        let (first, second) = (run((first.0.into(), first.1.into()))?, run((second.0.into(), second.1.into()))?);
        let (keys, values) = run((output.0.into(), output.1.into()))?;
        self.merged(K::ORDER, [first, second].map(|(keys, values)| (keys, Some(values))), &keys, Some(&values))
    }

    fn merged(
        &self,
        order: KeyOrder,
        runs: [SortedRun; 2],
        keys: &CellSequence,
        values: Option<&CellSequence>,
    ) -> Result<()> {
        let all: u64 = runs.iter().map(|(keys, _)| keys.len()).sum();
        if keys.len() != all {
            let text = format!("{all} keys are merged, but {} has {} cells", keys.label(), keys.len());
            return Err(ArrayError::Other(text).into());
        }
        self.world().backend().check_cells(keys)?;
        let of_runs = runs.iter().flat_map(|(keys, values)| std::iter::once(keys).chain(values));
        let outputs = || std::iter::once(keys).chain(values);
        if let Some(shared) = of_runs.into_iter().find(|run| outputs().any(|output| output.shares_memory(run))) {
            let text = format!("{} cannot be merged into its own memory; merge into another array", shared.label());
            return Err(ArrayError::Other(text).into());
        }
        merge(self.world(), order, &runs, keys, values)
    }
}

/// Merges sorted runs into cells of separate memory; equal keys stay in the order of the runs.
pub(super) fn merge(
    world: &World,
    order: KeyOrder,
    runs: &[SortedRun],
    keys: &CellSequence,
    values: Option<&CellSequence>,
) -> Result<()> {
    world.backend().merge(world, order, runs, keys, values)
}

/// Merges sorted runs as [`merge`] does, by searches for the destination of each cell.
pub(super) fn merge_by_kernels(
    world: &World,
    order: KeyOrder,
    runs: &[SortedRun],
    keys: &CellSequence,
    values: Option<&CellSequence>,
) -> Result<()> {
    let text = WgslComposer::new().module(wgsl_module!("../../shaders/merge/places.wgsl")).compose()?;
    let kernel = world.cached_kernel(&KernelSource::composed("places", text))?;
    for (number, (run, run_values)) in runs.iter().enumerate() {
        if run.is_empty() {
            continue;
        }
        // A key comes after the earlier keys of its run, smaller keys of other runs, and equal keys
        // of earlier runs.
        let positions = world.scratch_cells("places of merged cells", &u32::INFO, run.len())?;
        positions.fill(&[0; 4])?;
        for (other, (keys, _)) in runs.iter().enumerate().filter(|(other, _)| *other != number) {
            let side = if other < number { BoundSide::Upper } else { BoundSide::Lower };
            find(world, order, keys, run, &positions, side, false)?;
        }
        for part in positions.parts() {
            let call = kernel.call().update("places", part.binding()).param("first", part.first as u32);
            call.over([part.cells() as i64]).run()?;
        }
        scatter(world, run, &positions, keys)?;
        if let (Some(run_values), Some(values)) = (run_values, values) {
            scatter(world, run_values, &positions, values)?;
        }
    }
    Ok(())
}
