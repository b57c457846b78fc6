//! Segmented reductions and sorts of distributed vectors.

use zippy::array::GlobalArray;
use zippy::collective::CollectiveWorld;
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

use crate::scan::{ByFlag, Segmentation, VectorCombination};
use crate::select::mark;
use crate::select::over_ranks::{ends, selected};
use crate::sort_key::SortKey;
use crate::vectors::{IntoVector, Vector, Vectors, array, check_lengths, fitted, local_cells, ordered, spans};

const WHAT: &str = "the vector of flags";

impl<T: Element> VectorCombination<'_, T, ByFlag> {
    /// Creates a vector with the combination of each segment, from first to last. Collective, as
    /// [`Vectors::compact`]: the result of a segment on several ranks is on the last of them.
    ///
    /// Cells are combined as by [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// As [`Vectors::compact`], and an operator that the cells do not support.
    #[track_caller]
    pub fn reduce_segments(self, name: &str) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let (vectors, flags, values) = (self.vectors(), self.segment_cells(), self.input());
        let world = vectors.world();
        let _operation = world.enter_operation("reduce_segments");
        check_lengths(values, flags, WHAT)?;
        let named = vec![flags.named()?, values.named()?];
        vectors.collective("reduce_segments", named, (name, self.operator().to_parts()), || Ok(()))?;
        let cut = ordered(world, &values.spans()?);
        let flags = flags.fitted(world, "flags of a reduction", &cut, true)?;
        let sums = array::<T>(world, "zippy: sums of segments", values.cells()?, &cut)?;
        self.cut::<ByFlag>(Segmentation::Flags(flags.vector())).inclusive_scan(&sums)?;
        let ends = world.failing("reduce_segments", || {
            let flags = flags.local_cells()?;
            let heads = world.scratch_cells("heads of segments", &u32::INFO, flags.len())?;
            mark(world, &flags, &heads)?;
            ends(world, &heads)
        })?;
        let sums = fitted(world, "sums of a reduction", &(&sums).into(), &cut, true)?;
        selected(world, name, "reduce_segments", &ends, &sums)
    }
}

impl<'w> Vectors<'w> {
    /// Cuts vectors into segments, which are then sorted separately: one begins at each flag that
    /// is not 0, and at the first cell. Segments may extend over several ranks. For scans and
    /// reductions of segments, see [`by_flag`](VectorCombination::by_flag).
    pub fn segments(&self, flags: impl IntoVector<u32>) -> VectorSegments<'w> {
        VectorSegments { vectors: *self, flags: flags.into() }
    }
}

/// Segments of distributed vectors, defined by flags. Created by [`Vectors::segments`].
#[must_use = "segments are sorted when `sort` or `sort_pairs` is called"]
#[derive(Clone)]
pub struct VectorSegments<'w> {
    vectors: Vectors<'w>,
    flags: Vector<u32>,
}

impl VectorSegments<'_> {
    /// Sorts the keys of each segment separately. Collective; stable. Costs two sorts of pairs.
    ///
    /// # Errors
    /// As [`Vectors::sort_pairs`], and more than 4,294,967,295 cells.
    #[track_caller]
    pub fn sort<K: SortKey>(&self, keys: impl IntoVector<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.vectors.world().enter_operation("segments.sort");
        let (vectors, flags, keys) = (self.vectors, &self.flags, keys.into());
        keys.check_length(flags, WHAT)?;
        keys.check_numbers()?;
        vectors.collective("segments.sort", vec![flags.named()?, keys.named()?], (), || Ok(()))?;
        let segments = self.numbers("segments.sort", &keys)?;
        vectors.sort_pairs(&keys, &segments)?;
        // Stable sort by segment, after the sort by key.
        vectors.sort_pairs(&segments, &keys)
    }

    /// Sorts pairs of keys and values of each segment separately, by their keys, as
    /// [`sort`](Self::sort) does for keys. Costs two sorts of pairs and three gathers.
    ///
    /// # Errors
    /// As [`Vectors::sort_pairs`], and more than 4,294,967,295 cells.
    #[track_caller]
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl IntoVector<K>,
        values: impl IntoVector<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let (vectors, flags, keys, values) = (self.vectors, &self.flags, keys.into(), values.into());
        let world = vectors.world();
        let _operation = world.enter_operation("segments.sort_pairs");
        keys.check_length(flags, WHAT)?;
        keys.check_length(&values, "the vector of values")?;
        keys.check_apart(&values)?;
        keys.check_numbers()?;
        let named = vec![flags.named()?, keys.named()?, values.named()?];
        vectors.collective("segments.sort_pairs", named, (), || Ok(()))?;
        let segments = self.numbers("segments.sort_pairs", &keys)?;
        let by_segment = vectors.cut_like("zippy: segments by key", &segments, &segments)?;
        let by_key = vectors.cut_like("zippy: keys apart", &keys, &keys)?;
        let positions = array::<u32>(world, "zippy: places", keys.cells()?, &spans(&keys)?)?;
        world.failing("segments.sort_pairs", || {
            world.elementwise("bitcast<u32>(p)").call().write("places", positions.at(..))
        })?;
        vectors.sort_pairs(&by_key, &positions)?;
        vectors.gather(&segments, &positions, &by_segment)?;
        vectors.sort_pairs(&by_segment, &positions)?;
        vectors.gather(&keys, &positions, &keys)?;
        vectors.gather(&values, &positions, &values)
    }

    fn numbers<K: SortKey>(&self, verb: &'static str, keys: &Vector<K>) -> Result<GlobalArray<u32, 1>> {
        let world = self.vectors.world();
        let segments = array::<u32>(world, "zippy: segments", keys.cells()?, &spans(keys)?)?;
        world.copy(self.flags.section(), segments.at(..))?;
        world.failing(verb, || {
            let local_numbers = local_cells(&(&segments).into())?;
            mark(world, &local_numbers.copied()?, &local_numbers)
        })?;
        self.vectors.combine(&segments, &Operator::Add).inclusive_scan(&segments)?;
        Ok(segments)
    }
}
