//! Execution of jobs: pack and send messages, move cells within the rank, receive and unpack.

use std::ops::Range;

use super::in_place_sends::InPlaceSends;
use super::job::Job;
use super::local_order::{LocalOrder, local_order, reads_written_cells};
use super::merge_rule::MergeRule;
use super::message_part::{ChunkBox, MessagePart};
use super::transfer::TypedTransfer;
use super::{CollectiveWorld, World};
use crate::device::{PackedBox, StagedBytes};
use crate::element::ElementInfo;
use crate::error::{Error, ErrorKind, Result, TransportError};
use crate::history::Moment;
use crate::plan::Moved;
use crate::region::Region;
use crate::trace::Activity;
use crate::transport::{Payload, Tag};

/// Jobs with all sources read and all messages sent. Their receives are pending.
pub(super) struct PostedJobs(Vec<PostedJob>);

struct PostedJob {
    job: Job,
    /// One message tag per typed transfer of the job.
    tags: Vec<Tag>,
    /// State of the local moves, per typed transfer.
    local: Vec<LocalMoves>,
    read_at: Moment,
}

enum LocalMoves {
    Done,
    /// The sources are still in their chunks.
    Pending,
    /// The sources are in staging memory.
    Staged(StagedSources),
}

/// Direction of a message. Sends precede receives in the derived order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Send,
    Receive,
}

/// Copies of the sources of local moves, in staging memory.
struct StagedSources {
    staged: StagedBytes,
    /// Byte offset of each source.
    offsets: Vec<u64>,
}

impl PostedJobs {
    pub(super) fn moved(&self) -> Moved {
        moved(self.0.iter().map(|posted| &posted.job))
    }
}

impl World {
    /// Executes jobs and returns when the part of this rank is complete.
    ///
    /// All sources are read first. The writes then have the effect of jobs that run one after the
    /// other.
    pub(super) fn execute(&self, jobs: Vec<Job>) -> Result<Moved> {
        self.execute_all(jobs).map_err(|error| self.in_operation(error))
    }

    fn execute_all(&self, jobs: Vec<Job>) -> Result<Moved> {
        self.record_moves(&jobs);
        let moved = moved(&jobs);
        jobs.iter().for_each(|job| job.record_writes(&self.ledger.now()));
        let (in_place, reads_written) = (InPlaceSends::for_jobs(self, &jobs)?, reads_written_cells(&jobs));
        let typed_transfers = jobs.iter().flat_map(|job| &job.transfer.typed_transfers);
        let sent_bytes: u64 = typed_transfers.map(|typed| total_bytes(&typed.sends)).sum();
        if sent_bytes > self.message_sizes().max_bytes && !reads_written.contains(&true) {
            jobs.into_iter().try_for_each(|job| self.execute_with_bounded_memory(job, &in_place))?;
        } else {
            let order = |index: usize, job: &Job, typed: &TypedTransfer| {
                local_order(job, typed, index == 0, reads_written[index])
            };
            self.finish(&self.post_all(jobs, &in_place, order)?)?;
        }
        self.wait_for_in_place_sends(&in_place)?;
        Ok(moved)
    }

    /// Executes a large job with bounded staging memory, if its boxes are unordered and all lengths
    /// are known.
    fn execute_with_bounded_memory(&self, job: Job, in_place: &InPlaceSends) -> Result<()> {
        if job.may_overlap
            || job.transfer.typed_transfers.iter().any(|typed| typed.has_variable_length || !typed.waves.is_empty())
        {
            return self
                .finish(&self.post_all(vec![job], in_place, |_, job, typed| local_order(job, typed, true, false))?);
        }
        job.transfer.typed_transfers.iter().try_for_each(|typed| self.execute_message_by_message(&job, typed, in_place))
    }

    /// Reads all sources, sends all messages, and does the unordered local moves.
    ///
    /// [`finish_started`](Self::finish_started) does the ordered local moves: moves in waves, moves
    /// of later jobs, and moves with an operator (another operation may combine into the same cells
    /// before the caller waits for this one).
    pub(super) fn execute_start(&self, jobs: Vec<Job>) -> Result<PostedJobs> {
        self.record_moves(&jobs);
        let order = |index: usize, job: &Job, typed: &TypedTransfer| match (
            job.merge_rule(typed),
            local_order(job, typed, index == 0, false),
        ) {
            (MergeRule::Replace, LocalOrder::Immediate) => LocalOrder::Immediate,
            _ => LocalOrder::InOrderFromStaged,
        };
        self.post_all(jobs, &InPlaceSends::none(), order).map_err(|error| self.in_operation(error))
    }

