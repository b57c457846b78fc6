//! [`SequencePart`]: box of one chunk in a sequence.

use std::ops::Range;
use std::rc::Rc;

use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::Lease;
use crate::element::{Element, ElementInfo, ElementKind};
use crate::extents::Index;
use crate::kernel::Binding;
use crate::region::Region;

/// Box of one chunk in a [`CellSequence`](super::CellSequence).
#[derive(Debug, Clone)]
pub struct SequencePart {
    pub(crate) core: Rc<ArrayCore>,
    pub(crate) chunk: ChunkId,
    pub(crate) region: Region,
    pub(crate) lease: Lease,
    /// Number of preceding cells in the sequence.
    pub first: u64,
}

impl SequencePart {
    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.region.cells()
    }

    /// Id of the chunk's buffer.
    pub(crate) fn memory(&self) -> u64 {
        self.lease.id()
    }

    /// Kernel binding of the part, for the arguments of a [`Call`](crate::kernel::Call).
    pub fn binding(&self) -> Binding {
        self.core.binding(self.chunk, self.region)
    }

    /// Kernel binding of the part in words of 32 bits, for kernels that move cells of any type;
    /// elements of 8 and 16 bits keep their type. The caller records writes with
    /// [`CellSequence::were_written`](super::CellSequence::were_written), because the access
    /// history of the chunk counts cells.
    pub fn in_words(&self) -> Binding {
        let binding = Binding { history: None, ..self.binding() };
        let words = words(binding.element) as i64;
        let scaled = |region: &Region| {
            let times = |index: Index| Index::from_fn(1, |axis| index[axis] * words);
            Region::between(times(region.start), times(region.end))
        };
        if let ElementKind::Packed(_) = binding.element.kind {
            return binding;
        }
        if binding.element.bytes == 2 {
            return Binding { element: &u16::INFO, ..binding };
        }
        Binding {
            element: &u32::INFO,
            storage: scaled(&binding.storage),
            section: scaled(&binding.section),
            owned: scaled(&binding.owned),
            shape: Index::from([binding.shape[0] * words]),
            ..binding
        }
    }

    /// Box of a range of the part's cells.
    pub(crate) fn region_of(&self, cells: Range<u64>) -> Region {
        let start = self.region.start[0];
        let at = |cell: u64| Index::from([start + cell as i64]);
        Region::between(at(cells.start), at(cells.end))
    }
}

/// Number of words per cell in kernels that move cells of any type.
pub(super) fn words(element: &ElementInfo) -> usize {
    element.bytes.div_ceil(4)
}
