use crate::device::Lease;
use crate::element::ElementInfo;
use crate::error::Error;
use crate::extents::Index;
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
    pub error: Option<Error>,
    /// The boxes inside `section` that the kernel runs over when it is not the whole section.
    pub domain: Option<Vec<Region>>,
}

impl Binding {
    /// The boxes that a kernel runs over when this section gives its domain.
    pub(super) fn boxes(&self) -> Vec<Region> {
        let all = self.domain.clone().unwrap_or_else(|| vec![self.section]);
        all.into_iter().filter(|region| !region.is_empty()).collect()
    }

    /// Whether both are the same memory.
    pub(super) fn same_buffer(&self, other: &Self) -> bool {
        matches!((&self.buffer, &other.buffer), (Some(a), Some(b)) if a.same_as(b))
    }
}
