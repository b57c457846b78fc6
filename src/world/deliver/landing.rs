//! What a rank receives: how much from whom, the room for it, and its place there.

use std::ops::Range;
use std::rc::Rc;

use super::columns::Column;
use super::message::MessageForm;
use crate::array::{ArrayCore, ArrayKind, Cells};
use crate::error::{ArrayError, Result};
use crate::layout::Layout;
use crate::trace::Activity;
use crate::world::World;

/// Where what comes goes.
#[derive(Clone, Copy)]
pub(crate) enum Destined<'a> {
    /// To new arrays, one a column, called like it.
    Arrays,
    /// To new memory, in as many buffers as it takes.
    Memory,
    /// To these cells, apart from all that are sent.
    Cells(&'a [Cells]),
}

/// What one rank has for another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announced {
    pub from: usize,
    pub cells: u64,
    /// Whether the sender is to be told what has been taken.
    pub answered: bool,
}

/// Room for what comes, and where in it the cells of each rank go.
pub(super) struct Landing {
    /// The new arrays, where arrays were asked for.
    pub arrays: Vec<Rc<ArrayCore>>,
    /// One a column.
    pub cells: Vec<Cells>,
    /// By rank, rising.
    origins: Vec<Origin>,
    /// Cells that are still to come.
    pub left: u64,
}

/// What comes from one rank, and where its next cell goes.
struct Origin {
    announced: Announced,
    next: u64,
    end: u64,
}

impl Landing {
    /// Room for what these ranks have, which rise.
    ///
    /// # Errors
    /// More than the device has memory for, or than fits one buffer; another number of cells than there is room for.
    pub fn new(world: &World, columns: &[Column], announced: &[Announced], to: Destined) -> Result<Self> {
        let (mut origins, mut end) = (Vec::with_capacity(announced.len()), 0_u64);
        for &announced in announced {
            let next = end;
            end = end.saturating_add(announced.cells);
            origins.push(Origin { announced, next, end });
        }
        let extent = i64::try_from(end)
            .map_err(|_| ArrayError::Other(format!("{end} elements for one rank are more than an array can have")))?;
        if let Destined::Cells(room) = to {
            if let Some(other) = room.iter().find(|cells| cells.len() != end) {
                let text = format!("{end} elements arrive for the {} cells of {}", other.len(), other.label());
                return Err(ArrayError::Other(text).into());
            }
            return Ok(Self { arrays: Vec::new(), cells: room.to_vec(), origins, left: end });
        }
        if let Destined::Memory = to {
            let memory = |column: &Column| Cells::scratch(&world.home(), column.name, column.element, end);
            let cells = columns.iter().map(memory).collect::<Result<_>>()?;
            return Ok(Self { arrays: Vec::new(), cells, origins, left: end });
        }
        let array = |column: &Column| {
            let layout = Layout::new([extent]);
            let none = wgpu::BufferUsages::empty();
            let kind = (ArrayKind::Growable, world.registry.borrow_mut().next_local_id());
            ArrayCore::create_of_kind(kind, world.home(), column.name, column.element, &layout, none)
        };
        let arrays = columns.iter().map(array).collect::<Result<Vec<_>>>()?;
        let cells = arrays.iter().map(|array| Cells::of(array, 0, array.bounds())).collect::<Result<_>>()?;
        Ok(Self { arrays, cells, origins, left: end })
    }

    /// The ranks that cells come from, rising, with how many.
    pub fn counts(&self) -> Vec<(usize, u64)> {
        self.origins.iter().map(|Origin { announced, .. }| (announced.from, announced.cells)).collect()
    }

    /// Whether a rank is to be told what has been taken.
    pub fn answers(&self, from: usize) -> bool {
        self.origin(from).is_some_and(|place| self.origins[place].announced.answered)
    }

    fn origin(&self, from: usize) -> Option<usize> {
        self.origins.binary_search_by_key(&from, |origin| origin.announced.from).ok()
    }

    /// Where the next cells of a rank go, in every column; `None` where so many were not announced.
    pub fn room(&mut self, from: usize, cells: u64) -> Option<Range<u64>> {
        let place = self.origin(from)?;
        let Origin { next, end, .. } = &mut self.origins[place];
        let start = *next;
        *next = start.checked_add(cells).filter(|next| next <= end)?;
        self.left -= cells;
        Some(start..start + cells)
    }

    /// Puts the cells of a message where they go.
    ///
    /// # Errors
    /// A message that is longer than was announced, or of no whole cells.
    pub fn put(&mut self, world: &World, from: usize, message: &[u8], form: &MessageForm) -> Result<()> {
        let found = message.len() as u64;
        let left = self.origin(from).map_or(0, |place| self.origins[place].end - self.origins[place].next);
        let room = form.cells(found).and_then(|cells| self.room(from, cells));
        let room = room.ok_or_else(|| world.wrong_message(from, form.bytes(left), found))?;
        for (cells, place) in self.cells.iter().zip(form.columns(room.end - room.start)) {
            world.tracer().span(Activity::Unpack, || cells.write(room.clone(), &message[place]))?;
        }
        Ok(())
    }
}
