//! Reductions and sorts of segments on one rank.

mod over_ranks;

use zippy::array::IntoSequence;
use zippy::collective::CellSequence;
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

use super::heads::Heads;
use super::on_rank::OnRank;
use super::permute::gather;
use super::scan::{ScanOperation, count, run};
use super::select::{Selection, mark, tails};
use super::sort::{SortKey, check_apart, sort};

impl OnRank<'_> {
    /// Combines the values of each segment from left to right, and returns the number of segments.
    /// A segment begins at each flag that is not 0, and at the first cell. Values are combined as
    /// by [`inclusive_scan`](Self::inclusive_scan). Local; waits for the device.
    ///
    /// # Errors
    /// * An output that is too short: nothing is written.
    /// * Different lengths of flags and values.
    /// * An operator that the values do not support.
    /// * An invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = |name| world.local_array::<u32, 1>(name, &Layout::new([5]));
    /// let (flags, values, sums) = (array("flags")?, array("values")?, array("sums")?);
    /// flags.all().write(&[0, 0, 1, 1, 0])?;
    /// values.all().write(&[3, 1, 4, 1, 5])?;
    /// assert_eq!(world.on_rank().reduce_by_flag(&flags, &values, &sums, &Operator::Add)?, 3);
    /// assert_eq!(sums.at(..3).read()?, [4, 4, 6]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_by_flag<V: Element>(
        &self,
        flags: impl IntoSequence<u32>,
        values: impl IntoSequence<V>,
        output: impl IntoSequence<V>,
        operator: &Operator,
    ) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce_by_flag");
        let (world, flags, values, output) = (self.world(), flags.into(), values.into(), output.into());
        let (flags, values, output) = (flags.cells()?, values.cells()?, output.cells()?);
        values.check_length(flags, "the sequence of flags")?;
        let scratch = |name, element| world.scratch_cells(name, element, values.len());
        let (heads, sums) = (scratch("heads of segments", &u32::INFO)?, scratch("sums of segments", &V::INFO)?);
        mark(world, flags, &heads)?;
        run(world, &ScanOperation::inclusive(operator, &V::INFO), values, Heads::Flags(&heads), Some(&sums))?;
        Selection::new(world, &tails(world, &heads)?)?.compact(&sums, output)
    }

    /// Sorts the keys of each segment separately. A segment begins at each flag that is not 0, and
    /// at the first cell. Local; stable. Needs memory for the segment and the position of each cell
    /// in addition to that of [`sort`](Self::sort).
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs).
    #[track_caller]
    pub fn sort_segments<K: SortKey>(&self, flags: impl IntoSequence<u32>, keys: impl IntoSequence<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_segments");
        let (flags, keys) = (flags.into(), keys.into());
        let keys = keys.cells()?;
        let (segments, _) = self.by_segment::<K>(flags.cells()?, keys)?;
        // Stable sort by segment, after the sort by key.
        sort(self.world(), u32::ORDER, &segments, Some(keys))
    }

    /// [`sort_segments`](Self::sort_segments) of pairs of keys and values, by their keys.
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs).
    #[track_caller]
    pub fn sort_segments_pairs<K: SortKey, V: Element>(
        &self,
        flags: impl IntoSequence<u32>,
        keys: impl IntoSequence<K>,
        values: impl IntoSequence<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_segments_pairs");
        let (flags, keys, values) = (flags.into(), keys.into(), values.into());
        let (keys, values) = (keys.cells()?, values.cells()?);
        keys.check_length(values, "the sequence of values")?;
        check_apart(keys, values)?;
        let (segments, positions) = self.by_segment::<K>(flags.cells()?, keys)?;
        let again = self.world().scratch_cells("segments of cells", &u32::INFO, keys.len())?;
        segments.copy_to(&again)?;
        sort(self.world(), u32::ORDER, &segments, Some(keys))?;
        sort(self.world(), u32::ORDER, &again, Some(&positions))?;
        let moved = self.world().scratch_cells("values of segments", values.element(), values.len())?;
        gather(self.world(), values, &positions, &moved)?;
        moved.copy_to(values)
    }

    /// Sorts keys, together with the segment number and the position of each key.
    fn by_segment<K: SortKey>(
        &self,
        flags: &CellSequence,
        keys: &CellSequence,
    ) -> Result<(CellSequence, CellSequence)> {
        keys.check_length(flags, "the sequence of flags")?;
        let world = self.world();
        let scratch = |name| world.scratch_cells(name, &u32::INFO, keys.len());
        let (segments, positions) = (scratch("segments")?, count(world, keys.len())?);
        // Flags may be any numbers; a missing flag at the first cell does not change the order.
        mark(world, flags, &segments)?;
        run(world, &ScanOperation::inclusive(&Operator::Add, &u32::INFO), &segments, Heads::None, Some(&segments))?;
        let by_key = scratch("segments by key")?;
        sort(world, K::ORDER, keys, Some(&positions))?;
        gather(world, &segments, &positions, &by_key)?;
        Ok((by_key, positions))
    }
}
