//! [`LocalSection`]: a box of cells of a chunk of this rank or of a local array.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::{ArrayCore, storage_bytes};
use super::select::to_array;
use crate::chunks::ChunkId;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, RegionError, Result};
use crate::kernel::Binding;
use crate::region::Region;

/// Section of one chunk or local array on this rank. Kernels and the host can read and write its
/// cells.
///
/// The operation that uses the section reports an invalid region.
#[derive(Debug, Clone)]
pub struct LocalSection<T, const D: usize> {
    pub(super) core: Rc<ArrayCore>,
    pub(super) chunk: ChunkId,
    pub(super) region: Result<Region, RegionError>,
    /// Several boxes instead of one region, for [`ChunkRef::boundary`](super::ChunkRef::boundary).
    pub(super) boxes: Option<Vec<Region>>,
    pub(super) element: PhantomData<T>,
}

/// Maximum size in bytes of the values that `fill_with` computes before each write.
const MAX_FILL_BLOCK_BYTES: u64 = 4 << 20;

impl<T: Element, const D: usize> LocalSection<T, D> {
    /// Region in global coordinates; for a local array, in the coordinates of the array.
    ///
    /// # Errors
    /// The selection of the section is invalid.
    #[track_caller]
    pub fn region(&self) -> Result<Region> {
        let _call = CallSite::enter();
        Ok(self.region.clone()?)
    }

    /// Text of the section for error messages.
    pub(crate) fn label(&self) -> String {
        match &self.region {
            Ok(region) => self.core.label(region),
            Err(_) => format!("a section of array \"{}\"", self.core.name()),
        }
    }

    pub(crate) fn core(&self) -> &Rc<ArrayCore> {
        &self.core
    }

    pub(crate) fn chunk(&self) -> ChunkId {
        self.chunk
    }

    /// Region of the section; fails for a section of several boxes.
    pub(crate) fn one_box(&self, verb: &str) -> Result<Region> {
        if self.boxes.is_some() {
            return Err(ArrayError::SeveralBoxes { section: self.label(), verb: verb.to_string() }.into());
        }
        self.region()
    }

    /// Reads the cells into a vector, axis 0 fastest. Local; waits for queued kernels.
    ///
    /// # Errors
    /// An invalid region, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn read(&self) -> Result<Vec<T>> {
        let _call = CallSite::enter();
        let mut out = vec![T::zeroed(); self.one_box("read")?.cells() as usize];
        self.read_into(&mut out)?;
        Ok(out)
    }

    /// Reads the cells into `values`, axis 0 fastest. Local; waits for queued kernels.
    ///
    /// # Errors
    /// As [`read`](Self::read); also if `values` has another length than the section.
    #[track_caller]
    pub fn read_into(&self, values: &mut [T]) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("read")?;
        self.check_length("the slice to read into", values.len(), &region)?;
        self.core.record_read(self.chunk, &region, "read", CallSite::here());
        self.core.read(self.chunk, &region, bytemuck::cast_slice_mut(values))
    }

    fn check_length(&self, what: &str, given: usize, region: &Region) -> Result<()> {
        if given as u64 == region.cells() {
            Ok(())
        } else {
            Err(ArrayError::Length { what: what.to_string(), given, section: self.label(), expected: region.cells() }
                .into())
        }
    }

    /// Replaces the cells by `values`, axis 0 fastest. Local; takes effect after queued kernels and
    /// before later ones.
    ///
    /// # Errors
    /// An invalid region, another number of values than cells, a section of several boxes, or a
    /// device failure.
    #[track_caller]
    pub fn write(&self, values: &[T]) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("write")?;
        self.check_length("the slice to write", values.len(), &region)?;
        self.core.record_write(self.chunk, &region, "write", CallSite::here());
        self.core.write(self.chunk, &region, bytemuck::cast_slice(values))
    }

    /// Sets the cells to `value`. Local; takes effect after queued kernels and before later ones.
    /// Repeated calls allocate no device memory.
    ///
    /// # Errors
    /// An invalid region, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn fill(&self, value: T) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("fill")?;
        self.core.record_write(self.chunk, &region, "fill", CallSite::here());
        self.core.fill(self.chunk, &region, bytemuck::bytes_of(&value))
    }

    /// Sets each cell to `value` of its position, in the coordinates of [`region`](Self::region).
    /// Positions are visited in order, axis 0 fastest. Local; computed on the host in portions of a
    /// few MiB; takes effect after queued kernels and before later ones.
    ///
    /// # Errors
    /// An invalid region, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn fill_with(&self, mut value: impl FnMut([i64; D]) -> T) -> Result<()> {
        let _call = CallSite::enter();
        self.fill_boxes(CallSite::here(), &mut |region, values| {
            let cells = region.extents()[0];
            for row in region.rows() {
                let (mut at, first) = (to_array(&row), row[0]);
                values.extend((0..cells).map(|cell| {
                    at[0] = first + cell;
                    value(at)
                }));
            }
        })
    }

    /// Sets the cells box by box to the values that `append` adds to a vector.
    fn fill_boxes(&self, at: CallSite, append: &mut dyn FnMut(&Region, &mut Vec<T>)) -> Result<()> {
        let bytes = MAX_FILL_BLOCK_BYTES.min(self.core.device().preferred_block_bytes());
        let most = (bytes / std::mem::size_of::<T>().max(1) as u64).max(1);
        let mut values = Vec::new();
        let region = self.one_box("fill")?;
        self.core.record_write(self.chunk, &region, "fill_with", at);
        for part in region.cut(most) {
            values.clear();
            append(&part, &mut values);
            self.core.write(self.chunk, &part, bytemuck::cast_slice(&values))?;
        }
        Ok(())
    }

    /// Size in bytes of the buffer that holds the section.
    pub fn buffer_bytes(&self) -> u64 {
        storage_bytes(&self.core.chunks().storage(self.chunk), self.core.element())
    }
}

impl<T: Element, const D: usize> From<LocalSection<T, D>> for Binding {
    fn from(section: LocalSection<T, D>) -> Self {
        let (region, error) = match &section.region {
            Ok(region) => (*region, None),
            Err(error) => {
                let start = section.core.chunks().storage(section.chunk).start;
                (Region::between(start, start), Some(error.clone().into()))
            }
        };
        let binding = section.core.binding(section.chunk, region);
        let (label, domain) = (section.label(), section.boxes.clone());
        Binding { label, error: error.or(binding.error), domain, ..binding }
    }
}
