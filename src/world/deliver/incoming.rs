//! What a rank receives: how much from whom, the arrays for it, and its place in them.

use std::rc::Rc;

use super::sequence::Column;
use super::wire::Wire;
use crate::array::ArrayCore;
use crate::device::{Lease, Piece, Strided};
use crate::error::{ArrayError, Result};
use crate::extents::Index;
use crate::layout::Layout;
use crate::world::World;
use crate::world::meeting::Meeting;

/// New arrays, and where in them the cells of each rank go.
pub(super) struct Incoming {
    pub arrays: Vec<Rc<ArrayCore>>,
    leases: Vec<Option<Lease>>,
    /// By rank, rising.
    from: Vec<Source>,
    /// Cells that are still to come.
    pub left: u64,
}

/// What comes from one rank.
pub(super) struct Source {
    pub rank: usize,
    pub count: u64,
    /// Whether it waits for answers.
    pub answered: bool,
    /// Where its next cell goes.
    next: u64,
    end: u64,
}

impl Incoming {
    /// Room for so many cells of these ranks, which rise.
    ///
    /// # Errors
    /// More than the device has memory for, or than fits one buffer.
    pub fn new(world: &World, columns: &[Column], counts: &[(usize, u64, bool)]) -> Result<Self> {
        let (mut from, mut left) = (Vec::with_capacity(counts.len()), 0_u64);
        for &(rank, count, answered) in counts {
            let next = left;
            left = left.checked_add(count).ok_or_else(|| ArrayError::Other("lengths overflow".to_string()))?;
            from.push(Source { rank, count, answered, next, end: left });
        }
        let extent = i64::try_from(left);
        let extent = extent.map_err(|_| ArrayError::Other(format!("{left} elements are too many for an array")))?;
        let array = |column: &Column| {
            let layout = Layout::new([extent]);
            ArrayCore::create_local(world.home(), column.name, column.element, &layout, wgpu::BufferUsages::empty())
        };
        let arrays = columns.iter().map(array).collect::<Result<Vec<_>>>()?;
        let leases = arrays.iter().map(|array| array.lease(0)).collect::<Result<_>>()?;
        Ok(Self { arrays, leases, from, left })
    }

    /// The ranks that cells come from, rising, with how many.
    pub fn sources(&self) -> &[Source] {
        &self.from
    }

    /// Whether a rank waits for answers.
    pub fn answers(&self, rank: usize) -> bool {
        self.from.iter().any(|source| source.rank == rank && source.answered)
    }

    /// Where the next cells of a rank go, in every column; `None` where so many were not announced.
    pub fn room(&mut self, rank: usize, cells: u64) -> Option<Strided> {
        let place = self.from.binary_search_by_key(&rank, |source| source.rank).ok()?;
        let source = &mut self.from[place];
        let start = source.next;
        source.next = start.checked_add(cells).filter(|next| *next <= source.end)?;
        self.left -= cells;
        Some(Strided::dense(start, Index::from([cells as i64])))
    }

    /// A column, where it has cells.
    pub fn column(&self, column: usize) -> Option<&Lease> {
        self.leases[column].as_ref()
    }

    /// Puts the cells of a message where they go.
    ///
    /// # Errors
    /// A message of another length than was announced.
    pub fn place(&mut self, world: &World, from: usize, message: &[u8], wire: &Wire) -> Result<()> {
        let found = message.len() as u64;
        let announced = self.from.iter().find(|source| source.rank == from);
        let left = announced.map_or(0, |source| source.end - source.next);
        let room = wire.cells(found).and_then(|cells| self.room(from, cells));
        let view = room.ok_or_else(|| world.wrong_message(from, wire.bytes(left), found))?;
        for ((array, lease), place) in self.arrays.iter().zip(&self.leases).zip(wire.columns(view.cells())) {
            if let Some(buffer) = lease {
                let pieces = [Piece { buffer, view, payload_offset: 0 }];
                world.unpack(array.element(), &Meeting::Replace, &message[place], &pieces)?;
            }
        }
        Ok(())
    }
}
