//! [`Threads`]: transport between ranks that are threads of one process. Each rank has a mailbox,
//! and payloads move between threads without a copy.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::run_status::RunStatus;
use super::{Payload, Received, Tag, Transport, TransportKind};
use zippy_base::error::{Failure, TransportError};

/// Calls of `idle` that yield before a rank parks. The number is small because ranks are often more
/// than cores: a yielding rank uses a share of a core, a parked rank does not.
const YIELDS_BEFORE_PARK: u32 = 16;
/// Duration of the first park. Each further park is half as long again. A park ends by itself, for
/// callers that also wait for events other than messages.
const FIRST_PARK: Duration = Duration::from_micros(20);
/// Longest park: the larger of `LONGEST_PARK` and `LONGEST_PARK_PER_RANK` times the number of
/// ranks, so that wake-ups of many ranks do not occupy the cores.
const LONGEST_PARK: Duration = Duration::from_millis(1);
const LONGEST_PARK_PER_RANK: Duration = Duration::from_micros(50);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_message(messages: &Cell<u64>, tag: Tag) {
    messages.set(messages.get() + u64::from(!tag.is_wait_message()));
}

/// The memory that all ranks of one run share.
pub(crate) struct SharedRun {
    mailboxes: Vec<Mailbox>,
    pub(crate) status: RunStatus,
}

#[derive(Default)]
struct Mailbox {
    arrived: Mutex<Arrived>,
    /// Number of messages in `arrived`, so that a look into an empty mailbox needs no lock.
    count: AtomicUsize,
    wake: Condvar,
}

#[derive(Default)]
struct Arrived {
    messages: Vec<(usize, Tag, Payload)>,
    parked: bool,
    /// True after the end of the rank: further messages are dropped.
    closed: bool,
}

impl SharedRun {
    pub(crate) fn new(ranks: usize) -> Arc<Self> {
        let mailboxes = (0..ranks).map(|_| Mailbox::default()).collect();
        Arc::new(Self { mailboxes, status: RunStatus::new(ranks) })
    }

    pub(crate) fn fail(&self, failure: &Failure) {
        self.status.fail(failure);
        for mailbox in &self.mailboxes {
            // The lock orders the failure before the check of a rank that is about to park.
            drop(lock(&mailbox.arrived));
            mailbox.wake.notify_all();
        }
    }
}

/// The transport of one rank.
pub(crate) struct Threads {
    hub: Arc<SharedRun>,
    rank: usize,
    /// Messages that are no longer in the mailbox, by sender. A queue is short, so it is searched
    /// for a tag.
    by_sender: RefCell<Vec<VecDeque<(Tag, Payload)>>>,
    swapped: RefCell<Vec<(usize, Tag, Payload)>>,
    idle_calls: Cell<u32>,
    /// Number of messages to each rank, and from each rank.
    posted_counts: Vec<Cell<u64>>,
    arrived_counts: Vec<Cell<u64>>,
}

impl Threads {
    pub(crate) fn new(hub: Arc<SharedRun>, rank: usize) -> Self {
        let by_sender = hub.mailboxes.iter().map(|_| VecDeque::new()).collect();
        let [posted_counts, arrived_counts] = [0, 0].map(|none| vec![Cell::new(none); hub.mailboxes.len()]);
        Self {
            hub,
            rank,
            by_sender: RefCell::new(by_sender),
            swapped: RefCell::default(),
            idle_calls: Cell::new(0),
            posted_counts,
            arrived_counts,
        }
    }

    fn mailbox(&self) -> &Mailbox {
        &self.hub.mailboxes[self.rank]
    }

    fn take_arrivals(&self) {
        let mailbox = self.mailbox();
        if mailbox.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut swapped = self.swapped.borrow_mut();
        {
            let mut arrived = lock(&mailbox.arrived);
            std::mem::swap(&mut arrived.messages, &mut *swapped);
            mailbox.count.store(0, Ordering::Release);
        }
        let mut by_sender = self.by_sender.borrow_mut();
        for (from, tag, payload) in swapped.drain(..) {
            by_sender[from].push_back((tag, payload));
            count_message(&self.arrived_counts[from], tag);
        }
    }
}

