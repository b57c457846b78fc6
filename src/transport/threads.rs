//! Ranks as threads of one process: a mailbox per rank; payloads change hands without a copy.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::board::Board;
use super::{Payload, Received, Tag, Transport, TransportKind};
use crate::error::{Failure, TransportError};

/// A waiting rank yields this often before it parks. Few, as ranks are often more than cores: a yielding rank takes
/// its share of a core from one that computes, a parked one does not.
const YIELDS: u32 = 16;
/// A parked rank wakes by itself, for callers that wait for something else besides messages: first after this time, then
/// after half as much again each time.
const FIRST_PARK: Duration = Duration::from_micros(20);
/// The longest time, and where ranks are many, for each: else they would keep the cores busy with waking alone.
const PARK: Duration = Duration::from_millis(1);
const PARK_PER_RANK: Duration = Duration::from_micros(50);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(messages: &Cell<u64>, tag: Tag) {
    messages.set(messages.get() + u64::from(!tag.is_inquiry()));
}

/// What the ranks of one run share.
pub(crate) struct Hub {
    boxes: Vec<Mailbox>,
    pub(crate) board: Board,
}

#[derive(Default)]
struct Mailbox {
    arrived: Mutex<Arrived>,
    /// Messages in `arrived`, so that an empty box costs no lock.
    count: AtomicUsize,
    wake: Condvar,
}

#[derive(Default)]
struct Arrived {
    messages: Vec<(usize, Tag, Payload)>,
    parked: bool,
    /// The rank has come back and takes nothing more.
    closed: bool,
}

impl Hub {
    pub(crate) fn new(ranks: usize) -> Arc<Self> {
        let boxes = (0..ranks).map(|_| Mailbox::default()).collect();
        Arc::new(Self { boxes, board: Board::new(ranks) })
    }

    pub(crate) fn fail(&self, failure: &Failure) {
        self.board.fail(failure);
        for mailbox in &self.boxes {
            // The lock orders this behind the parking rank's look at the board.
            drop(lock(&mailbox.arrived));
            mailbox.wake.notify_all();
        }
    }
}

/// One rank's end.
pub(crate) struct Threads {
    hub: Arc<Hub>,
    rank: usize,
    /// What has been taken out of the mailbox, by sender. Few messages wait at a time, so they are searched by tag.
    sorted: RefCell<Vec<VecDeque<(Tag, Payload)>>>,
    fresh: RefCell<Vec<(usize, Tag, Payload)>>,
    idled: Cell<u32>,
    /// Messages to and from each rank.
    posted: Vec<Cell<u64>>,
    come: Vec<Cell<u64>>,
}

impl Threads {
    pub(crate) fn new(hub: Arc<Hub>, rank: usize) -> Self {
        let sorted = hub.boxes.iter().map(|_| VecDeque::new()).collect();
        let [posted, come] = [0, 0].map(|none| vec![Cell::new(none); hub.boxes.len()]);
        Self { hub, rank, sorted: RefCell::new(sorted), fresh: RefCell::default(), idled: Cell::new(0), posted, come }
    }

    fn mailbox(&self) -> &Mailbox {
        &self.hub.boxes[self.rank]
    }

    fn sort(&self) {
        let mailbox = self.mailbox();
        if mailbox.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut fresh = self.fresh.borrow_mut();
        {
            let mut arrived = lock(&mailbox.arrived);
            std::mem::swap(&mut arrived.messages, &mut *fresh);
            mailbox.count.store(0, Ordering::Release);
        }
        let mut sorted = self.sorted.borrow_mut();
        for (from, tag, payload) in fresh.drain(..) {
            sorted[from].push_back((tag, payload));
            count(&self.come[from], tag);
        }
    }
}

