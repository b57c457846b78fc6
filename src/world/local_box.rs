//! [`LocalBox`]: a box of a chunk of this rank.

use std::rc::Rc;

use crate::array::{ArrayCore, LocalSection};
use crate::chunks::ChunkId;
use crate::device::BufferBox;
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::region::Region;

/// Box of a chunk of this rank.
#[derive(Debug, Clone)]
pub(super) struct LocalBox {
    pub array: Rc<ArrayCore>,
    pub chunk: ChunkId,
    pub region: Region,
}

impl LocalBox {
    /// Creates the box of a section.
    ///
    /// # Errors
    /// An invalid region; a section that consists of several boxes.
    pub(super) fn new<T: Element, const D: usize>(section: &LocalSection<T, D>, verb: &str) -> Result<Self> {
        Ok(Self { array: section.core().clone(), chunk: section.chunk(), region: section.one_box(verb)? })
    }

    /// Part of the box. `within` has coordinates that begin at the first cell of the box.
    pub(super) fn sub_box(&self, within: &Region) -> Self {
        Self { array: self.array.clone(), chunk: self.chunk, region: within.translate(&self.region.start) }
    }

    /// True if the chunk shares its memory with a chunk of this rank of another array.
    pub(super) fn shares_memory_with(&self, other: &ArrayCore) -> bool {
        let memory = self.array.memory(self.chunk);
        other.owned().any(|chunk| other.memory(chunk) == memory)
    }

    pub(super) fn label(&self) -> String {
        self.array.label(&self.region)
    }
}

/// Copies boxes of equal extents and element types on their device. Reads all sources before it
/// writes the first destination.
pub(super) fn copy_boxes(pairs: &[(LocalBox, LocalBox)]) -> Result<()> {
    let at = CallSite::here();
    let lease = |of: &LocalBox| of.array.lease(of.chunk);
    let leases = pairs.iter().map(|(from, to)| Ok((lease(from)?, lease(to)?))).collect::<Result<Vec<_>>>()?;
    let mut boxes = Vec::with_capacity(pairs.len());
    let mut copied = Vec::with_capacity(pairs.len());
    for ((from, to), leases) in pairs.iter().zip(&leases) {
        // A chunk without cells has no buffer.
        if let (Some(read), Some(written), false) = (&leases.0, &leases.1, from.region.is_empty()) {
            let read = BufferBox { buffer: read, view: from.array.strided(from.chunk, &from.region) };
            let written = BufferBox { buffer: written, view: to.array.strided(to.chunk, &to.region) };
            boxes.push((read, written));
            copied.push((from, to));
        }
    }
    let Some((first, _)) = copied.first() else { return Ok(()) };
    first.array.device().copy_boxes(first.array.element().bytes, &boxes)?;
    for (from, to) in copied {
        from.array.record_read(from.chunk, &from.region, "copy", at);
        to.array.record_write(to.chunk, &to.region, "copy", at);
    }
    Ok(())
}
