//! Which messages are sent from the chunks that they are read from.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::World;
use super::job::Job;
use super::parcels::Parcel;
use super::transfer::Lane;
use crate::device::{BoxOf, ChunkBuffer, Staged};
use crate::error::Result;
use crate::trace::Activity;

/// What an operation may lend to its messages, and to whom it has.
pub(super) struct Lending {
    /// The chunks that the operation writes on this rank, sorted; `None` where nothing may be lent.
    written: Option<Vec<u64>>,
    peers: RefCell<BTreeSet<usize>>,
}

impl Lending {
    /// For operations that return before their messages have been read.
    pub fn nothing() -> Self {
        Self { written: None, peers: RefCell::default() }
    }

    /// For an operation that waits for its messages.
    pub fn of(world: &World, jobs: &[Job]) -> Result<Self> {
        let lanes = || jobs.iter().flat_map(|job| job.transfer.lanes.iter().map(move |lane| (job, lane)));
        if !lanes().any(|(_, lane)| lane.sends.iter().any(|parcel| parcel.dense)) {
            return Ok(Self::nothing());
        }
        let mut written: Vec<u64> = Vec::new();
        for (job, lane) in lanes() {
            if !world.device().host_moves(lane.element, job.meeting(lane).operator())? {
                return Ok(Self::nothing());
            }
            written.extend(lane.destinations().map(|end| job.box_of(end).buffer.id()));
        }
        written.sort_unstable();
        written.dedup();
        Ok(Self { written: Some(written), ..Self::nothing() })
    }

    /// Where a message lies in a chunk, if it can be sent from there.
    pub fn place<'a>(&self, job: &'a Job, lane: &Lane, parcel: &Parcel) -> Option<(&'a ChunkBuffer, Range<u64>)> {
        let written = self.written.as_ref().filter(|_| parcel.dense)?;
        let BoxOf { buffer, view } = job.box_of(&parcel.boxes[0].end);
        let start = view.offset * lane.element.bytes as u64;
        let bytes = view.cells() * lane.element.bytes as u64;
        let whole_words = start.is_multiple_of(4) && bytes == parcel.bytes;
        (whole_words && written.binary_search(&buffer.id()).is_err()).then_some((buffer, start..start + bytes))
    }
}

impl World {
    /// A message to a rank that is the chunk's own memory.
    pub(super) fn lend(
        &self,
        lending: &Lending,
        peer: usize,
        chunk: &ChunkBuffer,
        bytes: Range<u64>,
    ) -> Result<Staged> {
        lending.peers.borrow_mut().insert(peer);
        Ok(self.tracer().span(Activity::Pack, || self.device().in_place(chunk, bytes))?)
    }

    /// Waits until the other ranks have read what was lent to them.
    pub(super) fn take_back(&self, lending: &Lending) -> Result<()> {
        let peers = lending.peers.borrow();
        if peers.is_empty() {
            return Ok(());
        }
        let only = peers.first().copied().filter(|_| peers.len() == 1);
        let back =
            || Ok((self.device().take_back() || self.inner().flushed()? && self.device().take_back()).then_some(()));
        self.tracer().span(Activity::Wait, || self.inner().wait_for(only, back))
    }
}
