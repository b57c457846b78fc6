//! What is told of chunks: that they are read and written.

use crate::error::CallSite;
use std::rc::Rc;

use super::core::ArrayCore;
use crate::chunks::ChunkId;
use crate::history::{Ghosts, History, What};
use crate::region::Region;

impl ArrayCore {
    /// What has happened to a chunk of this rank; `None` where it has no cells.
    pub(crate) fn history(&self, chunk: ChunkId) -> Option<&Rc<History>> {
        let owner = self.ownership().owner(chunk);
        let slot = self.slots.get(owner.slot).filter(|_| owner.rank == self.rank())?;
        Some(&slot.as_ref()?.history)
    }

    /// What is known of its ghost cells on this rank, in a checked run.
    pub(crate) fn ghosts(&self) -> Option<&Rc<Ghosts>> {
        self.slots.iter().flatten().find_map(|slot| slot.history.ghosts())
    }

    /// Goes on with what has happened to another array of one chunk, whose cells it has taken over.
    pub(super) fn goes_on_from(&self, other: &Self) {
        if let (Some(Some(own)), Some(Some(before))) = (self.slots.first(), other.slots.first()) {
            own.history.goes_on_from(&before.history);
        }
    }

    /// Tells that wgpu calls or memory lent to the host have written to a chunk of this rank, for
    /// [`World::arrays`](crate::World::arrays) and checked runs: nothing else can know.
    #[track_caller]
    pub fn mark_written(&self, chunk: ChunkId) {
        self.was_written(chunk, &self.chunks().region(chunk), "wgpu calls of the program", CallSite::here());
    }

    /// Tells that memory lent to the host is read: of a box of a chunk of this rank, ghost cells included, for checked runs.
    #[track_caller]
    pub fn mark_read(&self, chunk: ChunkId, region: &Region) {
        self.was_read(chunk, region, "memory that is lent", CallSite::here());
    }

    /// Tells that a box of a chunk of this rank was read by the host.
    pub(crate) fn was_read(&self, chunk: ChunkId, region: &Region, what: &'static str, at: CallSite) {
        if let Some(history) = self.history(chunk) {
            history.operation(&[*region], &[], What::Local(what), at);
        }
    }

    /// Tells that a box of a chunk of this rank was written.
    pub(crate) fn was_written(&self, chunk: ChunkId, region: &Region, what: &'static str, at: CallSite) {
        if let Some(history) = self.history(chunk) {
            history.operation(&[], &[*region], What::Local(what), at);
        }
    }
}
