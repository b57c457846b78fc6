//! Records of reads and writes of chunks, for access histories.

use crate::error::CallSite;
use std::rc::Rc;

use super::core::ArrayCore;
use crate::chunks::ChunkId;
use crate::history::{Ghosts, History, OperationName};
use crate::region::Region;

impl ArrayCore {
    /// Access history of a chunk of this rank; `None` if the chunk has no cells.
    pub(crate) fn history(&self, chunk: ChunkId) -> Option<&Rc<History>> {
        let owner = self.ownership().owner(chunk);
        let slot = self.slots.get(owner.slot).filter(|_| owner.rank == self.rank())?;
        Some(&slot.as_ref()?.history)
    }

    /// State of this rank's ghost cells in a checked run.
    pub(crate) fn ghosts(&self) -> Option<&Rc<Ghosts>> {
        self.slots.iter().flatten().find_map(|slot| slot.history.ghosts())
    }

    /// Continues the access history of another array with one chunk, whose cells this array has
    /// taken over.
    pub(super) fn continue_history_of(&self, other: &Self) {
        if let (Some(Some(own)), Some(Some(before))) = (self.slots.first(), other.slots.first()) {
            own.history.continue_from(&before.history);
        }
    }

    /// Records a write by direct wgpu calls or through leased memory to a chunk of this rank, for
    /// [`Debugging::arrays`](crate::world::Debugging::arrays) and checked runs. Zippy cannot detect
    /// such writes.
    #[track_caller]
    pub fn mark_written(&self, chunk: ChunkId) {
        self.record_write(chunk, &self.chunks().region(chunk), "wgpu calls of the program", CallSite::here());
    }

    /// Records a read through leased memory of a box of a chunk of this rank, ghost cells included,
    /// for checked runs.
    #[track_caller]
    pub fn mark_read(&self, chunk: ChunkId, region: &Region) {
        self.record_read(chunk, region, "memory that is lent", CallSite::here());
    }

    /// Records a read of a box of a chunk of this rank by the host.
    pub(crate) fn record_read(&self, chunk: ChunkId, region: &Region, what: &'static str, at: CallSite) {
        if let Some(history) = self.history(chunk) {
            history.operation(&[*region], &[], OperationName::Local(what), at);
        }
    }

    /// Records a write to a box of a chunk of this rank.
    pub(crate) fn record_write(&self, chunk: ChunkId, region: &Region, what: &'static str, at: CallSite) {
        if let Some(history) = self.history(chunk) {
            history.operation(&[], &[*region], OperationName::Local(what), at);
        }
    }
}
