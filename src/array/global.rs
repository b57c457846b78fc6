//! [`GlobalArray`]: the typed handle of an array that is cut over the ranks.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::ArrayCore;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, to_array};
use crate::chunks::ChunkId;
use crate::device::Lease;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, RegionError, Result};
use crate::history::What;
use crate::region::Region;

/// An n-dimensional array of `T` over `D` axes, cut into chunks that live on the GPUs of their owners.
///
/// A handle is cheap to clone. Kernels cannot take it: they accept only [`LocalSection`]s, so that data
/// never moves between ranks without an explicit operation of the world.
#[derive(Debug, Clone)]
pub struct GlobalArray<T, const D: usize> {
    core: Rc<ArrayCore>,
    element: PhantomData<T>,
}

/// A region of a global array, for the operations of the world.
#[derive(Debug, Clone)]
pub struct GlobalSection<T, const D: usize> {
    pub(crate) core: Rc<ArrayCore>,
    pub(crate) region: Result<Region, RegionError>,
    element: PhantomData<T>,
}

/// A chunk of a global array on this rank.
#[derive(Debug, Clone)]
pub struct ChunkRef<T, const D: usize> {
    core: Rc<ArrayCore>,
    chunk: ChunkId,
    element: PhantomData<T>,
}

impl<T: Element, const D: usize> GlobalArray<T, D> {
    pub(crate) fn from_core(core: Rc<ArrayCore>) -> Self {
        Self { core, element: PhantomData }
    }

    /// The rank-erased core.
    pub fn core(&self) -> &Rc<ArrayCore> {
        &self.core
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Its extents, in cells.
    pub fn shape(&self) -> [i64; D] {
        to_array(&self.core.chunks().shape())
    }

    /// The section of these cells, in global coordinates: `array.at([0..4, 0..2])`, `array.at((3, .., ..=2))`,
    /// `array.at(..)`. A mistake is kept and reported by the operation that uses the section.
    pub fn at(&self, selection: impl Select<D>) -> GlobalSection<T, D> {
        let what = format!("array \"{}\"", self.name());
        let bounds = self.core.bounds();
        let region = selection.region(&IndexSpace { bounds: &bounds, limits: &bounds, relative: false, what: &what });
        GlobalSection { core: self.core.clone(), region, element: PhantomData }
    }

    /// The chunks of this rank, in slot order; none on a rank that owns nothing. The chunks of several arrays side by side
    /// are those of [`together`](crate::together): two iterators of this kind in a `zip` would silently leave chunks out
    /// where the arrays are cut differently.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkRef<T, D>> + use<'_, T, D> {
        self.core.owned().map(|chunk| self.chunk(chunk))
    }

    /// A chunk of this rank.
    pub(super) fn chunk(&self, chunk: ChunkId) -> ChunkRef<T, D> {
        ChunkRef { core: self.core.clone(), chunk, element: PhantomData }
    }

    /// The chunk of this rank, where every rank owns exactly one.
    ///
    /// # Errors
    /// This rank owns none or several.
    #[track_caller]
    pub fn local(&self) -> Result<ChunkRef<T, D>> {
        let _call = CallSite::enter();
        let mut chunks = self.chunks();
        match (chunks.next(), chunks.next()) {
            (Some(chunk), None) => Ok(chunk),
            (first, _) => Err(ArrayError::NotOneChunk {
                array: self.name().to_string(),
                rank: self.core.rank(),
                count: if first.is_none() { 0 } else { self.core.owned().count() },
            }
            .into()),
        }
    }

    /// Chunk re-arrangement: a handle in which chunk *i* is the one that is chunk `order[i]` here. No data moves, both
    /// handles name the same memory, and neighbours are those of the new order (paper: chunk re-arrangement). Collective,
    /// without messages: every rank gives the same order. Orders that differ are found by the next collective.
    ///
    /// # Errors
    /// `order` is not a permutation of the chunks, or would put a chunk in the place of one of other extents.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = world.array::<i32, 1>("array", &Layout::new([6]).split([Split::Even(3)]))?;
    /// array.fill_with(|[x]| x as i32)?;
    /// let ordered = array.reassigned(&[2, 0, 1])?;
    /// let ticket = world.get(ordered.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [4, 5, 0, 1, 2, 3]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reassigned(&self, order: &[ChunkId]) -> Result<Self> {
        let _call = CallSite::enter();
        let placement = self.core.placement().reassigned(order).map_err(ArrayError::of_layout(self.name()))?;
        let core = &self.core;
        core.home().registry.borrow_mut().rearranged(core.name(), core.element(), placement.clone());
        Ok(Self::from_core(core.over(core.home().clone(), placement, core.data())))
    }

    /// Sets every owned cell on this rank to the value at its global position. Local; ghost cells keep their values.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn fill_with(&self, mut value: impl FnMut([i64; D]) -> T) -> Result<()> {
        let _call = CallSite::enter();
        for chunk in self.chunks() {
            chunk.all().fill_with(&mut value)?;
        }
        Ok(())
    }

    /// Sets every cell of this rank's chunks, ghost cells included, to `value`. Local; a warm repeat allocates nothing on
    /// the device.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn fill(&self, value: T) -> Result<()> {
        let _call = CallSite::enter();
        for chunk in self.chunks() {
            chunk.with_ghosts().fill(value)?;
        }
        Ok(())
    }
}