    /// Receives the messages of started jobs and does the remaining local moves.
    pub(super) fn finish_started(&self, posted: &PostedJobs) -> Result<()> {
        posted.0.iter().for_each(|posted| posted.job.record_writes(&posted.read_at));
        self.finish(posted).map_err(|error| self.in_operation(error))
    }

    /// Adds the name of the current operation to a device error.
    pub(super) fn in_operation(&self, error: Error) -> Error {
        error.with_kind(|kind| match kind {
            ErrorKind::Device(error) => {
                ErrorKind::Transfer { operation: self.inner_group().operation_text("a transfer"), error }
            }
            kind => kind,
        })
    }

    /// Sends all messages, stages the sources of ordered local moves, and does the immediate ones.
    fn post_all(
        &self,
        jobs: Vec<Job>,
        in_place: &InPlaceSends,
        order: impl Fn(usize, &Job, &TypedTransfer) -> LocalOrder,
    ) -> Result<PostedJobs> {
        let mut all = Vec::with_capacity(jobs.len());
        for job in jobs {
            let mut tags = Vec::with_capacity(job.transfer.typed_transfers.len());
            for typed in &job.transfer.typed_transfers {
                let tag = self.inner_group().next_sequence();
                self.post(&job, typed, 0..typed.sends.len(), tag, in_place)?;
                tags.push(tag);
            }
            all.push(PostedJob { job, tags, local: Vec::new(), read_at: self.ledger.now() });
        }
        for (index, PostedJob { job, local, .. }) in all.iter_mut().enumerate() {
            for typed in &job.transfer.typed_transfers {
                local.push(match order(index, job, typed) {
                    _ if typed.local.is_empty() => LocalMoves::Done,
                    LocalOrder::Immediate | LocalOrder::InOrder => LocalMoves::Pending,
                    LocalOrder::InOrderFromStaged => LocalMoves::Staged(self.stage_sources(job, typed)?),
                });
            }
        }
        for (index, PostedJob { job, local, .. }) in all.iter_mut().enumerate() {
            for (typed, local) in job.transfer.typed_transfers.iter().zip(local) {
                if matches!(local, LocalMoves::Pending) && order(index, job, typed) == LocalOrder::Immediate {
                    self.move_locally(job, typed, &typed.local)?;
                    *local = LocalMoves::Done;
                }
            }
        }
        Ok(PostedJobs(all))
    }

