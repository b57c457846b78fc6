//! [`MpiTransport`]: transport of messages over one MPI communicator.
//!
//! A small message is one piece: a copy of its payload, followed by its [`Label`]. A large message
//! is sent from the memory of its payload: a piece with the label alone, then *n* bytes as ⌊n / p⌋
//! pieces of exactly p bytes and a last piece of n mod p bytes, perhaps 0. A piece of fewer than p
//! bytes ends the message. All pieces of a message have the same MPI tag (the lower bits of the
//! message's tag), so MPI keeps their order.

use std::cell::{Cell, Ref, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::arrivals::Arrivals;
use super::control_state::ControlState;
use super::label::Label;
use super::pool::BytePool;
use super::raw::{Communicator, InFlight};
use super::topology::Topology;
use crate::{Payload, Received, Tag, Transport, TransportKind};
use zippy_base::error::{Failure, TransportError};

/// Limit of bytes in messages that are received before their receive calls. Other messages stay
/// with their senders, so that the order of receive calls limits the memory.
const FETCHED_BYTES: usize = 64 << 20;
/// Messages below this size are copied into one piece with their label.
const COPIED_BYTES: usize = 8 << 10;
/// Duration of yielding in a wait, before the rank sleeps between polls.
const YIELDING: Duration = Duration::from_micros(200);
/// Duration of yielding while messages are in flight and the core is free. MPI moves a large
/// message by a few pages per poll.
const YIELDING_IN_FLIGHT: Duration = Duration::from_millis(20);
/// Minimum duration of a yield that ran another thread.
const CROWDED: Duration = Duration::from_micros(50);
const SLEEP: Duration = Duration::from_millis(1);
const SLEEP_IN_FLIGHT: Duration = Duration::from_micros(20);

/// Duration of a wait after which a rank requests the awaited rank's progress.
const REQUEST_AFTER: Duration = Duration::from_millis(10);

/// Interval between polls for failures of other ranks. A poll takes most of a microsecond.
const FAILURE_POLL_EVERY: Duration = Duration::from_micros(10);

pub(super) struct MpiTransport {
    /// Communicator of the run; `None` after its end.
    communicator: RefCell<Option<Communicator>>,
    pub(super) topology: Topology,
    piece_bytes: usize,
    pub(super) pool: BytePool,
    outgoing: RefCell<Vec<InFlight<Rc<Payload>>>>,
    pub(super) arrivals: RefCell<Arrivals>,
    pub(super) control: ControlState,
    /// Number of pieces per destination rank, and per source rank.
    pub(super) sent: RefCell<Vec<u64>>,
    pub(super) received: RefCell<Vec<u64>>,
    /// Number of posted messages per destination rank, without wait messages.
    posted_messages: RefCell<Vec<u64>>,
    /// Number of polled messages per source rank, without wait messages.
    polled_messages: RefCell<Vec<u64>>,
    /// True if another thread uses this core.
    crowded: Cell<bool>,
    /// Start of the current wait. `None` after progress of a message.
    waiting_since: Cell<Option<Instant>>,
    last_failure_poll: Cell<Option<Instant>>,
}

impl MpiTransport {
    pub(super) fn new(communicator: Communicator, topology: Topology, piece_bytes: usize) -> Self {
        Self {
            crowded: Cell::new(false),
            communicator: RefCell::new(Some(communicator)),
            control: ControlState::new(topology.size),
            sent: RefCell::new(vec![0; topology.size]),
            received: RefCell::new(vec![0; topology.size]),
            posted_messages: RefCell::new(vec![0; topology.size]),
            polled_messages: RefCell::new(vec![0; topology.size]),
            topology,
            piece_bytes,
            pool: BytePool::default(),
            outgoing: RefCell::default(),
            arrivals: RefCell::default(),
            waiting_since: Cell::new(None),
            last_failure_poll: Cell::new(None),
        }
    }

    pub(super) fn communicator(&self) -> Result<Ref<'_, Communicator>, TransportError> {
        Ref::filter_map(self.communicator.borrow(), Option::as_ref)
            .map_err(|_| TransportError::Other("a message after the end of its run".into()))
    }

    /// Frees the communicator. Collective.
    pub(super) fn free(&self) -> Result<(), TransportError> {
        self.communicator.take().map_or(Ok(()), Communicator::free)
    }

    /// MPI tag that only control messages have.
    pub(super) fn control_tag(&self) -> u32 {
        1 << self.topology.tag_bits
    }

    fn failure_poll_due(&self) -> bool {
        let now = Instant::now();
        let due = self.last_failure_poll.get().is_none_or(|last| now - last >= FAILURE_POLL_EVERY);
        if due {
            self.last_failure_poll.set(Some(now));
        }
        due
    }

    pub(super) fn total_sent(&self) -> u64 {
        self.sent.borrow().iter().sum()
    }

    pub(super) fn total_received(&self) -> u64 {
        self.received.borrow().iter().sum()
    }

    fn tag(&self, tag: Tag) -> u32 {
        let all = (u64::from(tag.context()) | tag.sequence() << Tag::CONTEXT_BITS) as u32;
        all & (self.control_tag() - 1)
    }

    pub(super) fn send(&self, to: usize, tag: u32, label: &Label, payload: Payload) -> Result<(), TransportError> {
        let bytes = (*payload).as_ref();
        if bytes.len() < COPIED_BYTES.min(self.piece_bytes) {
            let mut whole = self.pool.take(bytes.len() + Label::BYTES);
            let (body, suffix) = whole.as_mut().split_at_mut(bytes.len());
            body.copy_from_slice(bytes);
            suffix.copy_from_slice(label.as_suffix());
            let end = bytes.len() + Label::BYTES;
            return self.send_piece(to, tag, &(Rc::new(Box::new(whole))), 0..end);
        }
        let (label_piece, payload): (Rc<Payload>, _) = (Rc::new(Box::new(label.as_piece().to_vec())), Rc::new(payload));
        self.send_piece(to, tag, &label_piece, 0..Label::PIECE_BYTES)?;
        let length = (**payload).as_ref().len();
        let mut start = 0;
        loop {
            let end = length.min(start + self.piece_bytes);
            self.send_piece(to, tag, &payload, start..end)?;
            if end - start < self.piece_bytes {
                return Ok(());
            }
            start = end;
        }
    }

    fn send_piece(
        &self,
        to: usize,
        tag: u32,
        payload: &Rc<Payload>,
        range: Range<usize>,
    ) -> Result<(), TransportError> {
        let mut piece = self.communicator()?.send(to, tag, payload, range)?;
        self.waiting_since.set(None);
        self.sent.borrow_mut()[to] += 1;
        // The send of a small message often completes at once.
        if !piece.done()? {
            self.outgoing.borrow_mut().push(piece);
        }
        Ok(())
    }

    /// Frees the payloads of completed sends. Returns true if no send is pending.
    pub(super) fn release_completed_sends(&self) -> Result<bool, TransportError> {
        let mut outgoing = self.outgoing.borrow_mut();
        let mut i = 0;
        while i < outgoing.len() {
            if outgoing[i].done()? {
                outgoing.swap_remove(i);
                self.waiting_since.set(None);
            } else {
                i += 1;
            }
        }
        Ok(outgoing.is_empty())
    }

    /// Starts to receive the next arrived piece. Returns false without a piece.
    pub(super) fn fetch(&self, from: Option<usize>, tag: Option<u32>) -> Result<bool, TransportError> {
        let Some(matched) = self.communicator()?.match_message(from, tag)? else { return Ok(false) };
        let (key, length) = ((matched.source, matched.tag), matched.bytes);
        let piece = matched.receive(self.pool.take(length))?;
        self.received.borrow_mut()[key.0] += 1;
        self.arrivals.borrow_mut().add_piece(key, piece, length, self.piece_bytes);
        Ok(true)
    }

    /// Takes the next complete message with an MPI tag, from one rank or any rank. With `wanted`,
    /// the message must belong to the exchange of that tag.
    pub(super) fn take(
        &self,
        from: Option<usize>,
        tag: u32,
        wanted: Option<Tag>,
    ) -> Result<Option<Received>, TransportError> {
        let found = self.arrivals.borrow_mut().take(from, tag, wanted, &self.pool)?;
        if found.is_some() {
            self.waiting_since.set(None);
            return Ok(found);
        }
        self.release_completed_sends()?;
        let room = || self.arrivals.borrow().bytes() < FETCHED_BYTES;
        while room() && self.fetch(None, None)? {}
        if !room() {
            self.fetch(from, Some(tag))?;
        }
        let found = self.arrivals.borrow_mut().take(from, tag, wanted, &self.pool)?;
        if found.is_some() {
            self.waiting_since.set(None);
        }
        Ok(found)
    }
}

