//! Executing a transfer: gather and post, or post from where it lies, move what stays, receive and scatter, in plan order.

use std::ops::Range;

use super::World;
use super::in_place::Lending;
use super::job::Job;
use super::meeting::Meeting;
use super::parcels::{End, Parcel};
use super::transfer::Lane;
use super::turns::{When, reads_what_is_written, when};
use crate::device::{Piece, Staged};
use crate::element::ElementInfo;
use crate::error::{Error, ErrorKind, Result, TransportError};
use crate::history::Moment;
use crate::plan::Moved;
use crate::region::Region;
use crate::trace::Activity;
use crate::transport::{Payload, Tag};

/// Jobs whose sources have been read, and whose receives are still to be done.
pub(super) struct PostedJobs(Vec<Posted>);

/// A job whose messages have been sent.
struct Posted {
    job: Job,
    /// One tag a lane.
    tags: Vec<Tag>,
    /// What has become of the local moves of each lane.
    local: Vec<LocalMoves>,
    read_at: Moment,
}

/// Local moves of a lane.
enum LocalMoves {
    Done,
    /// They are still to be done, from where their sources are.
    Left,
    /// Their sources have been read.
    Aside(Aside),
}

/// Of a message; what goes out comes before what comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Out,
    In,
}

/// The sources of a lane's local moves, and where each stands.
struct Aside {
    staged: Staged,
    offsets: Vec<u64>,
}

impl PostedJobs {
    /// What moves.
    pub fn moved(&self) -> Moved {
        moved(self.0.iter().map(|posted| &posted.job))
    }
}

impl World {
    /// Executes jobs to their end, as if one after the other but that all sources are read first. Blocks until this rank's
    /// part is done.
    pub(super) fn execute(&self, jobs: Vec<Job>) -> Result<Moved> {
        self.execute_all(jobs).map_err(|error| self.in_operation(error))
    }

    fn execute_all(&self, jobs: Vec<Job>) -> Result<Moved> {
        self.remember(&jobs);
        let moved = moved(&jobs);
        jobs.iter().for_each(|job| job.note(&self.ledger.now()));
        let (lending, read_after) = (Lending::of(self, &jobs)?, reads_what_is_written(&jobs));
        let lanes = jobs.iter().flat_map(|job| &job.transfer.lanes);
        let staged: u64 = lanes.map(|lane| bytes(&lane.sends)).sum();
        if staged > self.message_sizes().most && !read_after.contains(&true) {
            jobs.into_iter().try_for_each(|job| self.execute_bounded(job, &lending))?;
        } else {
            let when = |place: usize, job: &Job, lane: &Lane| when(job, lane, place == 0, read_after[place]);
            self.finish(&self.post_all(jobs, &lending, when)?)?;
        }
        self.take_back(&lending)?;
        Ok(moved)
    }

    /// Executes a large job with bounded staging memory, if its boxes have no order and all lengths are known.
    fn execute_bounded(&self, job: Job, lending: &Lending) -> Result<()> {
        if job.overlap || job.transfer.lanes.iter().any(|lane| lane.counted || !lane.waves.is_empty()) {
            return self.finish(&self.post_all(vec![job], lending, |_, job, lane| when(job, lane, true, false))?);
        }
        job.transfer.lanes.iter().try_for_each(|lane| self.execute_in_steps(&job, lane, lending))
    }

    /// Reads all sources, posts all messages and does the local moves, but for those that have an order: of waves among
    /// each other, of jobs, and of combining with what is combined by another operation before this one is waited for.
    pub(super) fn execute_start(&self, jobs: Vec<Job>) -> Result<PostedJobs> {
        self.remember(&jobs);
        let when = |place: usize, job: &Job, lane: &Lane| match (job.meeting(lane), when(job, lane, place == 0, false))
        {
            (Meeting::Replace, When::AtOnce) => When::AtOnce,
            _ => When::InTurnFromAside,
        };
        self.post_all(jobs, &Lending::nothing(), when).map_err(|error| self.in_operation(error))
    }

    /// Finishes what was started.
    pub(super) fn finish_started(&self, posted: &PostedJobs) -> Result<()> {
        posted.0.iter().for_each(|one| one.job.note(&one.read_at));
        self.finish(posted).map_err(|error| self.in_operation(error))
    }

    /// A failure of the device, with what this rank was doing with which arrays.
    pub(super) fn in_operation(&self, error: Error) -> Error {
        error.with_kind(|kind| match kind {
            ErrorKind::Device(error) => {
                ErrorKind::Transfer { operation: self.inner().operation_text("a transfer"), error }
            }
            kind => kind,
        })
    }

