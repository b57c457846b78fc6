//! Copy: between regions of global arrays, and between a global array and each rank's own local sections.

use std::rc::Rc;

use super::exchange::Exchange;
use super::one_sided::{from_local, to_local};
use super::{Moved, Pending, World};
use crate::array::{ArrayCore, ChunkRef, GlobalArray, GlobalSection, Growable, LocalArray, LocalSection, Side};
use crate::chunks::ChunkId;
use crate::device::BoxOf;
use crate::element::Element;
use crate::error::{CallSite, PlanError, Result};
use crate::region::Region;

/// Either end of a copy: a section of a global array, or this rank's own section of a local array or chunk.
#[derive(Debug, Clone)]
pub enum Section<T, const D: usize> {
    /// Named alike by every rank.
    Global(GlobalSection<T, D>),
    /// This rank's own.
    Local(LocalSection<T, D>),
}

/// Section of a global array or of this rank as an argument: by value or by reference, or all cells of an array or a chunk by
/// reference.
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
    /// The section without its type.
    ///
    /// # Errors
    /// The mistake made when it was named; a section of several boxes.
    pub(crate) fn side(&self, verb: &str) -> Result<Side> {
        Ok(match self {
            Self::Global(global) => Side { core: global.core.clone(), region: global.region()?, chunk: None },
            Self::Local(local) => {
                Side { core: local.core().clone(), region: local.one_box(verb)?, chunk: Some(local.chunk()) }
            }
        })
    }
}

/// A box of one of this rank's chunks.
type OwnBox = (Rc<ArrayCore>, ChunkId, Region);

fn own<T: Element, const D: usize>(section: &LocalSection<T, D>) -> Result<OwnBox> {
    Ok((section.core().clone(), section.chunk(), section.one_box("copy")?))
}

impl World {
    /// Copies a section onto another of the same extents (paper: zCopy). Collective.
    ///
    /// * Global to global: every rank names the same sections. The arrays may differ in layout and owners, or be one
    ///   array with overlapping regions: the source is read completely before anything is written.
    /// * Global to local, local to global: every rank names a local section of its own and the global region that it
    ///   goes with; ranks without data name an empty section. Where several ranks write one cell, the highest wins.
    /// * Local to local: this rank's own business; no other rank is involved.
    ///
    /// On return this rank's part is done. A rank that owns no cell of either section returns at once.
    ///
    /// Costs one message between each pair of ranks that exchange cells (cut at 64 MiB, or what `ZIPPY_MESSAGE` says), one dispatch to pack and one to
    /// unpack them, and on the first call a plan, which is kept for all arrays of the same cuts and owners. Where all hosts
    /// map their devices' memory, a box of 64 KiB (`ZIPPY_IN_PLACE`) or more that lies densely in its chunk is a message of its own and is
    /// not packed: between global arrays this may then wait until the other ranks have come and read it.
    /// [`start_copy`](Self::start_copy) never does.
    ///
    /// # Errors
    /// A bad region, extents that differ, or a failure of this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let slabs = world.array::<i32, 2>("slabs", &Layout::new([6, 4]).split([Split::Whole, Split::Even(2)]))?;
    /// let blocks = world.array::<i32, 2>("blocks", &Layout::new([6, 4]).split([Split::Even(3), Split::Even(2)]))?;
    /// slabs.fill_with(|[x, y]| (x + 10 * y) as i32)?;
    /// world.copy(slabs.at((0..5, ..)), blocks.at((1..6, ..)))?;
    /// for chunk in blocks.chunks() {
    ///     let expected = |p: zippy::extents::Index| if p[0] == 0 { 0 } else { (p[0] - 1 + 10 * p[1]) as i32 };
    ///     assert!(chunk.all().read()?.into_iter().eq(chunk.region().points().map(expected)));
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
                self.copy_locally(own(&source)?, own(&destination)?)
            }
        }
    }

    /// Starts a copy between any two sections that [`copy`](Self::copy) takes: on return the source has been read and may
    /// change; the destination must not be touched before `wait`. Collective, and so is `wait`. All messages are staged at
    /// once, where a blocking copy stages them one after the other. With a local section at one end the ranks meet when it
    /// is started, since the owners learn only then what is asked of them; `wait` takes what they have sent.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
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
                let moved = self.copy_locally(own(&source)?, own(&destination)?)?;
                Ok(Pending::new(self, "copy(local -> local)", moved, || Ok(())))
            }
        }
    }

    #[track_caller]
    fn copy_locally(&self, source: OwnBox, destination: OwnBox) -> Result<Moved> {
        let at = CallSite::here();
        let ((source, source_chunk, from), (destination, destination_chunk, to)) = (source, destination);
        if from.extents() != to.extents() {
            let (source, destination) = (source.label(&from), destination.label(&to));
            return Err(PlanError::extents(source, from.extents(), destination, to.extents()).into());
        }
        let bytes = source.element().bytes;
        if let (Some(read), Some(written), false) =
            (source.lease(source_chunk)?, destination.lease(destination_chunk)?, from.is_empty())
        {
            let read = BoxOf { buffer: &read, view: source.strided(source_chunk, &from) };
            let written = BoxOf { buffer: &written, view: destination.strided(destination_chunk, &to) };
            self.device().copy_boxes(bytes, &[(read, written)])?;
            source.was_read(source_chunk, &from, "copy", at);
            destination.was_written(destination_chunk, &to, "copy", at);
        }
        Ok(Moved { bytes_local: from.cells() * bytes as u64, ..Moved::default() })
    }
}
