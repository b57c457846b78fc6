//! [`Growable`]: a 1-D array of this rank that grows by appending.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

use super::core::{ArrayCore, Home};
use super::kind::ArrayKind;
use super::registry::ArrayId;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, SelectAxis};
use crate::device::{BoxOf, Lease, Strided};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::layout::Layout;
use crate::region::Region;

/// A 1-D array of this rank with a length and a capacity, as a list of particles or of triangles needs it.
///
/// Its buffer doubles when appending outgrows it; the cells move on the device. The world's
/// [`publish`](crate::World::publish) makes a global array of all ranks' lengths over the same buffers.
#[derive(Debug)]
pub struct Growable<T> {
    core: Rc<ArrayCore>,
    length: u64,
    /// What its buffer is used for, beside kernels and transfers.
    uses: wgpu::BufferUsages,
    /// What its published arrays are handles of, once there is one: the same number on every rank.
    data: Cell<Option<ArrayId>>,
    element: PhantomData<T>,
}

/// The capacity of a new array, in cells.
const FIRST_CAPACITY: u64 = 256;

impl<T: Element> Growable<T> {
    pub(crate) fn new(home: Home, name: &str, uses: wgpu::BufferUsages) -> Result<Self> {
        let id = home.registry.borrow_mut().next_local_id();
        let core = with_capacity::<T>(home, (name, id), FIRST_CAPACITY, uses)?;
        Ok(Self { core, length: 0, uses, data: Cell::new(None), element: PhantomData })
    }

    /// One that is full: all cells of an array of this rank.
    pub(crate) fn full(core: Rc<ArrayCore>) -> Self {
        let length = core.chunks().shape()[0] as u64;
        core.set_in_use(length);
        Self { core, length, uses: wgpu::BufferUsages::empty(), data: Cell::new(None), element: PhantomData }
    }

    /// The rank-erased core, of the capacity's extent.
    pub fn core(&self) -> &Rc<ArrayCore> {
        &self.core
    }

    /// The number of what its published arrays are handles of.
    pub(crate) fn data(&self, next: ArrayId) -> ArrayId {
        let data = self.data.get().unwrap_or(next);
        self.data.set(Some(data));
        data
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// A lease of the buffer, of which the first [`len`](Self::len) cells are in use, for wgpu calls of one's own; `None` where it has room for
    /// none. Take it anew
    /// after the array has grown: the cells have moved to a larger buffer. Call
    /// [`Device::flush`](crate::device::Device::flush) before work that needs what kernels have written.
    ///
    /// # Errors
    /// The memory cannot be had.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(0)
    }

    /// Cells in use.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether no cell is in use.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Cells that fit without moving to a larger buffer.
    pub fn capacity(&self) -> u64 {
        self.core.chunks().shape()[0] as u64
    }

    /// Leaves no cell in use; the room stays. What is appended then, need not move to a larger buffer with what was there.
    pub fn clear(&mut self) {
        self.use_cells(0);
    }

    /// Sets the number of cells in use; new ones are zero or what a longer array left there.
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

    /// Makes room for `capacity` cells in all.
    ///
    /// # Errors
    /// The device has not enough memory for a larger buffer, or a buffer cannot be so large.
    #[track_caller]
    pub fn reserve(&mut self, capacity: u64) -> Result<()> {
        let _call = CallSite::enter();
        if capacity <= self.capacity() {
            return Ok(());
        }
        let home = self.core.home().clone();
        // Twice as much makes appending cheap; what was asked for is enough where that does not fit.
        let doubled = capacity.max(self.capacity().saturating_mul(2));
        let named = (self.name(), self.core.id());
        let larger = with_capacity::<T>(home.clone(), named, doubled, self.uses)
            .or_else(|_| with_capacity::<T>(home, named, capacity, self.uses))?;
        if let (Some(from), Some(to)) = (self.core.lease(0)?, larger.lease(0)?)
            && self.length > 0
        {
            let one = Index::from([1]);
            let view = Strided { offset: 0, extents: Index::from([self.length as i64]), strides: one };
            let pair = (BoxOf { buffer: &from, view }, BoxOf { buffer: &to, view });
            self.core.device().copy_boxes(T::INFO.bytes, &[pair])?;
        }
        larger.goes_on_from(&self.core);
        self.core = larger;
        self.use_cells(self.length);
        Ok(())
    }

    /// The section of these cells, `..` being those in use. A mistake is reported by the verb that uses the section.
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

    /// The cells in use.
    pub fn all(&self) -> LocalSection<T, 1> {
        self.at(..)
    }
}

fn with_capacity<T: Element>(
    home: Home,
    (name, id): (&str, ArrayId),
    capacity: u64,
    uses: wgpu::BufferUsages,
) -> Result<Rc<ArrayCore>> {
    let extent = i64::try_from(capacity)
        .map_err(|_| ArrayError::Other(format!("growable array \"{name}\" cannot hold {capacity} cells")))?;
    ArrayCore::create_of_kind((ArrayKind::Growable, id), home, name, &T::INFO, &Layout::new([extent]), uses)
}
