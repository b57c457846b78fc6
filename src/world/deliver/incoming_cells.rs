//! [`IncomingCells`]: destination of the cells that a rank receives.

use std::ops::Range;
use std::rc::Rc;

use super::column::Column;
use super::message_form::MessageForm;
use crate::array::{ArrayCore, ArrayKind, CellSequence};
use crate::error::{ArrayError, Result};
use crate::layout::Layout;
use crate::plan::Moved;
use crate::trace::Activity;
use crate::world::World;

/// Destination of the cells that arrive at this rank.
#[derive(Clone, Copy)]
pub enum DeliveryTarget<'a> {
    /// New arrays, one per column, with the name of the column.
    Arrays,
    /// New memory, in any number of buffers.
    Memory,
    /// Existing cells, disjoint from all cells that are sent.
    Cells(&'a [CellSequence]),
}

/// Cells that a [delivery](crate::collective::CollectiveWorld::deliver_columns) brought to this
/// rank.
pub struct DeliveredCells {
    /// Cells of each column, sorted by sending rank. Cells from the same rank keep their order.
    pub cells: Vec<CellSequence>,
    /// Arrays of the cells, for [`DeliveryTarget::Arrays`].
    pub(crate) arrays: Vec<Rc<ArrayCore>>,
    /// Number of cells from each rank, in ascending order of ranks.
    pub counts: Vec<(usize, u64)>,
    /// Bytes and messages that this rank sent.
    pub moved: Moved,
}

/// Number of cells that another rank sends to this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announcement {
    pub from: usize,
    pub cells: u64,
    /// True if the sender expects acknowledgements.
    pub is_acknowledged: bool,
}

/// Destination cells, and the range of the cells from each rank in them.
pub(super) struct IncomingCells {
    /// New arrays, for [`DeliveryTarget::Arrays`].
    pub arrays: Vec<Rc<ArrayCore>>,
    /// Destination cells, by column.
    pub cells: Vec<CellSequence>,
    /// Ranges of the sending ranks, in ascending order of ranks.
    origins: Vec<SenderRange>,
    /// Number of cells not yet received.
    pub missing: u64,
}

/// Range of a sending rank's cells that are not yet received.
struct SenderRange {
    announced: Announcement,
    next: u64,
    end: u64,
}

impl IncomingCells {
    /// Allocates or checks the destination of the announced cells. `announced` is in ascending
    /// order of ranks.
    ///
    /// # Errors
    /// More cells than the memory of the device or a buffer holds; a number of cells that differs
    /// from the given destination.
    pub(super) fn new(
        world: &World,
        columns: &[Column<'_>],
        announced: &[Announcement],
        target: DeliveryTarget<'_>,
    ) -> Result<Self> {
        let (mut origins, mut end) = (Vec::with_capacity(announced.len()), 0_u64);
        for &announced in announced {
            let next = end;
            end = end.saturating_add(announced.cells);
            origins.push(SenderRange { announced, next, end });
        }
        let extent = i64::try_from(end)
            .map_err(|_| ArrayError::Other(format!("{end} elements for one rank exceed the length of an array")))?;
        if let DeliveryTarget::Cells(room) = target {
            if let Some(other) = room.iter().find(|cells| cells.len() != end) {
                let text = format!("{end} elements arrive for the {} cells of {}", other.len(), other.label());
                return Err(ArrayError::Other(text).into());
            }
            return Ok(Self { arrays: Vec::new(), cells: room.to_vec(), origins, missing: end });
        }
        if let DeliveryTarget::Memory = target {
            let memory =
                |column: &Column<'_>| CellSequence::scratch(&world.array_context(), column.name, column.element, end);
            let cells = columns.iter().map(memory).collect::<Result<_>>()?;
            return Ok(Self { arrays: Vec::new(), cells, origins, missing: end });
        }
        let array = |column: &Column<'_>| {
            let layout = Layout::new([extent]);
            let uses = wgpu::BufferUsages::empty();
            let kind = (ArrayKind::Growable, world.registry.borrow_mut().next_local_id());
            ArrayCore::create_of_kind(kind, world.array_context(), column.name, column.element, &layout, uses)
        };
        let arrays = columns.iter().map(array).collect::<Result<Vec<_>>>()?;
        let cells = arrays.iter().map(|array| CellSequence::of(array, 0, array.bounds())).collect::<Result<_>>()?;
        Ok(Self { arrays, cells, origins, missing: end })
    }

    /// Sending ranks in ascending order, with the number of cells from each.
    pub(super) fn counts(&self) -> Vec<(usize, u64)> {
        self.origins.iter().map(|SenderRange { announced, .. }| (announced.from, announced.cells)).collect()
    }

    pub(super) fn is_acknowledged(&self, from: usize) -> bool {
        self.origin(from).is_some_and(|index| self.origins[index].announced.is_acknowledged)
    }

    fn origin(&self, from: usize) -> Option<usize> {
        self.origins.binary_search_by_key(&from, |origin| origin.announced.from).ok()
    }

    /// Reserves the range for the next cells of a rank, in all columns. `None` if the rank has not
    /// announced them.
    pub(super) fn reserve(&mut self, from: usize, cells: u64) -> Option<Range<u64>> {
        let index = self.origin(from)?;
        let SenderRange { next, end, .. } = &mut self.origins[index];
        let start = *next;
        *next = start.checked_add(cells).filter(|next| next <= end)?;
        self.missing -= cells;
        Some(start..start + cells)
    }

    /// Writes the cells of a message to their destination.
    ///
    /// # Errors
    /// A message that is longer than announced, or does not have whole cells.
    pub(super) fn write(&mut self, world: &World, from: usize, message: &[u8], form: &MessageForm) -> Result<()> {
        let found = message.len() as u64;
        let missing = self.origin(from).map_or(0, |index| self.origins[index].end - self.origins[index].next);
        let room = form.cells(found).and_then(|cells| self.reserve(from, cells));
        let room = room.ok_or_else(|| world.wrong_message(from, form.bytes(missing), found))?;
        for (cells, range) in self.cells.iter().zip(form.columns(room.end - room.start)) {
            world.tracer().span(Activity::Unpack, || cells.write(room.clone(), &message[range]))?;
        }
        Ok(())
    }
}
