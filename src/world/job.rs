//! [`Job`]: a transfer with the chunks that it is done with.

use std::ops::Range;
use std::rc::Rc;

use super::meeting::Meeting;
use super::parcels::{End, Parcel};
use super::transfer::{Lane, Transfer};
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Lease, Piece};
use crate::error::Result;

/// A transfer, what it is to be done with, and how.
pub(super) struct Job {
    pub transfer: Rc<Transfer>,
    /// Whether what one of its moves reads another one may write.
    pub overlap: bool,
    leases: Vec<Lease>,
    meetings: Vec<Meeting>,
}

impl Job {
    /// Pins the chunks that take part. `meetings` has one for each class of the transfer. `aliased`: operands that the plan
    /// takes for several arrays are one.
    ///
    /// # Errors
    /// A chunk cannot be had.
    pub fn new(
        transfer: Rc<Transfer>,
        operands: &[Rc<ArrayCore>],
        meetings: Vec<Meeting>,
        aliased: bool,
    ) -> Result<Self> {
        let lease = |&(array, chunk): &(usize, ChunkId)| operands[array].lease(chunk);
        let leases = transfer.chunks.iter().map(|chunk| Ok(lease(chunk)?.expect("a plan names chunks with cells")));
        let leases = leases.collect::<Result<_>>()?;
        Ok(Self { overlap: transfer.overlap || aliased, transfer, leases, meetings })
    }

    /// How the data of a lane meets what is there.
    pub fn meeting(&self, lane: &Lane) -> &Meeting {
        &self.meetings[lane.class]
    }

    /// An end of a move on the device.
    pub fn box_of(&self, end: &End) -> BoxOf<'_> {
        BoxOf { buffer: &self.leases[end.chunk], view: end.view }
    }

    /// An end of a move on the device, and its place in a payload.
    pub fn piece(&self, end: &End, payload_offset: u64) -> Piece<'_> {
        let BoxOf { buffer, view } = self.box_of(end);
        Piece { buffer, view, payload_offset }
    }

    /// The boxes of messages in one payload, and each message's range of it.
    pub fn pieces(&self, parcels: &[&Parcel]) -> (Vec<Piece<'_>>, Vec<Range<usize>>) {
        let (mut pieces, mut ranges, mut start) = (Vec::new(), Vec::new(), 0);
        for parcel in parcels {
            pieces.extend(parcel.boxes.iter().map(|packed| self.piece(&packed.end, start + packed.offset)));
            ranges.push(start as usize..(start + parcel.bytes) as usize);
            start += parcel.bytes;
        }
        (pieces, ranges)
    }
}
