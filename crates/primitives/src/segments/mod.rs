//! Reductions and sorts of segments on one rank.

mod over_ranks;

pub use self::over_ranks::VectorSegments;

use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

use super::heads::Heads;
use super::on_rank::OnRank;
use super::permute::gather;
use super::scan::{ByFlag, Combination, ScanOperation, count, run};
use super::select::{Selection, mark, tails};
use super::sort::{check_apart, sort};
use super::sort_key::SortKey;

impl<T: Element> Combination<'_, T, ByFlag> {
    /// Writes the combination of each segment, from left to right, to the first cells of the
    /// output, and returns the number of segments. Local; waits for the device.
    ///
    /// Cells are combined as by [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// * An output that is too short: nothing is written.
    /// * Different lengths of flags and cells.
    /// * An operator that the cells do not support.
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
    /// let segments = world.on_rank().combine(&values, &Operator::Add).by_flag(&flags);
    /// assert_eq!(segments.reduce_segments(&sums)?, 3);
    /// assert_eq!(sums.at(..3).read()?, [4, 4, 6]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_segments(self, output: impl IntoSequence<T>) -> Result<u64> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce_segments");
        let (world, output) = (self.world(), output.into());
        let (values, output, operation) = (self.input()?, output.cells()?, self.operation(None)?);
        let flags = self.segment_cells()?;
        values.check_length(flags, "the sequence of flags")?;
        let scratch = |name, element| world.scratch_cells(name, element, values.len());
        let (heads, sums) = (scratch("heads of segments", &u32::INFO)?, scratch("sums of segments", &T::INFO)?);
        mark(world, flags, &heads)?;
        run(world, &operation, values, Heads::Flags(&heads), Some(&sums))?;
        Selection::new(world, &tails(world, &heads)?)?.compact(&sums, output)
    }
}

impl<'w> OnRank<'w> {
    /// Cuts sequences into segments, which are then sorted separately: one begins at each flag that
    /// is not 0, and at the first cell. For scans and reductions of segments, see
    /// [`by_flag`](Combination::by_flag).
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = |name| world.local_array::<u32, 1>(name, &Layout::new([5]));
    /// let (flags, keys) = (array("flags")?, array("keys")?);
    /// flags.all().write(&[0, 0, 1, 0, 0])?;
    /// keys.all().write(&[3, 1, 4, 1, 5])?;
    /// world.on_rank().segments(&flags).sort(&keys)?;
    /// assert_eq!(keys.all().read()?, [1, 3, 1, 4, 5]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn segments(&self, flags: impl IntoSequence<u32>) -> Segments<'w> {
        let _call = CallSite::enter();
        Segments { world: self.world(), flags: flags.into().cells().cloned() }
    }
}

/// Segments of sequences of this rank, defined by the flags at the time of [`OnRank::segments`].
#[must_use = "segments are sorted when `sort` or `sort_pairs` is called"]
#[derive(Clone)]
pub struct Segments<'w> {
    world: &'w World,
    flags: Result<CellSequence>,
}

impl Segments<'_> {
    /// Sorts the keys of each segment separately. Local; stable. Needs memory for the segment and
    /// the position of each cell in addition to that of [`OnRank::sort`].
    ///
    /// # Errors
    /// As [`OnRank::sort_pairs`].
    #[track_caller]
    pub fn sort<K: SortKey>(&self, keys: impl IntoSequence<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world.enter_operation("segments.sort");
        let keys = keys.into();
        let keys = keys.cells()?;
        let (segments, _) = self.by_segment::<K>(keys)?;
        // Stable sort by segment, after the sort by key.
        sort(self.world, u32::ORDER, &segments, Some(keys))
    }

    /// Sorts pairs of keys and values of each segment separately, by their keys, as
    /// [`sort`](Self::sort) does for keys.
    ///
    /// # Errors
    /// As [`OnRank::sort_pairs`].
    #[track_caller]
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl IntoSequence<K>,
        values: impl IntoSequence<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world.enter_operation("segments.sort_pairs");
        let (keys, values) = (keys.into(), values.into());
        let (keys, values) = (keys.cells()?, values.cells()?);
        keys.check_length(values, "the sequence of values")?;
        check_apart(keys, values)?;
        let (segments, positions) = self.by_segment::<K>(keys)?;
        let again = self.world.scratch_cells("segments of cells", &u32::INFO, keys.len())?;
        segments.copy_to(&again)?;
        sort(self.world, u32::ORDER, &segments, Some(keys))?;
        sort(self.world, u32::ORDER, &again, Some(&positions))?;
        let moved = self.world.scratch_cells("values of segments", values.element(), values.len())?;
        gather(self.world, values, &positions, &moved)?;
        moved.copy_to(values)
    }

    /// Sorts keys together with the segment number and the position of each key, and returns the
    /// latter two.
    fn by_segment<K: SortKey>(&self, keys: &CellSequence) -> Result<(CellSequence, CellSequence)> {
        let flags = self.flags.as_ref().map_err(Clone::clone)?;
        keys.check_length(flags, "the sequence of flags")?;
        let world = self.world;
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
