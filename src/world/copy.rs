//! `World::copy` and `World::start_copy`: copies between sections of global and local arrays.

use super::exchange::Exchange;
use super::local_box::{LocalBox, copy_boxes};
use super::one_sided::{from_local, to_local};
use super::{Pending, World};
use crate::array::{ChunkRef, GlobalArray, GlobalSection, Growable, LocalArray, LocalSection, UntypedSection};
use crate::element::Element;
use crate::error::{CallSite, PlanError, Result};
use crate::plan::Moved;

/// Source or destination of a copy.
#[derive(Debug, Clone)]
pub enum Section<T, const D: usize> {
    /// Section of a global array. Every rank passes the same one.
    Global(GlobalSection<T, D>),
    /// Section of a local array or a chunk of the calling rank.
    Local(LocalSection<T, D>),
}

/// Types that a copy accepts as a [`Section`]: sections by value or by reference, and arrays and
/// chunks by reference, for all their cells.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a section of an array",
    label = "not a section",
    note = "pass `&array` for all its cells, or a section such as `array.at((0..4, ..))`, by value or by reference"
)]
pub trait IntoSection<T, const D: usize>: Into<Section<T, D>> {}

macro_rules! sections {
    ($([$($generics:tt)*] $variant:ident $axes:tt $type:ty;)*) => {$(
        impl<T: Element, $($generics)*> IntoSection<T, $axes> for $type {}

        impl<T: Element, $($generics)*> From<$type> for Section<T, $axes> {
            fn from(section: $type) -> Self {
                Self::$variant(section.into())
            }
        }
    )*};
}
sections! {
    [const D: usize] Global D GlobalSection<T, D>;
    [const D: usize] Global D &GlobalSection<T, D>;
    [const D: usize] Global D &GlobalArray<T, D>;
    [const D: usize] Local D LocalSection<T, D>;
    [const D: usize] Local D &LocalSection<T, D>;
    [const D: usize] Local D &LocalArray<T, D>;
    [const D: usize] Local D &ChunkRef<T, D>;
    [] Local 1 &Growable<T>;
}

impl<T: Element, const D: usize> IntoSection<T, D> for Section<T, D> {}

impl<T: Element, const D: usize> Section<T, D> {
    /// Converts to a section without static element type.
    ///
    /// # Errors
    /// An invalid region; a local section that consists of several boxes.
    pub(crate) fn to_untyped(&self, verb: &str) -> Result<UntypedSection> {
        Ok(match self {
            Self::Global(global) => UntypedSection { core: global.core.clone(), region: global.region()?, chunk: None },
            Self::Local(local) => {
                UntypedSection { core: local.core().clone(), region: local.one_box(verb)?, chunk: Some(local.chunk()) }
            }
        })
    }
}

