//! Lower and upper bounds in sorted keys, over what one rank holds.

mod over_ranks;

use super::on_rank::OnRank;
use super::sort::{KeyOrder, SortKey};
use crate::World;
use crate::array::{Cells, IntoSequence, Sequence, stretches};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::kernel::KernelSource;

/// Bytes of needles that the host has at hand at a time.
const BYTES: usize = 128 << 10;

impl OnRank<'_> {
    /// For each needle, how many of the sorted keys are smaller: the first place where it could stand. Local.
    ///
    /// Keys are in the order of [`sort`](Self::sort), so that `f32` are in total order. Where they are not sorted, so
    /// that the bounds mean nothing, some numbers come out.
    ///
    /// # Errors
    /// Lengths of needles and bounds that differ, a bad section, a failing device.
    ///
    /// ```
    /// # use zippy::{Layout, World};
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
        let _acting = self.world().acting("lower_bound");
        self.bounds(&keys.into(), &needles.into(), &bounds.into(), BoundSide::Lower)
    }

    /// For each needle, how many of the sorted keys are not larger: the last place where it could stand. Local, as
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
        let _acting = self.world().acting("upper_bound");
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
        check_count(keys.cells()?.len(), || keys.cells().map_or(String::new(), Cells::label))?;
        let keys = keys.cells()?.clone().apart_from(Some(bounds), false)?;
        let needles = needles.clone().apart_from(Some(bounds), false)?;
        find(self.world(), K::ORDER, &keys, &needles, bounds, side, true)
    }
}

/// Bounds are numbers of 32 bits.
pub(super) fn check_count(keys: u64, label: impl Fn() -> String) -> Result<()> {
    if keys <= u64::from(u32::MAX) {
        return Ok(());
    }
    let text = format!("{} has {keys} cells; bounds are found among at most {}", label(), u32::MAX);
    Err(ArrayError::Other(text).into())
}

/// Which of equal keys count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundSide {
    /// None.
    Lower,
    /// All.
    Upper,
}

/// Sets the bounds to how many keys come before each needle, or adds that. Each part of the keys may be sorted by itself.
pub(super) fn find(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    needles: &Cells,
    bounds: &Cells,
    side: BoundSide,
    mut fresh: bool,
) -> Result<()> {
    if fresh && keys.len() == 0 {
        return bounds.fill(&[0; 4]);
    }
    let text = format!(
        "{}const UPPER = {};\n{}",
        order.declarations(),
        side == BoundSide::Upper,
        include_str!("../../../shaders/search/bound.wgsl"),
    );
    let kernel = world.composed(&KernelSource::composed("bounds", text))?;
    for part in keys.parts() {
        for piece in stretches(&[needles, bounds]) {
            let call = kernel.call().read("keys", part.in_words()).read("needles", piece.parts[0].in_words());
            let call = call.update("bounds", piece.parts[1].binding()).param("fresh", u32::from(fresh));
            call.over([piece.cells() as i64]).run()?;
        }
        fresh = false;
    }
    Ok(())
}

/// A rank for each needle, by the host.
fn ranks(world: &World, order: KeyOrder, needles: &Cells, rank: impl Fn(u64) -> u32) -> Result<Cells> {
    let ranks = Cells::scratch(&world.home(), "ranks of needles", &u32::INFO, needles.len())?;
    for slice in needles.slices(BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize * order.words];
        needles.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        let found: Vec<u32> = some.chunks_exact(order.words).map(|needle| rank(order.number(needle))).collect();
        ranks.write(slice, bytemuck::cast_slice(&found))?;
    }
    Ok(ranks)
}
