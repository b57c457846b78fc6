//! [`LocalArray`]: an array on this rank only.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::ArrayCore;
use super::section::LocalSection;
use super::select::{IndexSpace, Select, to_array};
use crate::device::Lease;
use crate::element::Element;
use crate::error::Result;
use crate::region::Region;

/// N-dimensional array on this rank only. The shape may differ between ranks.
///
/// Its sections can be bound to kernels, and can be the source or destination of copies, gets and
/// puts.
#[derive(Debug, Clone)]
pub struct LocalArray<T, const D: usize> {
    core: Rc<ArrayCore>,
    element: PhantomData<T>,
}

impl<T: Element, const D: usize> LocalArray<T, D> {
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

    /// Lease of the buffer with the cells and ghost cells, for direct wgpu calls; `None` if the
    /// array has no cells. Axis 0 is fastest; rows are padded to whole 32-bit words. Keep the lease
    /// until the work is submitted. Call [`Device::flush`](crate::device::Device::flush) before
    /// work that depends on the results of kernels.
    ///
    /// # Errors
    /// The memory is not available.
    #[track_caller]
    pub fn lease(&self) -> Result<Option<Lease>> {
        self.core.lease(0)
    }

    fn section(&self, region: Result<Region, crate::error::RegionError>) -> LocalSection<T, D> {
        LocalSection { core: self.core.clone(), chunk: 0, region, boxes: None, element: PhantomData }
    }

    /// Section of the selected cells. The operation that uses the section reports an invalid
    /// selection.
    pub fn at(&self, selection: impl Select<D>) -> LocalSection<T, D> {
        let what = format!("local array \"{}\"", self.name());
        let (bounds, limits) = (self.core.bounds(), self.core.chunks().storage(0));
        self.section(selection.region(&IndexSpace { bounds: &bounds, limits: &limits, relative: false, what: &what }))
    }

    /// Section of all cells.
    pub fn all(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.bounds()))
    }

    /// Section of all cells and ghost cells.
    pub fn with_ghosts(&self) -> LocalSection<T, D> {
        self.section(Ok(self.core.chunks().storage(0)))
    }
}