    fn stage_sources(&self, job: &Job, typed: &TypedTransfer) -> Result<StagedSources> {
        let (mut pieces, mut offsets, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (source, _) in &typed.local {
            pieces.push(job.packed_box(source, bytes));
            offsets.push(bytes);
            bytes += (source.view.cells() * typed.element.bytes as u64).next_multiple_of(4);
        }
        Ok(StagedSources { staged: self.pack(typed.element.bytes, &pieces, bytes)?, offsets })
    }

    /// Receives the messages of all jobs and does the remaining local moves.
    fn finish(&self, posted: &PostedJobs) -> Result<()> {
        posted.0.iter().try_for_each(|job| self.finish_job(job))
    }

    fn finish_job(&self, PostedJob { job, tags, local, .. }: &PostedJob) -> Result<()> {
        for ((typed, &tag), local) in job.transfer.typed_transfers.iter().zip(tags).zip(local) {
            if !typed.waves.is_empty() {
                self.finish_waves(job, typed, tag, local)?;
                continue;
            }
            match local {
                LocalMoves::Done => {}
                LocalMoves::Pending => self.move_locally(job, typed, &typed.local)?,
                LocalMoves::Staged(sources) => self.unpack_staged(job, typed, sources, 0..typed.local.len())?,
            }
            for index in 0..typed.receives.len() {
                self.receive(job, typed, index, tag)?;
            }
        }
        Ok(())
    }

    /// Applies local moves and received boxes wave by wave, because several of them write the same
    /// cells.
    fn finish_waves(&self, job: &Job, typed: &TypedTransfer, tag: Tag, local: &LocalMoves) -> Result<()> {
        let mut payloads: Vec<Option<Payload>> = typed.receives.iter().map(|_| None).collect();
        for wave in &typed.waves {
            if let LocalMoves::Staged(sources) = local {
                self.unpack_staged(job, typed, sources, wave.local.iter().copied())?;
            } else {
                let local: Vec<(ChunkBox, ChunkBox)> =
                    wave.local.iter().map(|&index| typed.local[index].clone()).collect();
                self.move_locally(job, typed, &local)?;
            }
            for boxes_of_part in wave.received.chunk_by(|a, b| a.0 == b.0) {
                let part = boxes_of_part[0].0;
                let boxes = boxes_of_part.iter().map(|&(_, index)| &typed.receives[part].boxes[index]);
                let pieces: Vec<PackedBox<'_>> =
                    boxes.map(|packed| job.packed_box(&packed.chunk_box, packed.offset)).collect();
                let payload = self.received_part(typed, part, tag, &mut payloads)?;
                self.unpack(typed.element, job.merge_rule(typed), (**payload).as_ref(), &pieces)?;
            }
        }
        Ok(())
    }

    fn unpack_staged(
        &self,
        job: &Job,
        typed: &TypedTransfer,
        StagedSources { staged, offsets }: &StagedSources,
        indices: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let pieces: Vec<_> = indices.map(|index| job.packed_box(&typed.local[index].1, offsets[index])).collect();
        self.unpack(typed.element, job.merge_rule(typed), staged.as_ref(), &pieces)
    }

    /// Returns a message part, received already or now. Messages of a rank arrive in order.
    fn received_part<'a>(
        &self,
        typed: &TypedTransfer,
        part: usize,
        tag: Tag,
        payloads: &'a mut [Option<Payload>],
    ) -> Result<&'a Payload> {
        let peer = typed.receives[part].peer;
        for (earlier, payload) in typed.receives[..=part].iter().zip(payloads.iter_mut()) {
            if earlier.peer == peer && payload.is_none() {
                *payload = Some(self.receive_part(earlier, tag)?);
            }
        }
        Ok(payloads[part].as_ref().expect("just received"))
    }

    /// Sends and receives message by message, with one message in staging memory at a time.
    ///
    /// A message has the same round on both ranks, and a send waits only for earlier messages, so
    /// that no cycle of waiting ranks arises.
    fn execute_message_by_message(&self, job: &Job, typed: &TypedTransfer, in_place: &InPlaceSends) -> Result<()> {
        let tag = self.inner_group().next_sequence();
        let sends = typed.sends.iter().enumerate().map(|(index, part)| (part.send_order, Direction::Send, index));
        let receives =
            typed.receives.iter().enumerate().map(|(index, part)| (part.send_order, Direction::Receive, index));
        let mut steps: Vec<_> = sends.chain(receives).collect();
        steps.sort_unstable();
        for (_, direction, index) in steps {
            match direction {
                Direction::Send => self.post(job, typed, index..index + 1, tag, in_place)?,
                Direction::Receive => self.receive(job, typed, index, tag)?,
            }
        }
        self.move_locally(job, typed, &typed.local)
    }

    fn post(
        &self,
        job: &Job,
        typed: &TypedTransfer,
        range: Range<usize>,
        tag: Tag,
        in_place: &InPlaceSends,
    ) -> Result<()> {
        let parts = &typed.sends[range];
        let chunk_ranges: Vec<_> = parts.iter().map(|part| in_place.chunk_range(job, typed, part)).collect();
        let to_pack = parts.iter().zip(&chunk_ranges).filter(|(_, range)| range.is_none()).map(|(part, _)| part);
        let mut packed = self.pack_parts(job, typed, &to_pack.collect::<Vec<_>>())?.into_iter();
        for (part, range) in parts.iter().zip(chunk_ranges) {
            let payload = match range {
                Some((chunk, bytes)) => self.stage_in_place(in_place, part.peer, chunk, bytes)?,
                None => packed.next().expect("a payload per part to pack"),
            };
            self.inner_group().send(part.peer, tag, Box::new(payload))?;
        }
        Ok(())
    }

    fn pack_parts(&self, job: &Job, typed: &TypedTransfer, parts: &[&MessagePart]) -> Result<Vec<StagedBytes>> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let (pieces, ranges) = job.packed_boxes(parts);
        let staged = self.pack(typed.element.bytes, &pieces, parts.iter().map(|part| part.bytes).sum())?;
        Ok(ranges.into_iter().map(|range| staged.part(range).expect("a range of this payload")).collect())
    }

    pub(super) fn pack(&self, element_bytes: usize, pieces: &[PackedBox<'_>], bytes: u64) -> Result<StagedBytes> {
        Ok(self.tracer().span(Activity::Pack, || self.device().gather(element_bytes, pieces, bytes))?)
    }

    fn move_locally(&self, job: &Job, typed: &TypedTransfer, local: &[(ChunkBox, ChunkBox)]) -> Result<()> {
        if local.is_empty() {
            return Ok(());
        }
        let pairs: Vec<_> = local.iter().map(|(from, to)| (job.buffer_box(from), job.buffer_box(to))).collect();
        self.tracer().span(Activity::Local, || match job.merge_rule(typed) {
            MergeRule::Replace => self.device().copy_boxes(typed.element.bytes, &pairs),
            MergeRule::Combine(operator) => self.device().combine_boxes(typed.element, &pairs, operator),
        })?;
        Ok(())
    }

    fn receive(&self, job: &Job, typed: &TypedTransfer, index: usize, tag: Tag) -> Result<()> {
        let part = &typed.receives[index];
        if typed.has_variable_length {
            return self.receive_variable_length(job, typed, part, tag);
        }
        let payload = self.receive_part(part, tag)?;
        let (pieces, _) = job.packed_boxes(&[part]);
        self.unpack(typed.element, job.merge_rule(typed), (*payload).as_ref(), &pieces)
    }

    /// Receives a message of variable length: full parts until a shorter part or the maximum
    /// length.
    fn receive_variable_length(&self, job: &Job, typed: &TypedTransfer, part: &MessagePart, tag: Tag) -> Result<()> {
        let (size, full, whole) = (typed.element.bytes as u64, typed.full_part_bytes(), &part.boxes[0].chunk_box);
        let mut offset = 0;
        loop {
            let payload = self.tracer().span(Activity::Wait, || self.inner_group().receive(part.peer, tag))?;
            let payload = (*payload).as_ref();
            let found = payload.len() as u64;
            if found > full.min(part.bytes - offset) || !found.is_multiple_of(size) {
                return Err(self.wrong_message(part.peer, part.bytes, offset + found).into());
            }
            let cells =
                Region { start: [(offset / size) as i64].into(), end: [((offset + found) / size) as i64].into() };
            let chunk_box = ChunkBox { view: whole.view.part(&cells), ..*whole };
            self.unpack(typed.element, job.merge_rule(typed), payload, &[job.packed_box(&chunk_box, 0)])?;
            offset += found;
            if found < full || offset == part.bytes {
                return Ok(());
            }
        }
    }

    /// Waits for a message and compares its length with the plan.
    fn receive_part(&self, part: &MessagePart, tag: Tag) -> Result<Payload> {
        let payload = self.tracer().span(Activity::Wait, || self.inner_group().receive(part.peer, tag))?;
        match (*payload).as_ref().len() as u64 {
            found if found == part.bytes => Ok(payload),
            found => Err(self.wrong_message(part.peer, part.bytes, found).into()),
        }
    }

    /// Error for a message with an unexpected length.
    pub(super) fn wrong_message(&self, from: usize, expected: u64, found: u64) -> TransportError {
        let operation = self.inner_group().operation_text("a transfer");
        TransportError::Message { operation, rank: from, expected, found }
    }

    pub(super) fn unpack(
        &self,
        element: &ElementInfo,
        merge_rule: &MergeRule,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<()> {
        self.tracer().span(Activity::Unpack, || match merge_rule {
            MergeRule::Replace => self.device().scatter(element.bytes, payload, pieces),
            MergeRule::Combine(operator) => self.device().combine(element, payload, pieces, operator),
        })?;
        Ok(())
    }
}

fn moved<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Moved {
    let mut all = Moved::default();
    jobs.into_iter().for_each(|job| all += job.transfer.moved);
    all
}

fn total_bytes(parts: &[MessagePart]) -> u64 {
    parts.iter().map(|part| part.bytes).sum()
}