impl Transport for Rc<MpiTransport> {
    fn rank(&self) -> usize {
        self.topology.rank
    }

    fn size(&self) -> usize {
        self.topology.size
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Mpi
    }

    fn node_rank(&self) -> usize {
        self.topology.node_rank
    }

    fn node_size(&self) -> usize {
        self.topology.node_size
    }

    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError> {
        let (rank, size) = (self.topology.rank, self.topology.size);
        if to >= size {
            return Err(TransportError::NoSuchRank { rank: to, size });
        }
        if to == rank {
            self.arrivals.borrow_mut().add_local(rank, self.tag(tag), tag, payload);
            return Ok(());
        }
        self.posted_messages.borrow_mut()[to] += u64::from(!tag.is_wait_message());
        self.send(to, self.tag(tag), &Label::new(tag), payload)
    }

    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError> {
        match from {
            Some(rank) if rank >= self.topology.size => {
                Err(TransportError::NoSuchRank { rank, size: self.topology.size })
            }
            _ => {
                let found = MpiTransport::take(self, from, self.tag(tag), Some(tag))?;
                if let Some(Received { from, .. }) = found.as_ref().filter(|found| !found.tag.is_wait_message()) {
                    self.polled_messages.borrow_mut()[*from] += 1;
                }
                Ok(found)
            }
        }
    }

