//! Messages over one communicator.
//!
//! A small message is one piece, a copy of its payload with its [`Label`] behind. A larger one is sent from where it lies: a
//! piece with the label alone, then *n* bytes as ⌊n / p⌋ pieces of exactly p bytes and a last one of n mod p, perhaps 0: a
//! piece that is not full is the last. Pieces have the message's tag, as far as MPI has bits for it, and stay in order.

use std::cell::{Cell, Ref, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::arrivals::Arrivals;
use super::control::Control;
use super::label::Label;
use super::pool::BytePool;
use super::raw::{Communicator, InFlight};
use super::topology::Topology;
use crate::error::{Failure, TransportError};
use crate::transport::{Payload, Received, Tag, Transport, TransportKind};

/// Messages are fetched before they are asked for while those that wait have fewer bytes than this. Beyond, they stay
/// with their senders until asked for, so that the order of receives bounds the memory.
const FETCHED_BYTES: usize = 64 << 20;
/// Messages of fewer bytes are copied to stand before their label.
const COPIED_BYTES: usize = 8 << 10;
/// A waiting rank yields for this time, then sleeps between looks.
const YIELDING: Duration = Duration::from_micros(200);
/// For this time while messages are on their way, where nobody else wants the core: large ones move by a few pages at
/// each look.
const YIELDING_IN_FLIGHT: Duration = Duration::from_millis(20);
/// A yield that takes so long has let others compute.
const CROWDED: Duration = Duration::from_micros(50);
/// The longest sleep.
const SLEEP: Duration = Duration::from_millis(1);
/// The longest sleep while messages are on their way.
const SLEEP_IN_FLIGHT: Duration = Duration::from_micros(20);

/// A rank that has waited for another one for this time asks whether it is through.
const ASK_AFTER: Duration = Duration::from_millis(10);

/// So much time passes between two looks for failures of others. Each takes most of a microsecond, more than all else that a
/// debug point does.
const LISTEN_EVERY: Duration = Duration::from_micros(10);

/// One rank's end.
pub(super) struct Wire {
    /// Until the run has ended.
    communicator: RefCell<Option<Communicator>>,
    pub(super) topology: Topology,
    piece_bytes: usize,
    pub(super) pool: BytePool,
    outgoing: RefCell<Vec<InFlight<Rc<Payload>>>>,
    pub(super) arrivals: RefCell<Arrivals>,
    pub(super) control: Control,
    /// Pieces to and from each rank.
    pub(super) sent: RefCell<Vec<u64>>,
    pub(super) received: RefCell<Vec<u64>>,
    /// Messages posted to each rank, and taken from it, inquiries not counted.
    messages: RefCell<Vec<[u64; 2]>>,
    /// Whether a yield has shown that others want this core.
    crowded: Cell<bool>,
    /// Since when nothing has moved.
    waiting_since: Cell<Option<Instant>>,
    /// When this rank last listened for failures of others.
    listened: Cell<Option<Instant>>,
}

impl Wire {
    pub(super) fn new(communicator: Communicator, topology: Topology, piece_bytes: usize) -> Self {
        Self {
            crowded: Cell::new(false),
            communicator: RefCell::new(Some(communicator)),
            control: Control::new(topology.size),
            sent: RefCell::new(vec![0; topology.size]),
            received: RefCell::new(vec![0; topology.size]),
            messages: RefCell::new(vec![[0; 2]; topology.size]),
            topology,
            piece_bytes,
            pool: BytePool::default(),
            outgoing: RefCell::default(),
            arrivals: RefCell::default(),
            waiting_since: Cell::new(None),
            listened: Cell::new(None),
        }
    }

    pub(super) fn communicator(&self) -> Result<Ref<'_, Communicator>, TransportError> {
        Ref::filter_map(self.communicator.borrow(), Option::as_ref)
            .map_err(|_| TransportError::Other("a message after the end of its run".into()))
    }

    /// Gives the communicator back. Collective.
    pub(super) fn free(&self) -> Result<(), TransportError> {
        self.communicator.take().map_or(Ok(()), Communicator::free)
    }

    /// The tag of what ranks tell each other, which no message has.
    pub(super) fn control_tag(&self) -> u32 {
        1 << self.topology.tag_bits
    }

    /// Whether it is time to look for failures of others.
    fn listens(&self) -> bool {
        let now = Instant::now();
        let due = self.listened.get().is_none_or(|last| now - last >= LISTEN_EVERY);
        if due {
            self.listened.set(Some(now));
        }
        due
    }

    pub(super) fn total_sent(&self) -> u64 {
        self.sent.borrow().iter().sum()
    }

    pub(super) fn total_received(&self) -> u64 {
        self.received.borrow().iter().sum()
    }

    /// The tag by which MPI sorts the messages of an exchange.
    fn tag(&self, tag: Tag) -> u32 {
        let all = (u64::from(tag.context()) | tag.sequence() << Tag::CONTEXT_BITS) as u32;
        all & (self.control_tag() - 1)
    }

    pub(super) fn send(&self, to: usize, tag: u32, label: &Label, payload: Payload) -> Result<(), TransportError> {
        let bytes = (*payload).as_ref();
        if bytes.len() < COPIED_BYTES.min(self.piece_bytes) {
            let mut whole = self.pool.take(bytes.len() + Label::BYTES);
            let (before, behind) = whole.as_mut().split_at_mut(bytes.len());
            before.copy_from_slice(bytes);
            behind.copy_from_slice(label.behind());
            let end = bytes.len() + Label::BYTES;
            return self.send_piece(to, tag, &(Rc::new(Box::new(whole))), 0..end);
        }
        let (alone, payload): (Rc<Payload>, _) = (Rc::new(Box::new(label.alone().to_vec())), Rc::new(payload));
        self.send_piece(to, tag, &alone, 0..Label::ALONE_BYTES)?;
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

    fn send_piece(&self, to: usize, tag: u32, of: &Rc<Payload>, range: Range<usize>) -> Result<(), TransportError> {
        let mut piece = self.communicator()?.send(to, tag, of, range)?;
        self.waiting_since.set(None);
        self.sent.borrow_mut()[to] += 1;
        // Small messages are often gone at once.
        if !piece.done()? {
            self.outgoing.borrow_mut().push(piece);
        }
        Ok(())
    }

    /// Lets go of payloads that have been sent; whether none is left.
    pub(super) fn settle_sends(&self) -> Result<bool, TransportError> {
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

    /// Starts to receive the next piece, if one has come; whether it has.
    pub(super) fn fetch(&self, from: Option<usize>, tag: Option<u32>) -> Result<bool, TransportError> {
        let Some(matched) = self.communicator()?.next(from, tag)? else { return Ok(false) };
        let (key, length) = ((matched.source, matched.tag), matched.bytes);
        let piece = matched.receive(self.pool.take(length))?;
        self.received.borrow_mut()[key.0] += 1;
        self.arrivals.borrow_mut().add_piece(key, piece, length, self.piece_bytes);
        Ok(true)
    }

    /// The next message with a tag as MPI knows it, of any exchange or of this one, if it is here.
    pub(super) fn take(
        &self,
        from: Option<usize>,
        tag: u32,
        wanted: Option<Tag>,
    ) -> Result<Option<Received>, TransportError> {
        let found = self.arrivals.borrow_mut().take(from, (tag, wanted), &self.pool)?;
        if found.is_some() {
            self.waiting_since.set(None);
            return Ok(found);
        }
        self.settle_sends()?;
        let room = || self.arrivals.borrow().bytes() < FETCHED_BYTES;
        while room() && self.fetch(None, None)? {}
        if !room() {
            self.fetch(from, Some(tag))?;
        }
        let found = self.arrivals.borrow_mut().take(from, (tag, wanted), &self.pool)?;
        if found.is_some() {
            self.waiting_since.set(None);
        }
        Ok(found)
    }
}

impl Transport for Rc<Wire> {
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
            self.arrivals.borrow_mut().add_here(rank, self.tag(tag), tag, payload);
            return Ok(());
        }
        self.messages.borrow_mut()[to][0] += u64::from(!tag.is_inquiry());
        self.send(to, self.tag(tag), &Label::new(tag), payload)
    }

    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError> {
        match from {
            Some(rank) if rank >= self.topology.size => {
                Err(TransportError::NoSuchRank { rank, size: self.topology.size })
            }
            _ => {
                let found = Wire::take(self, from, self.tag(tag), Some(tag))?;
                if let Some(Received { from, .. }) = found.as_ref().filter(|found| !found.tag.is_inquiry()) {
                    self.messages.borrow_mut()[*from][1] += 1;
                }
                Ok(found)
            }
        }
    }

    fn flushed(&self) -> Result<bool, TransportError> {
        self.settle_sends()
    }

    fn fail(&self, failure: &Failure) {
        if let Err(error) = self.tell(failure) {
            tracing::error!("rank {} could not tell the others that it has failed: {error}", self.topology.rank);
        }
    }

    fn failure(&self) -> Option<Failure> {
        if !self.control.has_failed()
            && self.listens()
            && let Err(error) = self.hear()
        {
            let (operation, message) = ("listening for failures".to_owned(), error.to_string());
            self.fail(&Failure::other(self.topology.rank, operation, message));
        }
        self.control.first_failure()
    }

    fn finish(&self) -> Result<(), TransportError> {
        self.come_through(true)
    }

    fn posted_to(&self, rank: usize) -> u64 {
        self.messages.borrow()[rank][0]
    }

    fn come_from(&self, rank: usize) -> Result<Option<u64>, TransportError> {
        let waiting = self.arrivals.borrow_mut().messages_from(rank, self.control_tag())?;
        Ok(waiting.map(|waiting| self.messages.borrow()[rank][1] + waiting))
    }

    fn has_finished(&self, rank: usize) -> Result<bool, TransportError> {
        if self.waiting_since.get().is_some_and(|since| since.elapsed() >= ASK_AFTER) {
            self.ask(rank)?;
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
            // A tenth of what was waited already: late by that at most, and the cores are left to those who compute.
            thread::sleep((waited / 10).min(if in_flight { SLEEP_IN_FLIGHT } else { SLEEP }));
        }
    }
}
