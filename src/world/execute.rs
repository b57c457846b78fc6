//! Executing a transfer: gather and post, or post from where it lies, move what stays, receive and scatter, in plan order.

use std::ops::Range;
use std::rc::Rc;

use super::World;
use super::in_place::Lending;
use super::transfer::{End, Lane, Meeting, Operands, Parcel, STEP_BYTES, Transfer, box_of, piece, pieces};
use crate::device::{Piece, Staged};
use crate::error::{Error, Result, TransportError};
use crate::plan::Moved;
use crate::trace::Span;
use crate::transport::{Payload, Tag};

/// A transfer whose sources have been read, and whose receives are still to be done.
pub(super) struct InFlight {
    job: Job,
    /// One tag a lane.
    tags: Vec<Tag>,
    /// What has become of the local moves of each lane.
    local: Vec<LocalMoves>,
}

/// Local moves of a lane.
enum LocalMoves {
    Done,
    /// They are still to be done, from where their sources are.
    Left,
    /// Their sources have been read.
    Aside(Aside),
}

/// When local moves are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// While messages are under way.
    AtOnce,
    /// In their turn among what is received.
    InTurn,
    /// The same, but their sources are read at once.
    InTurnFromAside,
}

/// The sources of a lane's local moves, and where each stands.
struct Aside {
    staged: Staged,
    offsets: Vec<u64>,
}

/// A transfer and what it is to be done with.
pub(super) struct Job {
    pub transfer: Rc<Transfer>,
    pub operands: Operands,
    pub meeting: Meeting,
}

impl World {
    /// Executes transfers to their end, of which none reads what another one writes, as if one after the other. Blocks
    /// until this rank's part is done.
    pub(super) fn execute(&self, jobs: Vec<Job>) -> Result<Moved> {
        self.execute_all(jobs).map_err(|error| self.in_operation(error))
    }

    fn execute_all(&self, jobs: Vec<Job>) -> Result<Moved> {
        let mut moved = Moved::default();
        jobs.iter().for_each(|job| moved += job.transfer.moved);
        let lending = Lending::of(self, &jobs)?;
        let large = |job: &Job| job.transfer.lanes.iter().any(|lane| bytes(&lane.sends) > STEP_BYTES);
        if jobs.iter().any(large) {
            for job in jobs {
                self.execute_bounded(job, &lending)?;
            }
        } else {
            let post = |(place, job)| self.post_all(job, &lending, |job, lane| when(job, lane, place == 0));
            let in_flight = jobs.into_iter().enumerate().map(post).collect::<Result<Vec<_>>>()?;
            in_flight.iter().try_for_each(|one| self.finish(one))?;
        }
        self.take_back(&lending)?;
        Ok(moved)
    }

    /// Executes a large transfer with bounded staging memory, if its boxes have no order.
    fn execute_bounded(&self, job: Job, lending: &Lending) -> Result<()> {
        if job.transfer.overlap || job.transfer.lanes.iter().any(|lane| !lane.waves.is_empty()) {
            return self.finish(&self.post_all(job, lending, |job, lane| when(job, lane, true))?);
        }
        job.transfer.lanes.iter().try_for_each(|lane| self.execute_in_steps(&job, lane, lending))
    }

    /// Reads all sources, posts all messages and does the local moves, but for those that have an order: of waves among
    /// each other, and of combining with what is combined by another operation before this one is waited for.
    pub(super) fn start(&self, job: Job) -> Result<InFlight> {
        let combines = matches!(job.meeting, Meeting::Combine(_));
        let in_flight = self.post_all(job, &Lending::nothing(), |_, lane| match combines || !lane.waves.is_empty() {
            true => When::InTurnFromAside,
            false => When::AtOnce,
        });
        in_flight.map_err(|error| self.in_operation(error))
    }

    /// Finishes what was started.
    pub(super) fn finish_started(&self, in_flight: &InFlight) -> Result<()> {
        self.finish(in_flight).map_err(|error| self.in_operation(error))
    }

    /// A failure of the device, with what this rank was doing with which arrays.
    fn in_operation(&self, error: Error) -> Error {
        match error {
            Error::Device(error) => Error::Transfer { operation: self.inner().operation_text("a transfer"), error },
            error => error,
        }
    }

