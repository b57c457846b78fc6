//! [`InPlaceSends`]: messages that are sent from chunk memory without packing.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::job::Job;
use super::message_part::MessagePart;
use super::transfer::TypedTransfer;
use super::{CollectiveWorld, World};
use crate::device::{BufferBox, ChunkBuffer, StagedBytes};
use crate::error::Result;
use crate::trace::Activity;

/// Chunks that messages are sent from in place, and the receivers of such messages.
pub(super) struct InPlaceSends {
    /// Ids of the chunks that the operation writes on this rank, in ascending order. `None`
    /// disables in-place sends.
    written: Option<Vec<u64>>,
    peers: RefCell<BTreeSet<usize>>,
}

impl InPlaceSends {
    /// No in-place sends, for operations that return before the receivers have read their messages.
    pub(super) fn none() -> Self {
        Self { written: None, peers: RefCell::default() }
    }

    /// In-place sends of a blocking operation.
    pub(super) fn for_jobs(world: &World, jobs: &[Job]) -> Result<Self> {
        let typed_transfers =
            || jobs.iter().flat_map(|job| job.transfer.typed_transfers.iter().map(move |typed| (job, typed)));
        if !typed_transfers().any(|(_, typed)| typed.sends.iter().any(|part| part.is_sent_in_place)) {
            return Ok(Self::none());
        }
        let mut written: Vec<u64> = Vec::new();
        for (job, typed) in typed_transfers() {
            if !world.device().is_host_transfer(typed.element, job.merge_rule(typed).operator())? {
                return Ok(Self::none());
            }
            written.extend(typed.destinations().map(|chunk_box| job.buffer_box(chunk_box).buffer.id()));
        }
        written.sort_unstable();
        written.dedup();
        Ok(Self { written: Some(written), ..Self::none() })
    }

    /// Chunk and byte range of a message that can be sent in place; `None` for a packed message.
    pub(super) fn chunk_range<'a>(
        &self,
        job: &'a Job,
        typed: &TypedTransfer,
        part: &MessagePart,
    ) -> Option<(&'a ChunkBuffer, Range<u64>)> {
        let written = self.written.as_ref().filter(|_| part.is_sent_in_place)?;
        let BufferBox { buffer, view } = job.buffer_box(&part.boxes[0].chunk_box);
        let start = view.offset * typed.element.bytes as u64;
        let bytes = view.cells() * typed.element.bytes as u64;
        let whole_words = start.is_multiple_of(4) && bytes == part.bytes;
        (whole_words && written.binary_search(&buffer.id()).is_err()).then_some((buffer, start..start + bytes))
    }
}

impl World {
    /// Stages a message to `peer` that consists of chunk memory.
    pub(super) fn stage_in_place(
        &self,
        in_place: &InPlaceSends,
        peer: usize,
        chunk: &ChunkBuffer,
        bytes: Range<u64>,
    ) -> Result<StagedBytes> {
        in_place.peers.borrow_mut().insert(peer);
        Ok(self.tracer().span(Activity::Pack, || self.device().in_place_payload(chunk, bytes))?)
    }

    /// Waits until the receivers have read the messages that were sent in place.
    pub(super) fn wait_for_in_place_sends(&self, in_place: &InPlaceSends) -> Result<()> {
        let peers = in_place.peers.borrow();
        if peers.is_empty() {
            return Ok(());
        }
        let only = peers.first().copied().filter(|_| peers.len() == 1);
        let are_read = || {
            Ok((self.device().reclaim_chunks() || self.inner_group().flushed()? && self.device().reclaim_chunks())
                .then_some(()))
        };
        self.tracer().span(Activity::Wait, || self.inner_group().wait_for(only, are_read))
    }
}
