//! What a rank receives: how much from whom, the arrays for it, and its place in them.

use std::rc::Rc;

use super::columns::Column;
use super::message::MessageForm;
use crate::array::ArrayCore;
use crate::device::{Lease, Piece, Strided};
use crate::error::{ArrayError, Result};
use crate::extents::Index;
use crate::layout::Layout;
use crate::world::World;
use crate::world::meeting::Meeting;

/// What one rank has for another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announced {
    pub from: usize,
    pub cells: u64,
    /// Whether the sender is to be told what has been taken.
    pub answered: bool,
}

/// New arrays, and where in them the cells of each rank go.
pub(super) struct Landing {
    /// One a column.
    pub arrays: Vec<Rc<ArrayCore>>,
    leases: Vec<Option<Lease>>,
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
    /// More than the device has memory for, or than fits one buffer.
    pub fn new(world: &World, columns: &[Column], announced: &[Announced]) -> Result<Self> {
        let (mut origins, mut end) = (Vec::with_capacity(announced.len()), 0_u64);
        for &announced in announced {
            let next = end;
            end = end.saturating_add(announced.cells);
            origins.push(Origin { announced, next, end });
        }
        let extent = i64::try_from(end)
            .map_err(|_| ArrayError::Other(format!("{end} elements for one rank are more than an array can have")))?;
        let array = |column: &Column| {
            let layout = Layout::new([extent]);
            ArrayCore::create_local(world.home(), column.name, column.element, &layout, wgpu::BufferUsages::empty())
        };
        let arrays = columns.iter().map(array).collect::<Result<Vec<_>>>()?;
        let leases = arrays.iter().map(|array| array.lease(0)).collect::<Result<_>>()?;
        Ok(Self { arrays, leases, origins, left: end })
    }

    /// The ranks that cells come from, rising, with how many.
    pub fn counts(&self) -> Vec<(usize, u64)> {
        self.origins.iter().map(|Origin { announced, .. }| (announced.from, announced.cells)).collect()
    }

    /// A column, where there are cells.
    pub fn column(&self, column: usize) -> Option<&Lease> {
        self.leases[column].as_ref()
    }

    /// Whether a rank is to be told what has been taken.
    pub fn answers(&self, from: usize) -> bool {
        self.origin(from).is_some_and(|place| self.origins[place].announced.answered)
    }

    fn origin(&self, from: usize) -> Option<usize> {
        self.origins.binary_search_by_key(&from, |origin| origin.announced.from).ok()
    }

    /// Where the next cells of a rank go, in every column; `None` where so many were not announced.
    pub fn room(&mut self, from: usize, cells: u64) -> Option<Strided> {
        let place = self.origin(from)?;
        let Origin { next, end, .. } = &mut self.origins[place];
        let start = *next;
        *next = start.checked_add(cells).filter(|next| next <= end)?;
        self.left -= cells;
        Some(Strided::dense(start, Index::from([cells as i64])))
    }

    /// Puts the cells of a message where they go.
    ///
    /// # Errors
    /// A message that is longer than was announced, or of no whole cells.
    pub fn put(&mut self, world: &World, from: usize, message: &[u8], form: &MessageForm) -> Result<()> {
        let found = message.len() as u64;
        let left = self.origin(from).map_or(0, |place| self.origins[place].end - self.origins[place].next);
        let room = form.cells(found).and_then(|cells| self.room(from, cells));
        let view = room.ok_or_else(|| world.wrong_message(from, form.bytes(left), found))?;
        for ((array, lease), place) in self.arrays.iter().zip(&self.leases).zip(form.columns(view.cells())) {
            if let Some(buffer) = lease {
                let pieces = [Piece { buffer, view, payload_offset: 0 }];
                world.unpack(array.element(), &Meeting::Replace, &message[place], &pieces)?;
            }
        }
        Ok(())
    }
}
