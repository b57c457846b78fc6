//! [`Binding`]: the memory and geometry of a local section for a kernel call.

use std::rc::Rc;

use crate::device::Lease;
use crate::element::{Element, ElementInfo, ElementKind, Packed};
use crate::error::ErrorKind;
use crate::extents::Index;
use crate::history::History;
use crate::region::Region;

/// Memory and geometry of a local section for a kernel call: one box of cells in the buffer of one
/// chunk.
///
/// Sections convert to bindings; programs need not create one.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Memory of the chunk: the dense box `storage`, axis 0 fastest, with every row aligned to 4
    /// bytes. `None` if the chunk has no cells.
    pub buffer: Option<Lease>,
    /// Element type of the cells.
    pub element: &'static ElementInfo,
    /// The chunk's owned cells and ghost cells, in global coordinates.
    pub storage: Region,
    /// Cells of the section, inside `storage`. Its start is position 0 of the kernel's helpers.
    pub section: Region,
    /// The cells that the chunk owns, inside `storage`.
    pub owned: Region,
    /// Shape of the global array.
    pub shape: Index,
    /// Text of the section for error messages.
    pub label: String,
    /// Error of an invalid selection of cells; `run` reports it.
    pub error: Option<ErrorKind>,
    /// Boxes inside `section` over which the kernel runs; `None` for the whole section.
    pub domain: Option<Vec<Region>>,
    /// Access history of the chunk; `None` outside of all arrays.
    pub history: Option<Rc<History>>,
}

impl Binding {
    /// Returns a binding of `words` words at the start of a buffer outside of all arrays.
    pub(super) fn for_words_of_buffer(buffer: Lease, words: usize, label: &str) -> Self {
        let shape = Index::from([words as i64]);
        let whole = Region::whole(shape);
        Self {
            buffer: Some(buffer),
            element: &u32::INFO,
            storage: whole,
            section: whole,
            owned: whole,
            shape,
            label: label.into(),
            error: None,
            domain: None,
            history: None,
        }
    }

    /// Returns the name of the array, if known.
    pub(super) fn array(&self) -> String {
        let quoted = self.label.split('"').nth(1);
        quoted.unwrap_or(&self.label).to_string()
    }

    /// Returns the boxes of a kernel's domain if this section defines the domain.
    pub(super) fn boxes(&self) -> Vec<Region> {
        let all = self.domain.clone().unwrap_or_else(|| vec![self.section]);
        all.into_iter().filter(|region| !region.is_empty()).collect()
    }

    pub(super) fn shares_buffer_with(&self, other: &Self) -> bool {
        matches!((&self.buffer, &other.buffer), (Some(a), Some(b)) if a.same_as(b))
    }

    /// True if both bindings have the same extents, strides and position, so that helpers compute
    /// the same indices for both.
    pub(super) fn has_geometry_of(&self, other: &Self) -> bool {
        let boxes = |binding: &Self| [binding.storage, binding.section, binding.owned];
        // Rows of cells of whole words have no padding; other rows are padded to whole words.
        let rows = |binding: &Self| if binding.element.bytes.is_multiple_of(4) { 4 } else { binding.element.bytes };
        boxes(self) == boxes(other)
            && self.shape == other.shape
            && self.packed().is_some() == other.packed().is_some()
            && rows(self) == rows(other)
    }

    /// Returns the size of a slot (one index of the shader's variable) and of a window, in bytes.
    pub(super) fn window(&self, limit: u64) -> (u64, u64) {
        let unit = self.window_unit();
        (self.slot_bytes(), (limit / unit).max(1) * unit)
    }

    /// Returns the alignment of windows in bytes: the least common multiple of the slot size and
    /// the alignment of bindings.
    pub(super) fn window_unit(&self) -> u64 {
        const ALIGN: u64 = 256;
        let slot = self.slot_bytes();
        slot * (ALIGN / ALIGN.min(1 << slot.trailing_zeros()))
    }

    fn slot_bytes(&self) -> u64 {
        match self.element.kind {
            ElementKind::Packed(_) => 4,
            _ => self.element.bytes as u64,
        }
    }

    /// Returns the cells of all memory words that overlap the section, relative to the start of the
    /// storage: handles of one chunk may have other global coordinates after a re-arrangement.
    pub(super) fn words(&self) -> Region {
        let start = self.storage.start;
        let mut region = self.section.translate(&(Index::zeros(start.axes()) - start));
        if let (Some(packed), false) = (self.packed(), region.is_empty()) {
            let step = 4 / packed.bytes() as i64;
            region.start[0] = region.start[0].div_euclid(step) * step;
            region.end[0] = (region.end[0] + step - 1).div_euclid(step) * step;
        }
        region
    }

    /// Returns the packing of several cells in a word; `None` for cells of whole words.
    pub(super) fn packed(&self) -> Option<Packed> {
        match self.element.kind {
            ElementKind::Packed(packed) => Some(packed),
            _ => None,
        }
    }

    pub(super) fn storage_bytes(&self) -> u64 {
        let extents = self.storage.extents();
        let rows = extents[1..].iter().fold(1_u64, |n, &m| n.saturating_mul(m.max(0) as u64));
        let row = (extents[0].max(0) as u64).saturating_mul(self.element.bytes as u64);
        row.next_multiple_of(4).saturating_mul(rows)
    }
}
