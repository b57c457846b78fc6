//! [`GlobalArray`]: the typed handle of an array whose chunks are distributed over the ranks.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::ArrayCore;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, to_array};
use crate::chunks::ChunkId;
use crate::device::Lease;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, RegionError, Result};
use crate::history::OperationName;
use crate::region::Region;

/// N-dimensional array of `T` over `D` axes, cut into chunks in the GPU memory of their owners.
///
/// A handle is cheap to clone. Kernels cannot take it: they accept only [`LocalSection`]s, so that
/// data never moves between ranks without an explicit operation of the world.
#[derive(Debug, Clone)]
pub struct GlobalArray<T, const D: usize> {
    core: Rc<ArrayCore>,
    element: PhantomData<T>,
}

/// Region of a global array, for the operations of the world.
#[derive(Debug, Clone)]
pub struct GlobalSection<T, const D: usize> {
    pub(crate) core: Rc<ArrayCore>,
    pub(crate) region: Result<Region, RegionError>,
    element: PhantomData<T>,
}

/// Chunk of a global array on this rank.
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

    /// Array without its static element type and number of axes.
    pub fn core(&self) -> &Rc<ArrayCore> {
        &self.core
    }

    /// Name of the array.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Extents, in cells.
    pub fn shape(&self) -> [i64; D] {
        to_array(&self.core.chunks().shape())
    }

    /// Section of the selected cells, in global coordinates: `array.at([0..4, 0..2])`,
    /// `array.at((3, .., ..=2))`, `array.at(..)`. The operation that uses the section reports an
    /// invalid selection.
    pub fn at(&self, selection: impl Select<D>) -> GlobalSection<T, D> {
        let what = format!("array \"{}\"", self.name());
        let bounds = self.core.bounds();
        let region = selection.region(&IndexSpace { bounds: &bounds, limits: &bounds, relative: false, what: &what });
        GlobalSection { core: self.core.clone(), region, element: PhantomData }
    }

    /// Chunks of this rank, in slot order; none if this rank owns no chunk.
    ///
    /// To iterate over the chunks of several arrays, use [`zip_chunks`](crate::zip_chunks): a `zip`
    /// of two of these iterators silently omits chunks if the arrays are cut differently.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkRef<T, D>> + use<'_, T, D> {
        self.core.owned().map(|chunk| self.chunk(chunk))
    }

    pub(super) fn chunk(&self, chunk: ChunkId) -> ChunkRef<T, D> {
        ChunkRef { core: self.core.clone(), chunk, element: PhantomData }
    }

    /// The only chunk of this rank, for arrays with one chunk per rank.
    ///
    /// # Errors
    /// This rank owns no chunk or several.
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

    /// Re-arranges chunks: returns a handle whose chunk *i* is chunk `order[i]` of this handle. No
    /// data moves, and both handles share memory; neighbours follow the new order (paper: chunk
    /// re-arrangement).
    ///
    /// Collective, without messages: every rank passes the same order. The next collective reports
    /// orders that differ between ranks.
    ///
    /// # Errors
    /// `order` is not a permutation of the chunks, or it maps a chunk to one with other extents.
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
        core.context().registry.borrow_mut().rearranged(core.name(), core.element(), placement.clone());
        Ok(Self::from_core(core.with_placement(core.context().clone(), placement, core.allocation_id())))
    }

    /// Sets every owned cell on this rank to `value` of its global position. Local; ghost cells
    /// keep their values.
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

    /// Sets every cell of this rank's chunks, ghost cells included, to `value`. Local; repeated
    /// calls allocate no device memory.
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
    /// Region of the section, in global coordinates.
    ///
    /// # Errors
    /// The selection of the section is invalid.
    #[track_caller]
    pub fn region(&self) -> Result<Region> {
        let _call = CallSite::enter();
        Ok(self.region.clone()?)
    }

    /// Array of the section.
    pub fn array(&self) -> GlobalArray<T, D> {
        GlobalArray::from_core(self.core.clone())
    }

    /// Parts of the section that this rank owns, one per chunk; none if this rank owns no cell of
    /// the section. Local.
    ///
    /// # Errors
    /// The selection of the section is invalid.
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

    /// Sets the cells of the section that this rank owns to `value`. Local: the whole section is
    /// filled when every rank has called it.
    ///
    /// # Errors
    /// An invalid selection, or a device failure.
    #[track_caller]
    pub fn fill(&self, value: T) -> Result<()> {
        let _call = CallSite::enter();
        // Chunks without a selected cell are also part of the call.
        let _operation = self.core.context().ledger.begin_operation(|| OperationName::Local("fill"), CallSite::here());
        for part in self.local_parts()? {
            part.fill(value)?;
        }
        Ok(())
    }

    /// Sets the cells of the section that this rank owns to `value` of their global positions,
    /// computed on the host. Local: the whole section is filled when every rank has called it.
    ///
    /// # Errors
    /// An invalid selection, or a device failure.
    #[track_caller]
    pub fn fill_with(&self, mut value: impl FnMut([i64; D]) -> T) -> Result<()> {
        let _call = CallSite::enter();
        let _operation =
            self.core.context().ledger.begin_operation(|| OperationName::Local("fill_with"), CallSite::here());
        for part in self.local_parts()? {
            part.fill_with(&mut value)?;
        }
        Ok(())
    }
}

