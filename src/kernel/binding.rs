//! A local section as a kernel sees it.

use std::rc::Rc;

use crate::device::Lease;
use crate::element::{Element, ElementInfo, ElementKind, Packed};
use crate::error::ErrorKind;
use crate::extents::Index;
use crate::history::History;
use crate::region::Region;

/// All that a kernel sees of a local section: one box of cells in the buffer of one chunk.
///
/// Sections turn into it; there is no need to make one by hand.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The chunk's memory: the dense box `storage`, axis 0 fastest, every row starting on a 4-byte word. `None` where the
    /// chunk has no cells.
    pub buffer: Option<Lease>,
    /// What a cell is.
    pub element: &'static ElementInfo,
    /// The chunk's cells with its ghost cells, in global coordinates.
    pub storage: Region,
    /// The section, inside `storage`. Position 0 of the kernel's helpers is its start.
    pub section: Region,
    /// The cells that the chunk owns, inside `storage`.
    pub owned: Region,
    /// The global array's shape.
    pub shape: Index,
    /// What to call it in messages.
    pub label: String,
    /// A mistake made when the section was named; `run` reports it.
    pub error: Option<ErrorKind>,
    /// The boxes inside `section` that the kernel runs over when it is not the whole section.
    pub domain: Option<Vec<Region>>,
    /// What has happened to the chunk.
    pub(crate) history: Option<Rc<History>>,
}

impl Binding {
    /// Binding of `words` words at the start of a buffer that belongs to no array.
    pub(super) fn of_words(buffer: Lease, words: usize, label: &str) -> Self {
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

    /// The array's name, as far as it is known.
    pub(super) fn array(&self) -> String {
        let quoted = self.label.split('"').nth(1);
        quoted.unwrap_or(&self.label).to_string()
    }

    /// The boxes that a kernel runs over when this section gives its domain.
    pub(super) fn boxes(&self) -> Vec<Region> {
        let all = self.domain.clone().unwrap_or_else(|| vec![self.section]);
        all.into_iter().filter(|region| !region.is_empty()).collect()
    }

    /// Whether both are the same memory.
    pub(super) fn same_buffer(&self, other: &Self) -> bool {
        matches!((&self.buffer, &other.buffer), (Some(a), Some(b)) if a.same_as(b))
    }

    /// Whether both have the same extents, strides and position, so that helpers compute the same
    /// indices for both.
    pub(super) fn has_geometry_of(&self, other: &Self) -> bool {
        let boxes = |of: &Self| [of.storage, of.section, of.owned];
        // Rows of cells of whole words are dense; others end with padding to a word.
        let rows = |of: &Self| if of.element.bytes.is_multiple_of(4) { 4 } else { of.element.bytes };
        boxes(self) == boxes(other)
            && self.shape == other.shape
            && self.packed().is_some() == other.packed().is_some()
            && rows(self) == rows(other)
    }

    /// `(bytes of what one index of the variable reaches, bytes of a window)`.
    pub(super) fn window(&self, limit: u64) -> (u64, u64) {
        let unit = self.window_unit();
        (self.slot_bytes(), (limit / unit).max(1) * unit)
    }

    /// Windows begin at a multiple of both the slot and the alignment of bindings: their least
    /// common multiple, in bytes.
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

    /// The cells of all memory words that a section touches, counted from the start of the storage: handles of one chunk may
    /// differ in its place in the array, after a re-arrangement.
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

    /// How its cells are packed in words, if they are.
    pub(super) fn packed(&self) -> Option<Packed> {
        match self.element.kind {
            ElementKind::Packed(packed) => Some(packed),
            _ => None,
        }
    }

    /// Bytes of the chunk's storage.
    pub(super) fn storage_bytes(&self) -> u64 {
        let extents = self.storage.extents();
        let rows = extents[1..].iter().fold(1_u64, |n, &m| n.saturating_mul(m.max(0) as u64));
        let row = (extents[0].max(0) as u64).saturating_mul(self.element.bytes as u64);
        row.next_multiple_of(4).saturating_mul(rows)
    }
}