impl<T: Element, const D: usize> GlobalSection<T, D> {
    /// The region, in global coordinates.
    ///
    /// # Errors
    /// The mistake made when the section was named.
    #[track_caller]
    pub fn region(&self) -> Result<Region> {
        let _call = CallSite::enter();
        Ok(self.region.clone()?)
    }

    /// The array that it is a section of.
    pub fn array(&self) -> GlobalArray<T, D> {
        GlobalArray::from_core(self.core.clone())
    }

    /// The parts of it that this rank owns, chunk by chunk; none on a rank that owns no cell of it. Local.
    ///
    /// # Errors
    /// The mistake made when the section was named.
    #[track_caller]
    pub fn local_parts(&self) -> Result<Vec<LocalSection<T, D>>> {
        let _call = CallSite::enter();
        let region = self.region()?;
        let chunks = self.core.chunks();
        let part = |chunk| {
            let region = Ok(chunks.region(chunk).intersect(&region)?);
            Some(LocalSection { core: self.core.clone(), chunk, region, boxes: None, element: PhantomData })
        };
        Ok(self.core.owned().filter_map(part).collect())
    }

    /// Sets those of its cells that this rank owns to `value`. Local: where every rank calls it, the section is filled.
    ///
    /// # Errors
    /// A bad region, or a device failure.
    #[track_caller]
    pub fn fill(&self, value: T) -> Result<()> {
        let _call = CallSite::enter();
        // Also chunks that have no cell of it pass the call.
        let _acting = self.core.home().ledger.acting(|| What::Local("fill"), CallSite::here());
        for part in self.local_parts()? {
            part.fill(value)?;
        }
        Ok(())
    }

    /// Sets those of its cells that this rank owns to the values at their global positions, computed by the host. Local:
    /// where every rank calls it, the section is filled.
    ///
    /// # Errors
    /// A bad region, or a device failure.
    #[track_caller]
    pub fn fill_with(&self, mut value: impl FnMut([i64; D]) -> T) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.core.home().ledger.acting(|| What::Local("fill_with"), CallSite::here());
        for part in self.local_parts()? {
            part.fill_with(&mut value)?;
        }
        Ok(())
    }
}

impl<T: Element, const D: usize> ChunkRef<T, D> {
    /// Its number in the array.
    pub fn id(&self) -> ChunkId {
        self.chunk
    }

    /// A lease of the buffer of its cells and ghost cells, axis 0 fastest, rows padded to whole words, for wgpu calls of
    /// one's own; `None` when it has no cells. Keep the lease until the work is submitted. Call
    /// [`Device::flush`](crate::device::Device::flush) before work that needs what kernels have written, and tell by
    /// [`ArrayCore::mark_written`] what was written so.
    ///
    /// # Errors
    /// The chunk cannot be had.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(self.chunk)
    }

    /// The cells it owns, in global coordinates.
    pub fn region(&self) -> Region {
        self.core.chunks().region(self.chunk)
    }

    /// Its extents, in cells, without ghost cells.
    pub fn extents(&self) -> [i64; D] {
        to_array(&self.region().extents())
    }

    fn section(&self, region: Result<Region, RegionError>, boxes: Option<Vec<Region>>) -> LocalSection<T, D> {
        LocalSection { core: self.core.clone(), chunk: self.chunk, region, boxes, element: PhantomData }
    }

    /// The section of these cells, in chunk coordinates: 0 is the chunk's first own cell on each axis, `..` are
    /// its own cells; ghost cells are named by negative positions and by those past the end.
    /// A mistake is kept and reported by the verb that uses the section.
    pub fn at(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        self.select(selection, true)
    }

    /// The section of these cells, in global coordinates; `..` are the chunk's own cells, ghost cells may be named.
    pub fn at_global(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        self.select(selection, false)
    }

    fn select(&self, selection: impl Select<D>, relative: bool) -> LocalSection<T, D> {
        let what = format!("chunk {} of array \"{}\"", self.chunk, self.core.name());
        let (bounds, limits) = (self.region(), self.core.chunks().storage(self.chunk));
        self.section(selection.region(&IndexSpace { bounds: &bounds, limits: &limits, relative, what: &what }), None)
    }

    /// All cells that it owns.
    pub fn all(&self) -> LocalSection<T, D> {
        self.section(Ok(self.region()), None)
    }

    /// All its cells and ghost cells.
    pub fn with_ghosts(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.chunks().storage(self.chunk)), None)
    }

    /// The cells whose neighbourhood of ghost width lies within the chunk: what can be computed while a
    /// ghost update is under way. Empty in a chunk narrower than its ghosts.
    pub fn interior(&self) -> LocalSection<T, D> {
        self.section(Ok(self.interior_region()), None)
    }

    /// The owned cells outside [`interior`](Self::interior): several boxes, computed in one dispatch after
    /// the ghost update. For the domain of a kernel (`write` first, or `over`).
    pub fn boundary(&self) -> LocalSection<T, D> {
        let own = self.region();
        self.section(Ok(own), Some(own.subtract(&self.interior_region())))
    }

    fn interior_region(&self) -> Region {
        let chunks = self.core.chunks();
        let own = self.region();
        let mut inner = own;
        for axis in 0..D {
            inner.start[axis] = own.start[axis].saturating_add(chunks.ghost_lo()[axis]).min(own.end[axis]);
            inner.end[axis] = own.end[axis].saturating_sub(chunks.ghost_hi()[axis]).max(inner.start[axis]);
        }
        inner
    }
}