    /// Posts all messages, then does the local moves or not yet.
    fn post_all(&self, job: Job, lending: &Lending, when: impl Fn(&Job, &Lane) -> When) -> Result<InFlight> {
        let mut tags = Vec::with_capacity(job.transfer.lanes.len());
        for lane in &job.transfer.lanes {
            let tag = self.inner().next_sequence();
            self.post(&job, lane, 0..lane.sends.len(), tag, lending)?;
            tags.push(tag);
        }
        let mut local = Vec::with_capacity(tags.len());
        for lane in &job.transfer.lanes {
            local.push(match when(&job, lane) {
                _ if lane.local.is_empty() => LocalMoves::Done,
                When::AtOnce => {
                    self.move_locally(&job, lane, &lane.local)?;
                    LocalMoves::Done
                }
                When::InTurn => LocalMoves::Left,
                When::InTurnFromAside => LocalMoves::Aside(self.set_aside(&job, lane)?),
            });
        }
        Ok(InFlight { job, tags, local })
    }

    fn set_aside(&self, job: &Job, lane: &Lane) -> Result<Aside> {
        let (mut pieces, mut offsets, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (source, _) in &lane.local {
            pieces.push(piece(&job.operands, source, bytes));
            offsets.push(bytes);
            bytes += (source.view.cells() * lane.element.bytes as u64).next_multiple_of(4);
        }
        let staged = self.tracer().span(Span::Pack, || self.device().gather(lane.element.bytes, &pieces, bytes))?;
        Ok(Aside { staged, offsets })
    }

    /// Receives what the other ranks sent.
    fn finish(&self, in_flight: &InFlight) -> Result<()> {
        let InFlight { job, tags, local } = in_flight;
        for ((lane, &tag), local) in job.transfer.lanes.iter().zip(tags).zip(local) {
            if !lane.waves.is_empty() {
                self.finish_in_waves(job, lane, tag, local)?;
                continue;
            }
            match local {
                LocalMoves::Done => {}
                LocalMoves::Left => self.move_locally(job, lane, &lane.local)?,
                LocalMoves::Aside(aside) => self.move_from(job, lane, aside, 0..lane.local.len())?,
            }
            for index in 0..lane.receives.len() {
                self.receive(job, lane, index, tag)?;
            }
        }
        Ok(())
    }

    /// Applies local moves and received boxes wave after wave, as several of them meet in one cell.
    fn finish_in_waves(&self, job: &Job, lane: &Lane, tag: Tag, local: &LocalMoves) -> Result<()> {
        let mut payloads: Vec<Option<Payload>> = lane.receives.iter().map(|_| None).collect();
        for wave in &lane.waves {
            if let LocalMoves::Aside(aside) = local {
                self.move_from(job, lane, aside, wave.local.iter().copied())?;
            } else {
                let local: Vec<(End, End)> = wave.local.iter().map(|&index| lane.local[index].clone()).collect();
                self.move_locally(job, lane, &local)?;
            }
            for of_message in wave.received.chunk_by(|a, b| a.0 == b.0) {
                let parcel = of_message[0].0;
                let boxes = of_message.iter().map(|&(_, index)| &lane.receives[parcel].parts[index]);
                let pieces: Vec<Piece> = boxes.map(|part| piece(&job.operands, &part.end, part.offset)).collect();
                let payload = self.received(lane, parcel, tag, &mut payloads)?;
                self.unpack(job, lane, (**payload).as_ref(), &pieces)?;
            }
        }
        Ok(())
    }

    /// Local moves whose sources have been set aside.
    fn move_from(
        &self,
        job: &Job,
        lane: &Lane,
        Aside { staged, offsets }: &Aside,
        which: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let pieces: Vec<_> = which.map(|index| piece(&job.operands, &lane.local[index].1, offsets[index])).collect();
        self.unpack(job, lane, staged.as_ref(), &pieces)
    }

    /// A message that may have come already. Those of one rank come in their order.
    fn received<'a>(
        &self,
        lane: &Lane,
        parcel: usize,
        tag: Tag,
        payloads: &'a mut [Option<Payload>],
    ) -> Result<&'a Payload> {
        let peer = lane.receives[parcel].peer;
        for (earlier, payload) in lane.receives[..=parcel].iter().zip(payloads.iter_mut()) {
            if earlier.peer == peer && payload.is_none() {
                *payload = Some(self.arrived(earlier, tag)?);
            }
        }
        Ok(payloads[parcel].as_ref().expect("just received"))
    }

    /// Sends and receives in turn, so that only one step's messages are staged at a time.
    fn execute_in_steps(&self, job: &Job, lane: &Lane, lending: &Lending) -> Result<()> {
        let tag = self.inner().next_sequence();
        for step in 0..lane.sends.len().max(lane.receives.len()) {
            if step < lane.sends.len() {
                self.post(job, lane, step..step + 1, tag, lending)?;
            }
            if step < lane.receives.len() {
                self.receive(job, lane, step, tag)?;
            }
        }
        self.move_locally(job, lane, &lane.local)
    }

    /// Sends messages in their order, from where they lie or packed.
    fn post(&self, job: &Job, lane: &Lane, which: Range<usize>, tag: Tag, lending: &Lending) -> Result<()> {
        let parcels = &lane.sends[which];
        let places: Vec<_> = parcels.iter().map(|parcel| lending.place(job, lane, parcel)).collect();
        let others = parcels.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(parcel, _)| parcel);
        let mut packed = self.pack(job, lane, &others.collect::<Vec<_>>())?.into_iter();
        for (parcel, place) in parcels.iter().zip(places) {
            let payload = match place {
                Some((chunk, bytes)) => self.lend(lending, parcel.peer, chunk, bytes)?,
                None => packed.next().expect("one for each"),
            };
            self.inner().send(parcel.peer, tag, Box::new(payload))?;
        }
        Ok(())
    }

    fn pack(&self, job: &Job, lane: &Lane, parcels: &[&Parcel]) -> Result<Vec<Staged>> {
        if parcels.is_empty() {
            return Ok(Vec::new());
        }
        let (pieces, ranges) = pieces(&job.operands, parcels);
        let bytes = parcels.iter().map(|parcel| parcel.bytes).sum();
        let staged = self.tracer().span(Span::Pack, || self.device().gather(lane.element.bytes, &pieces, bytes))?;
        Ok(ranges.into_iter().map(|range| staged.part(range).expect("a range of this payload")).collect())
    }

    fn move_locally(&self, job: &Job, lane: &Lane, local: &[(End, End)]) -> Result<()> {
        if local.is_empty() {
            return Ok(());
        }
        let pair = |(from, to): &(End, End)| (box_of(&job.operands, from), box_of(&job.operands, to));
        let pairs: Vec<_> = local.iter().map(pair).collect();
        self.tracer().span(Span::Local, || match &job.meeting {
            Meeting::Replace => self.device().copy_boxes(lane.element.bytes, &pairs),
            Meeting::Combine(operator) => self.device().combine_boxes(lane.element, &pairs, operator),
        })?;
        Ok(())
    }

    fn receive(&self, job: &Job, lane: &Lane, index: usize, tag: Tag) -> Result<()> {
        let parcel = &lane.receives[index];
        let payload = self.arrived(parcel, tag)?;
        let (pieces, _) = pieces(&job.operands, &[parcel]);
        self.unpack(job, lane, (*payload).as_ref(), &pieces)
    }

    /// Waits for a message, and looks whether it is as long as the plan says.
    fn arrived(&self, parcel: &Parcel, tag: Tag) -> Result<Payload> {
        let payload = self.tracer().span(Span::Wait, || self.inner().receive(parcel.peer, tag))?;
        match (*payload).as_ref().len() as u64 {
            found if found == parcel.bytes => Ok(payload),
            found => Err(self.wrong_message(parcel.peer, parcel.bytes, found).into()),
        }
    }

    /// The error of a message whose sender had something else in mind.
    pub(super) fn wrong_message(&self, from: usize, expected: u64, found: u64) -> TransportError {
        let operation = self.inner().operation_text("a transfer");
        TransportError::Message { operation, rank: from, expected, found }
    }

    fn unpack(&self, job: &Job, lane: &Lane, payload: &[u8], pieces: &[Piece]) -> Result<()> {
        self.tracer().span(Span::Unpack, || match &job.meeting {
            Meeting::Replace => self.device().scatter(lane.element.bytes, payload, pieces),
            Meeting::Combine(operator) => self.device().combine(lane.element, payload, pieces, operator),
        })?;
        Ok(())
    }
}

/// When the local moves of an operation that blocks are done. What has no order among itself can be done at once in the
/// first transfer; waves read their sources as they come, unless an earlier wave may have written them.
fn when(job: &Job, lane: &Lane, first: bool) -> When {
    match lane.waves.is_empty() {
        true if first => When::AtOnce,
        false if job.transfer.overlap => When::InTurnFromAside,
        _ => When::InTurn,
    }
}

fn bytes(parcels: &[Parcel]) -> u64 {
    parcels.iter().map(|parcel| parcel.bytes).sum()
}