/// Frees the messages that were not received.
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
        self.hub.mailboxes.len()
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
        let mailbox = self.hub.mailboxes.get(to).ok_or(TransportError::NoSuchRank { rank: to, size })?;
        let parked = {
            let mut arrived = lock(&mailbox.arrived);
            if arrived.closed {
                return Ok(());
            }
            arrived.messages.push((self.rank, tag, payload));
            count_message(&self.posted_counts[to], tag);
            mailbox.count.store(arrived.messages.len(), Ordering::Release);
            arrived.parked
        };
        if parked {
            mailbox.wake.notify_one();
        }
        self.idle_calls.set(0);
        Ok(())
    }

    fn poll(&self, from: Option<usize>, tag: Tag) -> Result<Option<Received>, TransportError> {
        self.take_arrivals();
        let size = self.size();
        let mut by_sender = self.by_sender.borrow_mut();
        let mut take = |from: usize| -> Option<Received> {
            let queue = &mut by_sender[from];
            // `pop_front` is the cheapest removal, and the first message matches most often.
            let found = match queue.iter().position(|&(found, _)| found.same_exchange(tag))? {
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
            self.idle_calls.set(0);
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
        self.hub.status.failure()
    }

    fn finish(&self) -> Result<(), TransportError> {
        self.hub.status.finish(self.rank);
        Ok(())
    }

    fn posted_to(&self, rank: usize) -> u64 {
        self.posted_counts[rank].get()
    }

    fn arrived_from(&self, rank: usize) -> Result<Option<u64>, TransportError> {
        Ok(Some(self.arrived_counts[rank].get()))
    }

    fn has_finished(&self, rank: usize) -> Result<bool, TransportError> {
        Ok(self.hub.status.has_finished(rank))
    }

    fn idle(&self) {
        let idle_calls = self.idle_calls.get();
        self.idle_calls.set(idle_calls.saturating_add(1));
        if idle_calls < YIELDS_BEFORE_PARK {
            thread::yield_now();
            return;
        }
        let longest = LONGEST_PARK.max(LONGEST_PARK_PER_RANK.saturating_mul(self.size() as u32));
        let park = FIRST_PARK.mul_f64(1.5f64.powi((idle_calls - YIELDS_BEFORE_PARK).min(32) as i32)).min(longest);
        let mailbox = self.mailbox();
        let mut arrived = lock(&mailbox.arrived);
        if !arrived.messages.is_empty() {
            // The caller may wait for another exchange and never poll for these messages.
            drop(arrived);
            self.take_arrivals();
        } else if !self.hub.status.has_failed() {
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
    fn post_resets_idle_calls() {
        let hub = SharedRun::new(2);
        let rank = Threads::new(hub, 0);
        (0..2 * YIELDS_BEFORE_PARK).for_each(|_| rank.idle());
        rank.post(1, Tag::new(0, 7, 1), crate::copied(&[5_u8])).unwrap();
        assert_eq!(rank.idle_calls.get(), 0, "the next wait may be for the reader");
    }

    /// If the messages stayed in the mailbox, the rank would never park and would use a core while
    /// it waits.
    #[test]
    fn idle_empties_mailbox_for_other_exchanges() {
        let hub = SharedRun::new(2);
        let [sender, receiver] = [0, 1].map(|rank| Threads::new(hub.clone(), rank));
        let tag = Tag::new(0, 7, 1);
        sender.post(1, tag, crate::copied(&[5_u8])).unwrap();
        (0..=YIELDS_BEFORE_PARK).for_each(|_| receiver.idle());
        assert!(lock(&receiver.mailbox().arrived).messages.is_empty());
        let found = receiver.poll(None, tag).unwrap().expect("it is kept");
        assert_eq!((found.from, (*found.payload).as_ref()), (0, &[5][..]));
    }
}
