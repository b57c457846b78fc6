//! Executing a transfer: gather and post, move what stays, receive and scatter, in plan order.

use std::ops::Range;
use std::rc::Rc;

use super::World;
use super::transfer::{Arrival, Lane, Operands, Parcel, STEP_BYTES, Transfer, pieces};
use crate::error::Result;
use crate::plan::Moved;
use crate::trace::Span;
use crate::transport::Tag;

/// A transfer whose sources have been read, and whose receives are still to be done.
pub(super) struct InFlight {
    job: Job,
    /// One tag a lane.
    tags: Vec<Tag>,
}

/// A transfer and what it is to be done with.
pub(super) struct Job {
    pub transfer: Rc<Transfer>,
    pub operands: Operands,
    pub arrival: Arrival,
    /// Whether no cell is both read and written, so that steps may alternate.
    pub disjoint: bool,
}

impl World {
    /// Executes a transfer to its end. Blocks until this rank's part is done.
    pub(super) fn execute(&self, job: Job) -> Result<Moved> {
        let moved = job.transfer.moved;
        let large = job.transfer.lanes.iter().any(|lane| bytes(&lane.sends) > STEP_BYTES);
        if large && job.disjoint {
            for lane in &job.transfer.lanes {
                self.execute_in_steps(&job, lane)?;
            }
            return Ok(moved);
        }
        let in_flight = self.start(job)?;
        self.finish(&in_flight)?;
        Ok(moved)
    }

    /// Reads all sources, posts all messages and does the local moves.
    pub(super) fn start(&self, job: Job) -> Result<InFlight> {
        let mut tags = Vec::with_capacity(job.transfer.lanes.len());
        for lane in &job.transfer.lanes {
            let tag = self.inner().next_sequence();
            self.post(&job, lane, 0..lane.sends.len(), tag)?;
            tags.push(tag);
        }
        for lane in &job.transfer.lanes {
            self.move_locally(&job, lane)?;
        }
        Ok(InFlight { job, tags })
    }

    /// Receives what the other ranks sent.
    pub(super) fn finish(&self, in_flight: &InFlight) -> Result<()> {
        for (lane, &tag) in in_flight.job.transfer.lanes.iter().zip(&in_flight.tags) {
            for index in 0..lane.receives.len() {
                self.receive(&in_flight.job, lane, index, tag)?;
            }
        }
        Ok(())
    }

    /// Sends and receives in turn, so that only one step's messages are staged at a time.
    fn execute_in_steps(&self, job: &Job, lane: &Lane) -> Result<()> {
        let tag = self.inner().next_sequence();
        for step in 0..lane.sends.len().max(lane.receives.len()) {
            if step < lane.sends.len() {
                self.post(job, lane, step..step + 1, tag)?;
            }
            if step < lane.receives.len() {
                self.receive(job, lane, step, tag)?;
            }
        }
        self.move_locally(job, lane)
    }

    fn post(&self, job: &Job, lane: &Lane, which: Range<usize>, tag: Tag) -> Result<()> {
        let parcels = &lane.sends[which];
        if parcels.is_empty() {
            return Ok(());
        }
        let (pieces, ranges) = pieces(&job.operands.sources, parcels);
        let staged =
            self.tracer().span(Span::Pack, || self.device().gather(lane.element.bytes, &pieces, bytes(parcels)))?;
        for (parcel, range) in parcels.iter().zip(ranges) {
            self.inner().send(parcel.peer, tag, Box::new(staged.part(range).expect("a range of this payload")))?;
        }
        Ok(())
    }

    fn move_locally(&self, job: &Job, lane: &Lane) -> Result<()> {
        if lane.local.is_empty() {
            return Ok(());
        }
        let pairs = job.operands.local_pieces(&lane.local);
        self.tracer().span(Span::Local, || match &job.arrival {
            Arrival::Replace => self.device().copy_boxes(lane.element.bytes, &pairs),
            Arrival::Combine(operator) => self.device().combine_boxes(lane.element, &pairs, operator),
        })?;
        Ok(())
    }

    fn receive(&self, job: &Job, lane: &Lane, index: usize, tag: Tag) -> Result<()> {
        let parcel = &lane.receives[index];
        let payload = self.tracer().span(Span::Wait, || self.inner().receive(parcel.peer, tag))?;
        let (pieces, _) = pieces(&job.operands.destinations, std::slice::from_ref(parcel));
        self.tracer().span(Span::Unpack, || match &job.arrival {
            Arrival::Replace => self.device().scatter(lane.element.bytes, (*payload).as_ref(), &pieces),
            Arrival::Combine(operator) => {
                self.device().combine(lane.element, (*payload).as_ref(), &pieces, operator)
            }
        })?;
        Ok(())
    }
}

fn bytes(parcels: &[Parcel]) -> u64 {
    parcels.iter().map(|parcel| parcel.bytes).sum()
}
