//! [`Growable`]: a 1-D array of this rank with a variable length.
use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

use zippy_base::ArrayKind;

use super::core::{ArrayContext, ArrayCore};
use super::registry::ArrayId;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, SelectAxis};
use crate::device::{BufferBox, Lease, StridedBox};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::layout::Layout;
use crate::region::Region;

/// One-dimensional array of this rank with a length and a capacity, for lists such as particles or
/// triangles.
///
/// If appended cells do not fit, the capacity at least doubles and the device copies the cells to a
/// larger buffer. [`World::publish`](crate::World::publish) creates a global array over the buffers
/// of all ranks.
#[derive(Debug)]
pub struct Growable<T> {
    core: Rc<ArrayCore>,
    length: u64,
    /// Usages of the buffer in addition to kernels and transfers.
    usages: wgpu::BufferUsages,
    /// Allocation id of all published handles, set by the first publication; the same on every
    /// rank.
    allocation: Cell<Option<ArrayId>>,
    element: PhantomData<T>,
}

/// Capacity of a new array, in cells.
const INITIAL_CAPACITY: u64 = 256;

impl<T: Element> Growable<T> {
    pub(crate) fn new(context: ArrayContext, name: &str) -> Result<Self> {
        let id = context.registry.borrow_mut().next_local_id();
        let usages = wgpu::BufferUsages::empty();
        let core = with_capacity::<T>(context, (name, id), INITIAL_CAPACITY, usages)?;
        Ok(Self { core, length: 0, usages, allocation: Cell::new(None), element: PhantomData })
    }

    /// Allocates the buffer with additional `usages` (`VERTEX`, `INDEX`, `INDIRECT`), now and after
    /// each growth; see [`lease`](Self::lease). Moves the cells in use to the new buffer.
    ///
    /// # Errors
    /// Any other usage; the device has not enough memory for the buffer.
    #[track_caller]
    pub fn with_usages(mut self, usages: wgpu::BufferUsages) -> Result<Self> {
        let _call = CallSite::enter();
        self.usages = usages;
        self.reallocate(self.capacity())?;
        Ok(self)
    }

    /// Wraps an array of this rank, with all its cells in use.
    pub(crate) fn full(core: Rc<ArrayCore>) -> Self {
        let length = core.chunks().shape()[0] as u64;
        core.set_in_use(length);
        Self { core, length, usages: wgpu::BufferUsages::empty(), allocation: Cell::new(None), element: PhantomData }
    }

    /// Array without its static element type; its extent is the capacity.
    pub fn core(&self) -> &Rc<ArrayCore> {
        &self.core
    }

    /// Allocation id of all published handles; the first publication sets it to `next`.
    pub(crate) fn allocation_id(&self, next: ArrayId) -> ArrayId {
        let allocation = self.allocation.get().unwrap_or(next);
        self.allocation.set(Some(allocation));
        allocation
    }

    /// Name of the array.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Lease of the buffer, for direct wgpu calls; `None` if the capacity is 0. The first
    /// [`len`](Self::len) cells are in use.
    ///
    /// Request a new lease after the array has grown, because the cells have moved to a larger
    /// buffer. Call [`Device::flush`](crate::device::Device::flush) before work that depends on the
    /// results of kernels.
    ///
    /// # Errors
    /// The memory is not available.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(0)
    }

    /// Number of cells in use.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if no cell is in use.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Number of cells that fit without a larger buffer.
    pub fn capacity(&self) -> u64 {
        self.core.chunks().shape()[0] as u64
    }

    /// Sets the length to 0 and keeps the capacity. A later growth does not copy the old cells.
    pub fn clear(&mut self) {
        self.use_cells(0);
    }

    /// Sets the number of cells in use. New cells are zero, or keep values from an earlier, longer
    /// state.
    ///
    /// # Errors
    /// The device has not enough memory for a larger buffer.
    #[track_caller]
    pub fn set_len(&mut self, length: u64) -> Result<()> {
        let _call = CallSite::enter();
        self.reserve(length)?;
        self.use_cells(length);
        Ok(())
    }

    fn use_cells(&mut self, length: u64) {
        self.length = length;
        self.core.set_in_use(length);
    }

    /// Appends cells from the host.
    ///
    /// # Errors
    /// The device has not enough memory for a larger buffer.
    #[track_caller]
    pub fn append(&mut self, values: &[T]) -> Result<()> {
        let _call = CallSite::enter();
        let start = self.length;
        self.set_len(start + values.len() as u64)?;
        self.at(start..self.length).write(values)
    }

    /// Ensures a total capacity of at least `capacity` cells.
    ///
    /// # Errors
    /// The device has not enough memory for a larger buffer, or buffers cannot have this size.
    #[track_caller]
    pub fn reserve(&mut self, capacity: u64) -> Result<()> {
        let _call = CallSite::enter();
        if capacity <= self.capacity() {
            return Ok(());
        }
        // Doubling bounds the cost of appends; if the memory is too small for it, the requested
        // capacity suffices.
        let doubled = capacity.max(self.capacity().saturating_mul(2));
        self.reallocate(doubled).or_else(|_| self.reallocate(capacity))
    }

    /// Moves the cells in use to a new buffer.
    fn reallocate(&mut self, capacity: u64) -> Result<()> {
        let (context, named) = (self.core.context().clone(), (self.name(), self.core.id()));
        let new = with_capacity::<T>(context, named, capacity, self.usages)?;
        if let (Some(from), Some(to)) = (self.core.lease(0)?, new.lease(0)?)
            && self.length > 0
        {
            let one = Index::from([1]);
            let view = StridedBox { offset: 0, extents: Index::from([self.length as i64]), strides: one };
            let pair = (BufferBox { buffer: &from, view }, BufferBox { buffer: &to, view });
            self.core.device().copy_boxes(T::INFO.bytes, &[pair])?;
        }
        new.continue_history_of(&self.core);
        self.core = new;
        self.use_cells(self.length);
        Ok(())
    }

    /// Section of the selected cells; `..` selects the cells in use. The operation that uses the
    /// section reports an invalid selection.
    pub fn at(&self, selection: impl SelectAxis) -> LocalSection<T, 1> {
        let used = Region::whole(Index::from([self.length as i64]));
        let what = format!("growable array \"{}\"", self.name());
        let space = IndexSpace { bounds: &used, limits: &used, relative: false, what: &what };
        LocalSection {
            core: self.core.clone(),
            chunk: 0,
            region: (selection.axis_range(),).region(&space),
            boxes: None,
            element: PhantomData,
        }
    }

    /// Section of the cells in use.
    pub fn all(&self) -> LocalSection<T, 1> {
        self.at(..)
    }
}

fn with_capacity<T: Element>(
    context: ArrayContext,
    (name, id): (&str, ArrayId),
    capacity: u64,
    usages: wgpu::BufferUsages,
) -> Result<Rc<ArrayCore>> {
    let extent = i64::try_from(capacity)
        .map_err(|_| ArrayError::Other(format!("growable array \"{name}\" cannot hold {capacity} cells")))?;
    ArrayCore::create_of_kind((ArrayKind::Growable, id), context, name, &T::INFO, &Layout::new([extent]), usages)
}