    /// Posts all messages, then sets aside what local moves read, then does those that can be done at once.
    fn post_all(
        &self,
        jobs: Vec<Job>,
        lending: &Lending,
        when: impl Fn(usize, &Job, &Lane) -> When,
    ) -> Result<PostedJobs> {
        let mut all = Vec::with_capacity(jobs.len());
        for job in jobs {
            let mut tags = Vec::with_capacity(job.transfer.lanes.len());
            for lane in &job.transfer.lanes {
                let tag = self.inner().next_sequence();
                self.post(&job, lane, 0..lane.sends.len(), tag, lending)?;
                tags.push(tag);
            }
            all.push(Posted { job, tags, local: Vec::new(), read_at: self.ledger.now() });
        }
        for (place, Posted { job, local, .. }) in all.iter_mut().enumerate() {
            for lane in &job.transfer.lanes {
                local.push(match when(place, job, lane) {
                    _ if lane.local.is_empty() => LocalMoves::Done,
                    When::AtOnce | When::InTurn => LocalMoves::Left,
                    When::InTurnFromAside => LocalMoves::Aside(self.set_aside(job, lane)?),
                });
            }
        }
        for (place, Posted { job, local, .. }) in all.iter_mut().enumerate() {
            for (lane, local) in job.transfer.lanes.iter().zip(local) {
                if matches!(local, LocalMoves::Left) && when(place, job, lane) == When::AtOnce {
                    self.move_locally(job, lane, &lane.local)?;
                    *local = LocalMoves::Done;
                }
            }
        }
        Ok(PostedJobs(all))
    }

