//! [`LocalSection`]: a box of cells on this rank, of a chunk of a global array or of a local array.

use std::marker::PhantomData;
use std::rc::Rc;

use super::core::{ArrayCore, storage_bytes};
use super::select::to_array;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Piece};
use crate::element::Element;
use crate::error::{ArrayError, RegionError, Result};
use crate::kernel::Binding;
use crate::region::Region;

/// A section of one chunk (or of a local array) on this rank: what kernels read and write, and what the host can reach.
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

/// Values that are computed before they are written.
const FILL_BYTES: u64 = 4 << 20;

impl<T: Element, const D: usize> LocalSection<T, D> {
    /// The region in global coordinates (of a local array: its own coordinates).
    ///
    /// # Errors
    /// The mistake made when the section was named.
    pub fn region(&self) -> Result<Region> {
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
    pub fn read(&self) -> Result<Vec<T>> {
        let region = self.one_box("read")?;
        let cells = region.cells() as usize;
        let mut out = vec![T::zeroed(); cells];
        if let (Some(lease), true) = (self.core.lease(self.chunk)?, cells > 0) {
            let view = self.core.strided(self.chunk, &region);
            let bytes = std::mem::size_of_val(out.as_slice());
            let staged = self.core.device().gather(
                self.core.element().bytes,
                &[Piece { buffer: &lease, view, payload_offset: 0 }],
                bytes.next_multiple_of(4) as u64,
            )?;
            bytemuck::cast_slice_mut(&mut out).copy_from_slice(&staged.as_ref()[..bytes]);
        }
        Ok(out)
    }

    /// Replaces its cells by `values`, axis 0 fastest. Local; takes effect after queued kernels, before later ones.
    ///
    /// # Errors
    /// A bad region, another number of values than cells, a section of several boxes, or a device failure.
    pub fn write(&self, values: &[T]) -> Result<()> {
        let region = self.one_box("write")?;
        if values.len() as u64 != region.cells() {
            return Err(ArrayError::Length {
                what: "the slice to write".to_string(),
                given: values.len(),
                section: self.label(),
                expected: region.cells(),
            }
            .into());
        }
        if let (Some(lease), false) = (self.core.lease(self.chunk)?, values.is_empty()) {
            let view = self.core.strided(self.chunk, &region);
            let bytes: &[u8] = bytemuck::cast_slice(values);
            let pieces = [Piece { buffer: &lease, view, payload_offset: 0 }];
            if bytes.len().is_multiple_of(4) {
                self.core.device().scatter(self.core.element().bytes, bytes, &pieces)?;
            } else {
                let mut padded = bytes.to_vec();
                padded.resize(bytes.len().next_multiple_of(4), 0);
                self.core.device().scatter(self.core.element().bytes, &padded, &pieces)?;
            }
        }
        Ok(())
    }

    /// Sets its cells to `value`. Local; takes effect after queued kernels, before later ones. A warm repeat allocates
    /// nothing on the device.
    ///
    /// # Errors
    /// A bad region, a section of several boxes, or a device failure.
    pub fn fill(&self, value: T) -> Result<()> {
        let region = self.one_box("fill")?;
        if let (Some(lease), false) = (self.core.lease(self.chunk)?, region.is_empty()) {
            let view = self.core.strided(self.chunk, &region);
            self.core.device().fill(bytemuck::bytes_of(&value), &[BoxOf { buffer: &lease, view }])?;
        }
        Ok(())
    }

    /// Sets its cells to the values at their positions, in the coordinates of [`region`](Self::region), in their order,
    /// axis 0 fastest. Local; computed by the host, some MiB at a time, and takes effect after queued kernels, before
    /// later ones.
    ///
    /// # Errors
    /// A bad region, a section of several boxes, or a device failure.
    pub fn fill_with(&self, mut value: impl FnMut([i64; D]) -> T) -> Result<()> {
        let most = (FILL_BYTES / std::mem::size_of::<T>().max(1) as u64).max(1);
        let mut values = Vec::new();
        for part in self.one_box("fill")?.cut(most) {
            values.clear();
            values.extend(part.points().map(|p| value(to_array(&p))));
            self.part(part).write(&values)?;
        }
        Ok(())
    }

    /// A box of its cells.
    fn part(&self, region: Region) -> Self {
        Self { core: self.core.clone(), chunk: self.chunk, region: Ok(region), boxes: None, element: PhantomData }
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

impl<T: Element, const D: usize> From<&LocalSection<T, D>> for Binding {
    fn from(section: &LocalSection<T, D>) -> Self {
        section.clone().into()
    }
}
