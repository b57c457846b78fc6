//! Compaction, partition, unique and reduction by key on one rank.

mod check_room;
mod host;
mod kernels;
pub(super) mod over_ranks;

use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};

use self::check_room::check_room;
pub(super) use self::host::{count_selected_on_host, mark_on_host, reduce_runs_on_host, tails_on_host};
pub(super) use self::kernels::{count_selected_by_scan, mark_by_kernel, tails_by_kernel};
use super::backend::HasBackend;
use super::heads::{Heads, flags_of};
use super::on_rank::OnRank;
use super::permute::scatter;
use super::scan::{ByKey, Combination, ScanOperation, run};

impl OnRank<'_> {
    /// Copies the cells whose flag is not 0 to the output, in order, and returns their number.
    /// Local; waits for the device. The remaining cells of the output keep their values.
    ///
    /// # Errors
    /// An output that is too short (nothing is written), different lengths of input and flags, an
    /// invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cells = world.local_array::<i32, 1>("cells", &Layout::new([5]))?;
    /// let flags = world.local_array::<u32, 1>("flags", &Layout::new([5]))?;
    /// cells.all().write(&[3, -1, 4, -1, 5])?;
    /// world.elementwise("u32(x > 0)").call().read("x", cells.all()).write("flag", flags.all())?;
    /// let positive = world.local_array::<i32, 1>("positive", &Layout::new([5]))?;
    /// assert_eq!(world.on_rank().compact(&cells, &flags, &positive)?, 3);
    /// assert_eq!(positive.at(..3).read()?, [3, 4, 5]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn compact<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        flags: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("compact");
        let (input, flags, output) = (input.into(), flags.into(), output.into());
        let (input, flags, output) = (input.cells()?, flags.cells()?, output.cells()?);
        input.check_length(flags, "the sequence of flags")?;
        Selection::new(self.world(), &flags.clone().apart_from(Some(output), false)?)?.compact(input, output)
    }

    /// Copies all cells to the output: first the cells whose flag is not 0, then the others, both
    /// in order. Returns the number of cells whose flag is not 0. Local; waits for the device.
    ///
    /// # Errors
    /// Different lengths, an invalid section, a device failure.
    #[track_caller]
    pub fn partition<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        flags: impl IntoSequence<u32>,
        output: impl IntoSequence<T>,
    ) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("partition");
        let (input, flags, output) = (input.into(), flags.into(), output.into());
        let (input, flags, output) = (input.cells()?, flags.cells()?, output.cells()?);
        input.check_length(flags, "the sequence of flags")?;
        input.check_length(output, "the output")?;
        Selection::new(self.world(), &flags.clone().apart_from(Some(output), false)?)?.partition(input, output)
    }

    /// Copies the first cell of each run of equal cells to the output, and returns their number.
    /// Cells are equal if all their bits are. Local; waits for the device.
    ///
    /// # Errors
    /// An output that is too short (nothing is written), an invalid section, a device failure.
    #[track_caller]
    pub fn unique<T: Element>(&self, input: impl IntoSequence<T>, output: impl IntoSequence<T>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("unique");
        let (input, output) = (input.into(), output.into());
        let (input, output) = (input.cells()?, output.cells()?);
        Selection::new(self.world(), &flags_of(self.world(), input)?)?.compact(input, output)
    }
}

