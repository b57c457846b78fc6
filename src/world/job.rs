//! [`Job`]: a transfer with the chunks that it is done with.

use std::ops::Range;
use std::rc::Rc;

use super::meeting::Meeting;
use super::parcels::{End, Parcel};
use super::planned::Planned;
use super::transfer::{Lane, Operands, Transfer};
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Lease, Piece};
use crate::error::{CallSite, Result};
use crate::history::{Moment, What};
use crate::plan::{Move, RankPlan};
use crate::region::Region;

/// A transfer, what it is to be done with, and how.
pub(super) struct Job {
    pub transfer: Rc<Transfer>,
    /// Whether what one of its moves reads another one may write.
    pub overlap: bool,
    leases: Vec<Lease>,
    meetings: Vec<Meeting>,
    operands: Operands,
    plan: Rc<RankPlan>,
}

impl Job {
    /// Pins the chunks that take part. `meetings` has one for each class of the transfer. `aliased`: operands that the plan
    /// takes for several arrays are one.
    ///
    /// # Errors
    /// A chunk cannot be had.
    pub fn new(
        Planned { plan, transfer }: Planned,
        operands: Operands,
        meetings: Vec<Meeting>,
        aliased: bool,
    ) -> Result<Self> {
        let lease = |&(array, chunk): &(usize, ChunkId)| operands[array].lease(chunk);
        let leases = transfer.chunks.iter().map(|chunk| Ok(lease(chunk)?.expect("a plan names chunks with cells")));
        let leases = leases.collect::<Result<_>>()?;
        Ok(Self { overlap: transfer.overlap || aliased, transfer, leases, meetings, operands, plan })
    }

    /// What the moves' arrays are.
    pub fn operands(&self) -> &Operands {
        &self.operands
    }

    /// What is moved.
    pub fn plan(&self) -> &Rc<RankPlan> {
        &self.plan
    }

    /// Tells the chunks that they are written, and their ghost cells that they are from a moment.
    #[track_caller]
    pub fn note(&self, read_at: &Moment) {
        let at = CallSite::here();
        for &(operand, chunk) in &self.transfer.written {
            let Some(history) = self.operands[operand].history(chunk) else { continue };
            let what = What::Local("an exchange");
            match history.ghosts() {
                None => history.operation(&[], &[self.owned(operand, chunk)], what, at),
                Some(_) => history.operation(&[], &self.written(operand, chunk), what, at),
            }
        }
        for (operand, chunk, region) in self.fills() {
            self.operands[operand].history(chunk).iter().for_each(|history| history.filled(&region, read_at));
        }
    }

    fn owned(&self, operand: usize, chunk: ChunkId) -> Region {
        self.operands[operand].chunks().region(chunk)
    }

    fn arriving(&self) -> impl Iterator<Item = &Move> {
        self.plan.local.iter().chain(self.plan.receives.iter().flat_map(|message| &message.moves))
    }

    /// The boxes of a chunk's own cells that are written.
    fn written(&self, operand: usize, chunk: ChunkId) -> Vec<Region> {
        let owned = self.owned(operand, chunk);
        let here = self.arriving().filter(|of| (of.dst_array, of.dst_chunk) == (operand, chunk));
        here.filter_map(|of| of.dst.intersect(&owned)).collect()
    }

    /// The boxes of ghost cells that are filled, of arrays whose ghost cells are watched.
    fn fills(&self) -> Vec<(usize, ChunkId, Region)> {
        let watched = |operand: usize, chunk: ChunkId| {
            self.operands[operand].history(chunk).is_some_and(|history| history.ghosts().is_some())
        };
        if !self.operands.iter().any(|array| array.home().ledger.watches()) {
            return Vec::new();
        }
        let fills = self.arriving().filter(|of| {
            watched(of.dst_array, of.dst_chunk) && !self.owned(of.dst_array, of.dst_chunk).intersects(&of.dst)
        });
        fills.map(|of| (of.dst_array, of.dst_chunk, of.dst)).collect()
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