/// What has not been received goes, so that its senders get their memory back.
impl Drop for Threads {
    fn drop(&mut self) {
        let mut arrived = lock(&self.mailbox().arrived);
        arrived.closed = true;
        arrived.messages.clear();
    }
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.hub.boxes.len()
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Threads
    }

    fn node_rank(&self) -> usize {
        self.rank
    }

    fn node_size(&self) -> usize {
        self.size()
    }

    fn post(&self, to: usize, tag: Tag, payload: Payload) -> Result<(), TransportError> {
        let size = self.size();
        let mailbox = self.hub.boxes.get(to).ok_or(TransportError::NoSuchRank { rank: to, size })?;
        let parked = {
            let mut arrived = lock(&mailbox.arrived);
            if arrived.closed {
                return Ok(());
            }
            arrived.messages.push((self.rank, tag, payload));
            count(&self.posted[to], tag);
            mailbox.count.store(arrived.messages.len(), Ordering::Release);
            arrived.parked
        };
        if parked {
            mailbox.wake.notify_one();
        }
        self.idled.set(0);
        Ok(())
    }

    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError> {
        self.sort();
        let size = self.size();
        let mut sorted = self.sorted.borrow_mut();
        let mut take = |from: usize| -> Option<Received> {
            let queue = &mut sorted[from];
            // Most often the first, which costs least to take.
            let found = match queue.iter().position(|&(found, _)| found.meets(tag))? {
                0 => queue.pop_front(),
                at => queue.remove(at),
            };
            found.map(|(tag, payload)| Received { from, tag, payload })
        };
        let found = match from {
            Some(from) if from >= size => return Err(TransportError::NoSuchRank { rank: from, size }),
            Some(from) => take(from),
            None => (0..size).find_map(take),
        };
        if found.is_some() {
            self.idled.set(0);
        }
        Ok(found)
    }

    fn flushed(&self) -> Result<bool, TransportError> {
        Ok(true)
    }

    fn fail(&self, failure: &Failure) {
        self.hub.fail(failure);
    }

    fn failure(&self) -> Option<Failure> {
        self.hub.board.failure()
    }

    fn finish(&self) -> Result<(), TransportError> {
        self.hub.board.finish(self.rank);
        Ok(())
    }

    fn posted_to(&self, rank: usize) -> u64 {
        self.posted[rank].get()
    }

    fn come_from(&self, rank: usize) -> Result<Option<u64>, TransportError> {
        Ok(Some(self.come[rank].get()))
    }

    fn has_finished(&self, rank: usize) -> Result<bool, TransportError> {
        Ok(self.hub.board.has_finished(rank))
    }

    fn idle(&self) {
        let idled = self.idled.get();
        self.idled.set(idled.saturating_add(1));
        if idled < YIELDS {
            thread::yield_now();
            return;
        }
        let longest = PARK.max(PARK_PER_RANK.saturating_mul(self.size() as u32));
        let park = FIRST_PARK.mul_f64(1.5f64.powi((idled - YIELDS).min(32) as i32)).min(longest);
        let mailbox = self.mailbox();
        let mut arrived = lock(&mailbox.arrived);
        if !arrived.messages.is_empty() {
            // The caller may wait for something else and never look at them.
            drop(arrived);
            self.sort();
        } else if !self.hub.board.has_failed() {
            arrived.parked = true;
            let woken = mailbox.wake.wait_timeout(arrived, park);
            let (mut arrived, _) = woken.unwrap_or_else(PoisonError::into_inner);
            arrived.parked = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sends_looks_often_again() {
        let hub = Hub::new(2);
        let rank = Threads::new(hub, 0);
        (0..2 * YIELDS).for_each(|_| rank.idle());
        rank.post(1, Tag::new(0, 7, 1), super::super::copied(&[5_u8])).unwrap();
        assert_eq!(rank.idled.get(), 0, "the next wait may be for the reader");
    }

    /// Else it would never park, but turn round and round until its time slice is over.
    #[test]
    fn a_rank_that_waits_for_something_else_takes_in_its_messages() {
        let hub = Hub::new(2);
        let [one, other] = [0, 1].map(|rank| Threads::new(hub.clone(), rank));
        let tag = Tag::new(0, 7, 1);
        one.post(1, tag, super::super::copied(&[5_u8])).unwrap();
        (0..=YIELDS).for_each(|_| other.idle());
        assert!(lock(&other.mailbox().arrived).messages.is_empty());
        let found = other.poll(None, tag).unwrap().expect("it is kept");
        assert_eq!((found.from, (*found.payload).as_ref()), (0, &[5][..]));
    }
}