impl<K: Element, T: Element> Combination<'_, T, ByKey<K>> {
    /// Writes the key of each run of equal keys, and the combination of its cells from left to
    /// right, to the first cells of the outputs, and returns the number of runs. Local; waits for
    /// the device.
    ///
    /// Cells are combined as by [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// * Outputs that are too short: nothing is written.
    /// * Different lengths of keys and cells.
    /// * An operator that the cells do not support.
    /// * An invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = |name| world.local_array::<u32, 1>(name, &Layout::new([5]));
    /// let (keys, values, runs, sums) = (array("keys")?, array("values")?, array("runs")?, array("sums")?);
    /// keys.all().write(&[7, 7, 2, 2, 2])?;
    /// values.all().write(&[3, 1, 4, 1, 5])?;
    /// let by_key = world.on_rank().combine(&values, &Operator::Add).by_key(&keys);
    /// assert_eq!(by_key.reduce_runs(&runs, &sums)?, 2);
    /// assert_eq!((runs.at(..2).read()?, sums.at(..2).read()?), (vec![7, 2], vec![4, 10]));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_runs(self, keys_output: impl IntoSequence<K>, output: impl IntoSequence<T>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce_runs");
        let keys = self.segment_cells()?;
        let (world, values, operation) = (self.world(), self.input()?, self.operation(None)?);
        let (keys_output, output) = (keys_output.into(), output.into());
        let (keys_output, output) = (keys_output.cells()?, output.cells()?);
        keys.check_length(values, "the sequence of values")?;
        operation.check(world.gpu(), world.backend().is_host_scan(&operation))?;
        world.backend().reduce_runs(world, &operation, [keys, values], [keys_output, output])
    }
}

/// Combines the values of each run of equal keys by a segmented scan, and selects the last cell of
/// each run.
pub(super) fn reduce_runs_by_scan(
    world: &World,
    operation: &ScanOperation<'_>,
    [keys, values]: [&CellSequence; 2],
    [keys_output, values_output]: [&CellSequence; 2],
) -> Result<u64> {
    let heads = flags_of(world, keys)?;
    let sums = world.scratch_cells("reduced by key", operation.element, values.len())?;
    run(world, operation, values, Heads::Flags(&heads), Some(&sums))?;
    let tails = Selection::new(world, &tails(world, &heads)?)?;
    check_room(tails.count, values_output)?;
    tails.compact(keys, keys_output)?;
    tails.compact(&sums, values_output)
}

/// Selection of the cells of a sequence whose flag is not 0.
pub(super) struct Selection<'a> {
    world: &'a World,
    flags: CellSequence,
    /// Number of selected cells before each cell, if kernels move the cells.
    before: Option<CellSequence>,
    count: u64,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(world: &'a World, flags: &CellSequence) -> Result<Self> {
        if flags.len() > u64::from(u32::MAX) {
            let text =
                format!("{} has {} cells; at most {} can be selected from", flags.label(), flags.len(), u32::MAX);
            return Err(ArrayError::Other(text).into());
        }
        let (count, before) = world.backend().count_selected(world, flags)?;
        Ok(Self { world, flags: flags.clone(), before, count })
    }

    /// Copies the selected cells to the first cells of the output.
    #[track_caller]
    pub(crate) fn compact(&self, input: &CellSequence, output: &CellSequence) -> Result<u64> {
        let _call = CallSite::enter();
        check_room(self.count, output)?;
        let output = output.only(0..self.count);
        match &self.before {
            Some(before) => scatter(
                self.world,
                input,
                &kernels::destinations(self.world, "place_selected", [&self.flags, before], self.count)?,
                &output,
            )?,
            None if input.overlaps(&output) => host::copy(&input.copied()?, &self.flags, &output, true)?,
            None => host::copy(input, &self.flags, &output, true)?,
        }
        Ok(self.count)
    }

    /// Copies the selected cells to the output, and after them the others.
    fn partition(&self, input: &CellSequence, output: &CellSequence) -> Result<u64> {
        match &self.before {
            Some(before) => scatter(
                self.world,
                input,
                &kernels::destinations(self.world, "place_all", [&self.flags, before], self.count)?,
                output,
            )?,
            None => {
                if input.overlaps(output) {
                    return self.partition(&input.copied()?, output);
                }
                host::copy(input, &self.flags, &output.only(0..self.count), true)?;
                host::copy(input, &self.flags, &output.only(self.count..output.len()), false)?;
            }
        }
        Ok(self.count)
    }
}

/// Sets marks to 1 where flags are not 0, and to 0 elsewhere.
pub(super) fn mark(world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()> {
    world.backend().mark(world, flags, marks)
}

/// Returns flags of the last cells of segments, computed from the flags `heads` of their first
/// cells.
pub(super) fn tails(world: &World, heads: &CellSequence) -> Result<CellSequence> {
    world.backend().tails(world, heads)
}