    fn set_aside(&self, job: &Job, lane: &Lane) -> Result<Aside> {
        let (mut pieces, mut offsets, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (source, _) in &lane.local {
            pieces.push(job.piece(source, bytes));
            offsets.push(bytes);
            bytes += (source.view.cells() * lane.element.bytes as u64).next_multiple_of(4);
        }
        Ok(Aside { staged: self.pack(lane.element.bytes, &pieces, bytes)?, offsets })
    }

    /// Receives what the other ranks sent.
    fn finish(&self, posted: &PostedJobs) -> Result<()> {
        posted.0.iter().try_for_each(|one| self.finish_one(one))
    }

    fn finish_one(&self, Posted { job, tags, local, .. }: &Posted) -> Result<()> {
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
                let boxes = of_message.iter().map(|&(_, index)| &lane.receives[parcel].boxes[index]);
                let pieces: Vec<Piece> = boxes.map(|packed| job.piece(&packed.end, packed.offset)).collect();
                let payload = self.received(lane, parcel, tag, &mut payloads)?;
                self.unpack(lane.element, job.meeting(lane), (**payload).as_ref(), &pieces)?;
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
        let pieces: Vec<_> = which.map(|index| job.piece(&lane.local[index].1, offsets[index])).collect();
        self.unpack(lane.element, job.meeting(lane), staged.as_ref(), &pieces)
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

    /// Sends and receives round by round, so that only one message is staged at a time. A message is in the same round at
    /// both ends, and who sends waits only for earlier ones before: no rank waits in a circle.
    fn execute_in_steps(&self, job: &Job, lane: &Lane, lending: &Lending) -> Result<()> {
        let tag = self.inner().next_sequence();
        let sends = lane.sends.iter().enumerate().map(|(place, parcel)| (parcel.turn, Direction::Out, place));
        let receives = lane.receives.iter().enumerate().map(|(place, parcel)| (parcel.turn, Direction::In, place));
        let mut steps: Vec<_> = sends.chain(receives).collect();
        steps.sort_unstable();
        for (_, way, place) in steps {
            match way {
                Direction::Out => self.post(job, lane, place..place + 1, tag, lending)?,
                Direction::In => self.receive(job, lane, place, tag)?,
            }
        }
        self.move_locally(job, lane, &lane.local)
    }

    /// Sends messages in their order, from where they lie or packed.
    fn post(&self, job: &Job, lane: &Lane, which: Range<usize>, tag: Tag, lending: &Lending) -> Result<()> {
        let parcels = &lane.sends[which];
        let places: Vec<_> = parcels.iter().map(|parcel| lending.place(job, lane, parcel)).collect();
        let others = parcels.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(parcel, _)| parcel);
        let mut packed = self.packed(job, lane, &others.collect::<Vec<_>>())?.into_iter();
        for (parcel, place) in parcels.iter().zip(places) {
            let payload = match place {
                Some((chunk, bytes)) => self.lend(lending, parcel.peer, chunk, bytes)?,
                None => packed.next().expect("one for each"),
            };
            self.inner().send(parcel.peer, tag, Box::new(payload))?;
        }
        Ok(())
    }

    fn packed(&self, job: &Job, lane: &Lane, parcels: &[&Parcel]) -> Result<Vec<Staged>> {
        if parcels.is_empty() {
            return Ok(Vec::new());
        }
        let (pieces, ranges) = job.pieces(parcels);
        let staged = self.pack(lane.element.bytes, &pieces, parcels.iter().map(|parcel| parcel.bytes).sum())?;
        Ok(ranges.into_iter().map(|range| staged.part(range).expect("a range of this payload")).collect())
    }

    /// Boxes of chunks as a payload.
    pub(super) fn pack(&self, element_bytes: usize, pieces: &[Piece], bytes: u64) -> Result<Staged> {
        Ok(self.tracer().span(Activity::Pack, || self.device().gather(element_bytes, pieces, bytes))?)
    }

    fn move_locally(&self, job: &Job, lane: &Lane, local: &[(End, End)]) -> Result<()> {
        if local.is_empty() {
            return Ok(());
        }
        let pairs: Vec<_> = local.iter().map(|(from, to)| (job.box_of(from), job.box_of(to))).collect();
        self.tracer().span(Activity::Local, || match job.meeting(lane) {
            Meeting::Replace => self.device().copy_boxes(lane.element.bytes, &pairs),
            Meeting::Combine(operator) => self.device().combine_boxes(lane.element, &pairs, operator),
        })?;
        Ok(())
    }

    fn receive(&self, job: &Job, lane: &Lane, index: usize, tag: Tag) -> Result<()> {
        let parcel = &lane.receives[index];
        if lane.counted {
            return self.receive_counted(job, lane, parcel, tag);
        }
        let payload = self.arrived(parcel, tag)?;
        let (pieces, _) = job.pieces(&[parcel]);
        self.unpack(lane.element, job.meeting(lane), (*payload).as_ref(), &pieces)
    }

    /// Receives a message that is as long as its sender says: in full pieces and one that is not, or until there is no room.
    fn receive_counted(&self, job: &Job, lane: &Lane, parcel: &Parcel, tag: Tag) -> Result<()> {
        let (size, full, whole) = (lane.element.bytes as u64, lane.full(), &parcel.boxes[0].end);
        let mut at = 0;
        loop {
            let payload = self.tracer().span(Activity::Wait, || self.inner().receive(parcel.peer, tag))?;
            let payload = (*payload).as_ref();
            let found = payload.len() as u64;
            if found > full.min(parcel.bytes - at) || !found.is_multiple_of(size) {
                return Err(self.wrong_message(parcel.peer, parcel.bytes, at + found).into());
            }
            let cells = Region { start: [(at / size) as i64].into(), end: [((at + found) / size) as i64].into() };
            let end = End { view: whole.view.part(&cells), ..*whole };
            self.unpack(lane.element, job.meeting(lane), payload, &[job.piece(&end, 0)])?;
            at += found;
            if found < full || at == parcel.bytes {
                return Ok(());
            }
        }
    }

    /// Waits for a message, and looks whether it is as long as the plan says.
    fn arrived(&self, parcel: &Parcel, tag: Tag) -> Result<Payload> {
        let payload = self.tracer().span(Activity::Wait, || self.inner().receive(parcel.peer, tag))?;
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

    /// A payload into boxes of chunks.
    pub(super) fn unpack(
        &self,
        element: &ElementInfo,
        meeting: &Meeting,
        payload: &[u8],
        pieces: &[Piece],
    ) -> Result<()> {
        self.tracer().span(Activity::Unpack, || match meeting {
            Meeting::Replace => self.device().scatter(element.bytes, payload, pieces),
            Meeting::Combine(operator) => self.device().combine(element, payload, pieces, operator),
        })?;
        Ok(())
    }
}

fn moved<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Moved {
    let mut all = Moved::default();
    jobs.into_iter().for_each(|job| all += job.transfer.moved);
    all
}

fn bytes(parcels: &[Parcel]) -> u64 {
    parcels.iter().map(|parcel| parcel.bytes).sum()
}