    fn flushed(&self) -> Result<bool, TransportError> {
        self.release_completed_sends()
    }

    fn fail(&self, failure: &Failure) {
        if let Err(error) = self.broadcast_failure(failure) {
            tracing::error!("rank {} could not report its failure to the other ranks: {error}", self.topology.rank);
        }
    }

    fn failure(&self) -> Option<Failure> {
        if !self.control.has_failed()
            && self.failure_poll_due()
            && let Err(error) = self.handle_control_messages()
        {
            let (operation, message) = ("listening for failures".to_owned(), error.to_string());
            self.fail(&Failure::other(self.topology.rank, operation, message));
        }
        self.control.first_failure()
    }

    fn finish(&self) -> Result<(), TransportError> {
        self.set_progress(true)
    }

    fn posted_to(&self, rank: usize) -> u64 {
        self.posted_messages.borrow()[rank]
    }

    fn arrived_from(&self, rank: usize) -> Result<Option<u64>, TransportError> {
        let waiting = self.arrivals.borrow_mut().messages_from(rank, self.control_tag())?;
        Ok(waiting.map(|waiting| self.polled_messages.borrow()[rank] + waiting))
    }

    fn has_finished(&self, rank: usize) -> Result<bool, TransportError> {
        if self.waiting_since.get().is_some_and(|since| since.elapsed() >= REQUEST_AFTER) {
            self.request_progress(rank)?;
        }
        self.is_finished(rank)
    }

    fn idle(&self) {
        let now = Instant::now();
        let since = self.waiting_since.get().unwrap_or_else(|| {
            self.waiting_since.set(Some(now));
            self.crowded.set(false);
            now
        });
        let waited = now - since;
        let in_flight = !self.outgoing.borrow().is_empty() || self.arrivals.borrow().in_flight();
        if waited < YIELDING || (in_flight && waited < YIELDING_IN_FLIGHT && !self.crowded.get()) {
            thread::yield_now();
            self.crowded.set(self.crowded.get() || now.elapsed() > CROWDED);
        } else {
            // A sleep of a tenth of the wait delays a message by at most that.
            thread::sleep((waited / 10).min(if in_flight { SLEEP_IN_FLIGHT } else { SLEEP }));
        }
    }
}