impl World {
    /// Copies a section to another section of the same extents (paper: zCopy). Collective.
    ///
    /// * Global to global: every rank passes the same sections. The arrays may differ in layout and
    ///   ownership, or be the same array with overlapping regions: all sources are read before the
    ///   first cell is written.
    /// * Global to local, and local to global: every rank passes a local section of its own and the
    ///   global region that corresponds to it. Ranks without data pass empty sections. When several
    ///   ranks write a cell, the value of the highest rank remains.
    /// * Local to local: no other rank takes part.
    ///
    /// On return, the part of this rank is complete: its destination cells have their new values,
    /// and its source cells may change. A rank that owns no cell of either section returns at once.
    ///
    /// Cost:
    ///
    /// * one message between each pair of ranks that exchange cells, split at 64 MiB
    ///   (`ZIPPY_MESSAGE`);
    /// * one dispatch to pack these messages and one dispatch to unpack them;
    /// * a plan on the first call, which later calls reuse for all arrays with the same cuts and
    ///   owners.
    ///
    /// When all hosts map the memory of their devices, a box of at least 64 KiB (`ZIPPY_IN_PLACE`)
    /// that is contiguous in its chunk is sent as a separate message, without packing. A copy
    /// between global arrays may then wait until the receivers have read the box.
    /// [`start_copy`](Self::start_copy) always packs and does not wait for receivers.
    ///
    /// # Errors
    /// An invalid region, different extents, or a failure of this or another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = |split| Layout::new([6, 4]).split([split, Split::Even(2)]);
    /// let slabs = world.array::<i32, 2>("slabs", &layout(Split::Whole))?;
    /// let blocks = world.array::<i32, 2>("blocks", &layout(Split::Even(3)))?;
    /// slabs.fill_with(|[x, y]| (x + 10 * y) as i32)?;
    /// world.copy(slabs.at((0..5, ..)), blocks.at((1..6, ..)))?;
    /// for chunk in blocks.chunks() {
    ///     let expected = chunk.region().points().map(|p| match p[0] {
    ///         0 => 0,
    ///         x => (x - 1 + 10 * p[1]) as i32,
    ///     });
    ///     assert!(chunk.all().read()?.into_iter().eq(expected));
    /// }
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn copy<T: Element, const D: usize>(
        &self,
        source: impl IntoSection<T, D>,
        destination: impl IntoSection<T, D>,
    ) -> Result<Moved> {
        let _call = CallSite::enter();
        match (source.into(), destination.into()) {
            (Section::Global(source), Section::Global(destination)) => {
                self.exchange(Exchange::new().copy(source, destination))
            }
            (Section::Global(source), Section::Local(destination)) => self.copy_local(to_local(&source, &destination)),
            (Section::Local(source), Section::Global(destination)) => {
                self.copy_local(from_local(&source, &destination))
            }
            (Section::Local(source), Section::Local(destination)) => {
                self.copy_locally(LocalBox::new(&source, "copy")?, LocalBox::new(&destination, "copy")?)
            }
        }
    }

    /// Starts a copy between any two sections that [`copy`](Self::copy) accepts. Collective, as is
    /// [`wait`](Pending::wait).
    ///
    /// On return, the source has been read and may change. The destination must not be accessed
    /// before `wait` returns. All messages are in staging memory at the same time; a blocking copy
    /// stages large messages one after the other. When a section is local, all ranks synchronize in
    /// this call, because the owners learn about the requests only here; `wait` then receives the
    /// replies.
    ///
    /// # Errors
    /// As for [`copy`](Self::copy).
    #[track_caller]
    pub fn start_copy<T: Element, const D: usize>(
        &self,
        source: impl IntoSection<T, D>,
        destination: impl IntoSection<T, D>,
    ) -> Result<Pending<'_>> {
        let _call = CallSite::enter();
        match (source.into(), destination.into()) {
            (Section::Global(source), Section::Global(destination)) => {
                self.start(Exchange::new().copy(source, destination))
            }
            (Section::Global(source), Section::Local(destination)) => {
                self.start_copy_local(to_local(&source, &destination))
            }
            (Section::Local(source), Section::Global(destination)) => {
                self.start_copy_local(from_local(&source, &destination))
            }
            (Section::Local(source), Section::Local(destination)) => {
                let moved = self.copy_locally(LocalBox::new(&source, "copy")?, LocalBox::new(&destination, "copy")?)?;
                Ok(Pending::new(self, "copy(local -> local)", moved, || Ok(())))
            }
        }
    }

    #[track_caller]
    fn copy_locally(&self, source: LocalBox, destination: LocalBox) -> Result<Moved> {
        let (from, to) = (source.region.extents(), destination.region.extents());
        if from != to {
            return Err(PlanError::extents(source.label(), from, destination.label(), to).into());
        }
        let bytes_local = source.region.cells() * source.array.element().bytes as u64;
        copy_boxes(&[(source, destination)])?;
        Ok(Moved { bytes_local, ..Moved::default() })
    }
}
