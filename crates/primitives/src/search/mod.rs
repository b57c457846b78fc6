//! Lower and upper bounds in sorted keys on one rank.

mod over_ranks;

use zippy::World;
use zippy::array::{IntoSequence, Sequence};
use zippy::collective::{CellSequence, CollectiveWorld, align_parts};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::kernel::KernelSource;
use zippy::wgsl_module;

use super::on_rank::OnRank;
use super::sort_key::{KeyOrder, SortKey};

/// Size, in bytes, of the portion of needles that the host processes at a time.
const PORTION_BYTES: usize = 128 << 10;

impl OnRank<'_> {
    /// Lower bound: for each needle, the number of sorted keys that are smaller, which is the first
    /// position where the needle could be inserted. Local.
    ///
    /// Keys are in the order of [`sort`](Self::sort): `f32` are in total order. If the keys are not
    /// sorted, the results are unspecified numbers.
    ///
    /// # Errors
    /// Different lengths of needles and bounds, an invalid section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let keys = world.local_array::<u32, 1>("keys", &Layout::new([5]))?;
    /// keys.all().write(&[1, 3, 3, 3, 7])?;
    /// let needles = world.local_array::<u32, 1>("needles", &Layout::new([3]))?;
    /// needles.all().write(&[3, 0, 9])?;
    /// let bounds = world.local_array::<u32, 1>("bounds", &Layout::new([3]))?;
    /// world.on_rank().lower_bound(&keys, &needles, &bounds)?;
    /// assert_eq!(bounds.all().read()?, [1, 0, 5]);
    /// world.on_rank().upper_bound(&keys, &needles, &bounds)?;
    /// assert_eq!(bounds.all().read()?, [4, 0, 5]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn lower_bound<K: SortKey>(
        &self,
        keys: impl IntoSequence<K>,
        needles: impl IntoSequence<K>,
        bounds: impl IntoSequence<u32>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("lower_bound");
        self.bounds(&keys.into(), &needles.into(), &bounds.into(), BoundSide::Lower)
    }

    /// Upper bound: for each needle, the number of sorted keys that are not larger, which is the
    /// last position where the needle could be inserted. Local, as
    /// [`lower_bound`](Self::lower_bound).
    ///
    /// # Errors
    /// As [`lower_bound`](Self::lower_bound).
    #[track_caller]
    pub fn upper_bound<K: SortKey>(
        &self,
        keys: impl IntoSequence<K>,
        needles: impl IntoSequence<K>,
        bounds: impl IntoSequence<u32>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("upper_bound");
        self.bounds(&keys.into(), &needles.into(), &bounds.into(), BoundSide::Upper)
    }

    fn bounds<K: SortKey>(
        &self,
        keys: &Sequence<K>,
        needles: &Sequence<K>,
        bounds: &Sequence<u32>,
        side: BoundSide,
    ) -> Result<()> {
        let (needles, bounds) = (needles.cells()?, bounds.cells()?);
        needles.check_length(bounds, "the sequence of bounds")?;
        check_count(keys.cells()?.len(), || keys.cells().map_or(String::new(), CellSequence::label))?;
        let keys = keys.cells()?.clone().apart_from(Some(bounds), false)?;
        let needles = needles.clone().apart_from(Some(bounds), false)?;
        find(self.world(), K::ORDER, &keys, &needles, bounds, side, true)
    }
}

/// Fails if numbers of keys do not fit in 32 bits.
pub(super) fn check_count(keys: u64, label: impl Fn() -> String) -> Result<()> {
    if keys <= u64::from(u32::MAX) {
        return Ok(());
    }
    let text = format!("{} has {keys} cells; bounds are found among at most {}", label(), u32::MAX);
    Err(ArrayError::Other(text).into())
}

/// Treatment of keys that are equal to the needle in a search for bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundSide {
    /// Equal keys do not count: the bound is before them.
    Lower,
    /// Equal keys count: the bound is after them.
    Upper,
}

/// Sets each bound to the number of keys before the needle, or adds this number to the bound. Each
/// part of the keys may be sorted separately.
pub(super) fn find(
    world: &World,
    order: KeyOrder,
    keys: &CellSequence,
    needles: &CellSequence,
    bounds: &CellSequence,
    side: BoundSide,
    mut fresh: bool,
) -> Result<()> {
    if fresh && keys.is_empty() {
        return bounds.fill(&[0; 4]);
    }
    let composer = order.declarations().constant("UPPER", side == BoundSide::Upper);
    let text = composer.module(wgsl_module!("../../shaders/search/bound.wgsl")).compose()?;
    let kernel = world.cached_kernel(&KernelSource::composed("bounds", text))?;
    for part in keys.parts() {
        for piece in align_parts(&[needles, bounds]) {
            let call = kernel.call().read("keys", part.in_words()).read("needles", piece.parts[0].in_words());
            let call = call.update("bounds", piece.parts[1].binding()).param("fresh", u32::from(fresh));
            call.over([piece.cells() as i64]).run()?;
        }
        fresh = false;
    }
    Ok(())
}

/// Computes a bound for each needle on the host, by the function `rank` of a needle as a number.
fn bounds_on_host(
    world: &World,
    order: KeyOrder,
    needles: &CellSequence,
    rank: impl Fn(u64) -> u32,
) -> Result<CellSequence> {
    let ranks = world.scratch_cells("ranks of needles", &u32::INFO, needles.len())?;
    for slice in needles.slices(PORTION_BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize * order.words];
        needles.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        let found: Vec<u32> = some.chunks_exact(order.words).map(|needle| rank(order.number(needle))).collect();
        ranks.write(slice, bytemuck::cast_slice(&found))?;
    }
    Ok(ranks)
}
