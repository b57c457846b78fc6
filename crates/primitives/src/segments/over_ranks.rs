//! Segmented reductions and sorts of distributed vectors.

use zippy::array::GlobalArray;
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

use crate::select::mark;
use crate::select::over_ranks::{ends, selected};
use crate::sort::SortKey;
use crate::vectors::{IntoVector, Vector, Vectors, array, fitted, local_cells, ordered, spans};

const WHAT: &str = "the vector of flags";

impl Vectors<'_> {
    /// Creates a vector with the combination of the values of each segment, from first to last. A
    /// segment begins at each flag that is not 0, and at the first cell. Values are combined as by
    /// [`inclusive_scan`](Self::inclusive_scan). Collective, as [`compact`](Self::compact): the
    /// result of a segment on several ranks is on the last of them.
    ///
    /// # Errors
    /// As [`compact`](Self::compact), and an operator that the values do not support.
    #[track_caller]
    pub fn reduce_by_flag<V: Element>(
        &self,
        name: &str,
        flags: impl IntoVector<u32>,
        values: impl IntoVector<V>,
        operator: &Operator,
    ) -> Result<GlobalArray<V, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce_by_flag");
        let (world, flags, values) = (self.world(), flags.into(), values.into());
        values.check_length(&flags, WHAT)?;
        let named = vec![flags.named()?, values.named()?];
        self.collective("reduce_by_flag", named, (name, operator.to_parts()), || Ok(()))?;
        let cut = ordered(world, &spans(&values)?);
        let flags = fitted(world, "flags of a reduction", &flags, &cut, true)?;
        let sums = array::<V>(world, "zippy: sums of segments", values.cells()?, &cut)?;
        self.inclusive_scan_by_flag(&flags.vector, &values, &sums, operator)?;
        let ends = world.failing("reduce_by_flag", || {
            let flags = local_cells(&flags.vector)?;
            let heads = world.scratch_cells("heads of segments", &u32::INFO, flags.len())?;
            mark(world, &flags, &heads)?;
            ends(world, &heads)
        })?;
        let sums = fitted(world, "sums of a reduction", &(&sums).into(), &cut, true)?;
        selected(world, name, "reduce_by_flag", &ends, &sums)
    }

    /// Sorts the keys of each segment separately. A segment begins at each flag that is not 0, and
    /// at the first cell. Segments may extend over several ranks. Collective; stable. Costs two
    /// sorts of pairs.
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs), and more than 4,294,967,295 cells.
    #[track_caller]
    pub fn sort_segments<K: SortKey>(&self, flags: impl IntoVector<u32>, keys: impl IntoVector<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_segments");
        let (flags, keys) = (flags.into(), keys.into());
        keys.check_length(&flags, WHAT)?;
        keys.check_numbers()?;
        self.collective("sort_segments", vec![flags.named()?, keys.named()?], (), || Ok(()))?;
        let segments = self.segments("sort_segments", &flags, &keys)?;
        self.sort_pairs(&keys, &segments)?;
        // Stable sort by segment, after the sort by key.
        self.sort_pairs(&segments, &keys)
    }

    /// [`sort_segments`](Self::sort_segments) of pairs of keys and values, by their keys. Costs two
    /// sorts of pairs and three gathers.
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs), and more than 4,294,967,295 cells.
    #[track_caller]
    pub fn sort_segments_pairs<K: SortKey, V: Element>(
        &self,
        flags: impl IntoVector<u32>,
        keys: impl IntoVector<K>,
        values: impl IntoVector<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_segments_pairs");
        let (world, flags, keys, values) = (self.world(), flags.into(), keys.into(), values.into());
        keys.check_length(&flags, WHAT)?;
        keys.check_length(&values, "the vector of values")?;
        keys.check_apart(&values)?;
        keys.check_numbers()?;
        let named = vec![flags.named()?, keys.named()?, values.named()?];
        self.collective("sort_segments_pairs", named, (), || Ok(()))?;
        let segments = self.segments("sort_segments_pairs", &flags, &keys)?;
        let by_segment = self.cut_like("zippy: segments by key", &segments, &segments)?;
        let by_key = self.cut_like("zippy: keys apart", &keys, &keys)?;
        let positions = array::<u32>(world, "zippy: places", keys.cells()?, &spans(&keys)?)?;
        world.failing("sort_segments_pairs", || {
            world.elementwise("bitcast<u32>(p)").call().write("places", positions.at(..))
        })?;
        self.sort_pairs(&by_key, &positions)?;
        self.gather(&segments, &positions, &by_segment)?;
        self.sort_pairs(&by_segment, &positions)?;
        self.gather(&keys, &positions, &keys)?;
        self.gather(&values, &positions, &values)
    }

    /// The segment number of each cell.
    fn segments<K: SortKey>(
        &self,
        verb: &'static str,
        flags: &Vector<u32>,
        keys: &Vector<K>,
    ) -> Result<GlobalArray<u32, 1>> {
        let world = self.world();
        let segments = array::<u32>(world, "zippy: segments", keys.cells()?, &spans(keys)?)?;
        world.copy(flags.section(), segments.at(..))?;
        world.failing(verb, || {
            let local_numbers = local_cells(&(&segments).into())?;
            mark(world, &local_numbers.copied()?, &local_numbers)
        })?;
        self.inclusive_scan(&segments, &segments, &Operator::Add)?;
        Ok(segments)
    }
}
