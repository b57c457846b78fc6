//! [`LocalSection`]: a box of cells on this rank, of a chunk of a global array or of a local array.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::{ArrayCore, storage_bytes};
use super::select::to_array;
use crate::chunks::ChunkId;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, RegionError, Result};
use crate::kernel::Binding;
use crate::region::Region;

/// A section of one chunk (or of a local array) on this rank: cells that kernels read and write, and that the host can reach.
///
/// A region that does not fit is kept here and reported by the verb that uses the section.
#[derive(Debug, Clone)]
pub struct LocalSection<T, const D: usize> {
    pub(super) core: Rc<ArrayCore>,
    pub(super) chunk: ChunkId,
    pub(super) region: Result<Region, RegionError>,
    /// Several boxes instead of the whole section, for [`ChunkRef::boundary`](super::ChunkRef::boundary).
    pub(super) boxes: Option<Vec<Region>>,
    pub(super) element: PhantomData<T>,
}

/// The most bytes of values that are computed before they are written.
const FILL_BYTES: u64 = 4 << 20;

impl<T: Element, const D: usize> LocalSection<T, D> {
    /// The region in global coordinates (of a local array: its own coordinates).
    ///
    /// # Errors
    /// The mistake made when the section was named.
    #[track_caller]
    pub fn region(&self) -> Result<Region> {
        let _call = CallSite::enter();
        Ok(self.region.clone()?)
    }

    /// The cells, for a message.
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

    /// The one box of this section.
    pub(crate) fn one_box(&self, verb: &str) -> Result<Region> {
        if self.boxes.is_some() {
            return Err(ArrayError::SeveralBoxes { section: self.label(), verb: verb.to_string() }.into());
        }
        self.region()
    }

    /// Its cells as one vector, axis 0 fastest. Local; waits for queued kernels.
    ///
    /// # Errors
    /// A bad region, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn read(&self) -> Result<Vec<T>> {
        let _call = CallSite::enter();
        let mut out = vec![T::zeroed(); self.one_box("read")?.cells() as usize];
        self.read_into(&mut out)?;
        Ok(out)
    }

    /// [`read`](Self::read) into memory that is there: as many values as it has cells.
    ///
    /// # Errors
    /// As [`read`](Self::read), and another number of values.
    #[track_caller]
    pub fn read_into(&self, values: &mut [T]) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("read")?;
        self.check_length("the slice to read into", values.len(), &region)?;
        self.core.was_read(self.chunk, &region, "read", CallSite::here());
        self.core.read(self.chunk, &region, bytemuck::cast_slice_mut(values))
    }

    fn check_length(&self, what: &str, given: usize, region: &Region) -> Result<()> {
        match given as u64 == region.cells() {
            true => Ok(()),
            false => Err(ArrayError::Length {
                what: what.to_string(),
                given,
                section: self.label(),
                expected: region.cells(),
            }
            .into()),
        }
    }

    /// Replaces its cells by `values`, axis 0 fastest. Local; takes effect after queued kernels, before later ones.
    ///
    /// # Errors
    /// A bad region, another number of values than cells, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn write(&self, values: &[T]) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("write")?;
        self.check_length("the slice to write", values.len(), &region)?;
        self.core.was_written(self.chunk, &region, "write", CallSite::here());
        self.core.write(self.chunk, &region, bytemuck::cast_slice(values))
    }

    /// Sets its cells to `value`. Local; takes effect after queued kernels, before later ones. A warm repeat allocates
    /// nothing on the device.
    ///
    /// # Errors
    /// A bad region, a section of several boxes, or a device failure.
    #[track_caller]
    pub fn fill(&self, value: T) -> Result<()> {
        let _call = CallSite::enter();
        let region = self.one_box("fill")?;
        self.core.was_written(self.chunk, &region, "fill", CallSite::here());
        self.core.fill(self.chunk, &region, bytemuck::bytes_of(&value))
    }

    /// Sets its cells to the values at their positions, in the coordinates of [`region`](Self::region), in their order,
    /// axis 0 fastest. Local; computed by the host, some MiB at a time, and takes effect after queued kernels, before
    /// later ones.
    ///
    /// # Errors
    /// A bad region, a section of several boxes, or a device failure.
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

    /// Sets its cells box by box to the values that `append` puts into a vector.
    fn fill_boxes(&self, at: CallSite, append: &mut dyn FnMut(&Region, &mut Vec<T>)) -> Result<()> {
        let bytes = FILL_BYTES.min(self.core.device().bytes_at_a_time());
        let most = (bytes / std::mem::size_of::<T>().max(1) as u64).max(1);
        let mut values = Vec::new();
        let region = self.one_box("fill")?;
        self.core.was_written(self.chunk, &region, "fill_with", at);
        for part in region.cut(most) {
            values.clear();
            append(&part, &mut values);
            self.core.write(self.chunk, &part, bytemuck::cast_slice(&values))?;
        }
        Ok(())
    }

    /// Bytes of the buffer that holds it.
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
