//! [`LocalArray`]: an array of this rank alone.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::ArrayCore;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, to_array};
use crate::device::Lease;
use crate::element::Element;
use crate::error::Result;
use crate::region::Region;

/// An n-dimensional array that belongs to this rank alone; every rank may have one of another shape, or none.
///
/// A section of it is what kernels bind, and may be either end of a copy, of get and of put.
#[derive(Debug, Clone)]
pub struct LocalArray<T, const D: usize> {
    core: Rc<ArrayCore>,
    element: PhantomData<T>,
}

impl<T: Element, const D: usize> LocalArray<T, D> {
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

    /// A lease of the buffer of its cells and ghost cells, axis 0 fastest, rows padded to whole words, for wgpu calls of
    /// one's own; `None` when it has no cells. Keep the lease until the work is submitted. Call
    /// [`Device::flush`](crate::device::Device::flush) before work that needs what kernels have written.
    ///
    /// # Errors
    /// The memory cannot be had.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(0)
    }

    fn section(&self, region: Result<Region, crate::error::RegionError>) -> LocalSection<T, D> {
        LocalSection { core: self.core.clone(), chunk: 0, region, boxes: None, element: PhantomData }
    }

    /// The section of these cells. A mistake is kept and reported by the verb that uses the section.
    pub fn at(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        let what = format!("local array \"{}\"", self.name());
        let (bounds, limits) = (self.core.bounds(), self.core.chunks().storage(0));
        self.section(selection.region(&IndexSpace { bounds: &bounds, limits: &limits, relative: false, what: &what }))
    }

    /// All its cells.
    pub fn all(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.bounds()))
    }

    /// All its cells and ghost cells.
    pub fn with_ghosts(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.chunks().storage(0)))
    }
}