impl<T: Element, const D: usize> ChunkRef<T, D> {
    /// Index of the chunk in the array.
    pub fn id(&self) -> ChunkId {
        self.chunk
    }

    /// Lease of the buffer with the chunk's cells and ghost cells, for direct wgpu calls; `None` if
    /// the chunk has no cells. Axis 0 is fastest; rows are padded to whole 32-bit words.
    ///
    /// Keep the lease until the work is submitted. Call
    /// [`Device::flush`](crate::device::Device::flush) before work that depends on the results of
    /// kernels, and [`ArrayCore::mark_written`] after a write.
    ///
    /// # Errors
    /// The memory of the chunk is not available.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(self.chunk)
    }

    /// Region of the cells that the chunk owns, in global coordinates.
    pub fn region(&self) -> Region {
        self.core.chunks().region(self.chunk)
    }

    /// Extents of the owned cells.
    pub fn extents(&self) -> [i64; D] {
        to_array(&self.region().extents())
    }

    fn section(&self, region: Result<Region, RegionError>, boxes: Option<Vec<Region>>) -> LocalSection<T, D> {
        LocalSection { core: self.core.clone(), chunk: self.chunk, region, boxes, element: PhantomData }
    }

    /// Section of the selected cells, in chunk coordinates: 0 is the first owned cell on each axis,
    /// and `..` selects the owned cells. Ghost cells have negative positions or positions past the
    /// last owned cell. The operation that uses the section reports an invalid selection.
    pub fn at(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        self.select(selection, true)
    }

    /// Section of the selected cells, in global coordinates; `..` selects the owned cells. Ghost
    /// cells may be selected.
    pub fn at_global(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        self.select(selection, false)
    }

    fn select(&self, selection: impl Select<D>, relative: bool) -> LocalSection<T, D> {
        let what = format!("chunk {} of array \"{}\"", self.chunk, self.core.name());
        let (bounds, limits) = (self.region(), self.core.chunks().storage(self.chunk));
        self.section(selection.region(&IndexSpace { bounds: &bounds, limits: &limits, relative, what: &what }), None)
    }

    /// Section of all cells that the chunk owns.
    pub fn all(&self) -> LocalSection<T, D> {
        self.section(Ok(self.region()), None)
    }

    /// Section of all owned cells and ghost cells.
    pub fn with_ghosts(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.chunks().storage(self.chunk)), None)
    }

    /// Section of the owned cells whose neighbourhood of ghost width contains only owned cells. A
    /// stencil can be computed there during a ghost update. Empty in a chunk narrower than its
    /// ghost widths.
    pub fn interior(&self) -> LocalSection<T, D> {
        self.section(Ok(self.interior_region()), None)
    }

    /// Section of the owned cells outside [`interior`](Self::interior): several boxes, computed in
    /// one dispatch after the ghost update. Valid only as the domain of a kernel (its first
    /// `write`, or `over`).
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
