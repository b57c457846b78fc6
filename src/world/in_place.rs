//! Which messages are sent from the chunks that they are read from.

use std::ops::Range;

use super::World;
use super::execute::Job;
use super::transfer::{End, Lane, Meeting, Parcel, box_of};
use crate::device::{BoxOf, ChunkBuffer};
use crate::error::Result;
use crate::trace::Span;

/// The chunks that an operation writes on this rank; `None` where no message may be sent in place.
pub(super) struct Written(Option<Vec<u64>>);

impl Written {
    /// For operations that return before their messages have been read.
    pub fn unknown() -> Self {
        Self(None)
    }

    /// Of an operation that waits for its messages.
    pub fn by(world: &World, jobs: &[Job]) -> Result<Self> {
        let lanes = || jobs.iter().flat_map(|job| job.transfer.lanes.iter().map(move |lane| (job, lane)));
        if !lanes().any(|(_, lane)| lane.sends.iter().any(|parcel| parcel.dense)) {
            return Ok(Self::unknown());
        }
        let mut chunks: Vec<u64> = Vec::new();
        for (job, lane) in lanes() {
            let operator = match &job.meeting {
                Meeting::Replace => None,
                Meeting::Combine(operator) => Some(operator),
            };
            if !world.device().host_moves(lane.element, operator)? {
                return Ok(Self::unknown());
            }
            let local = lane.local.iter().map(|(_, to)| to);
            let received = lane.receives.iter().flat_map(|parcel| parcel.parts.iter().map(|part| &part.end));
            chunks.extend(local.chain(received).map(|end: &End| box_of(&job.operands, end).buffer.id()));
        }
        chunks.sort_unstable();
        chunks.dedup();
        Ok(Self(Some(chunks)))
    }

    /// Where a message stands in a chunk, if it can be sent from there.
    pub fn spare<'a>(&self, job: &'a Job, lane: &Lane, parcel: &Parcel) -> Option<(&'a ChunkBuffer, Range<u64>)> {
        let written = self.0.as_ref().filter(|_| parcel.dense)?;
        let BoxOf { buffer, view } = box_of(&job.operands, &parcel.parts[0].end);
        let start = view.offset * lane.element.bytes as u64;
        let bytes = view.cells() * lane.element.bytes as u64;
        let whole_words = start.is_multiple_of(4) && bytes == parcel.bytes;
        (whole_words && !written.contains(&buffer.id())).then_some((buffer, start..start + bytes))
    }
}

impl World {
    /// Waits until the other ranks have read what was sent in place.
    pub(super) fn take_back(&self) -> Result<()> {
        let back =
            || Ok((self.device().take_back() || self.inner().flushed()? && self.device().take_back()).then_some(()));
        self.tracer().span(Span::Wait, || self.inner().wait_for(None, back))
    }
}
