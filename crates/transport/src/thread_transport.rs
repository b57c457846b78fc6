//! [`ThreadTransport`]: transport between ranks that are threads of one process. Payloads move into
//! the receiver's mailbox without a copy.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::run_status::RunStatus;
use super::{Payload, Received, Tag, Transport, TransportKind};
use zippy_base::error::{Failure, TransportError};

/// Number of `idle` calls that yield before a rank parks: small, as ranks often outnumber cores.
const YIELDS_BEFORE_PARK: u32 = 16;
/// Duration of the first park. Each further park is half as long again. Parks end by themselves,
/// for callers that also wait for other events than messages.
const FIRST_PARK: Duration = Duration::from_micros(20);
/// Longest park: the maximum of `LONGEST_PARK` and `LONGEST_PARK_PER_RANK` times the number of
/// ranks, to limit the cost of wake-ups.
const LONGEST_PARK: Duration = Duration::from_millis(1);
const LONGEST_PARK_PER_RANK: Duration = Duration::from_micros(50);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_message(messages: &Cell<u64>, tag: Tag) {
    messages.set(messages.get() + u64::from(!tag.is_wait_message()));
}

pub(crate) struct SharedRun {
    mailboxes: Vec<Mailbox>,
    pub(crate) status: RunStatus,
}

#[derive(Default)]
struct Mailbox {
    arrived: Mutex<Arrived>,
    /// Number of messages in `arrived`, for a check without the lock.
    count: AtomicUsize,
    wake: Condvar,
}

#[derive(Default)]
struct Arrived {
    messages: Vec<(usize, Tag, Payload)>,
    parked: bool,
    /// True after the end of the rank: later messages are dropped.
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
            // The lock orders the failure before the check of a rank that parks.
            drop(lock(&mailbox.arrived));
            mailbox.wake.notify_all();
        }
    }
}

pub(crate) struct ThreadTransport {
    shared_run: Arc<SharedRun>,
    rank: usize,
    /// Messages taken from the mailbox, by sender. Queues are short and searched linearly.
    by_sender: RefCell<Vec<VecDeque<(Tag, Payload)>>>,
    swapped: RefCell<Vec<(usize, Tag, Payload)>>,
    idle_calls: Cell<u32>,
    /// Number of messages to each rank, and from each rank.
    posted_counts: Vec<Cell<u64>>,
    arrived_counts: Vec<Cell<u64>>,
}

impl ThreadTransport {
    pub(crate) fn new(shared_run: Arc<SharedRun>, rank: usize) -> Self {
        let by_sender = shared_run.mailboxes.iter().map(|_| VecDeque::new()).collect();
        let [posted_counts, arrived_counts] = [0, 0].map(|none| vec![Cell::new(none); shared_run.mailboxes.len()]);
        Self {
            shared_run,
            rank,
            by_sender: RefCell::new(by_sender),
            swapped: RefCell::default(),
            idle_calls: Cell::new(0),
            posted_counts,
            arrived_counts,
        }
    }

    fn mailbox(&self) -> &Mailbox {
        &self.shared_run.mailboxes[self.rank]
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

impl Drop for ThreadTransport {
    fn drop(&mut self) {
        let mut arrived = lock(&self.mailbox().arrived);
        arrived.closed = true;
        arrived.messages.clear();
    }
}

impl Transport for ThreadTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared_run.mailboxes.len()
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
        let mailbox = self.shared_run.mailboxes.get(to).ok_or(TransportError::NoSuchRank { rank: to, size })?;
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
            // The first message matches most often, and `pop_front` is the cheapest removal.
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
        self.shared_run.fail(failure);
    }

    fn failure(&self) -> Option<Failure> {
        self.shared_run.status.failure()
    }

    fn finish(&self) -> Result<(), TransportError> {
        self.shared_run.status.finish(self.rank);
        Ok(())
    }

    fn posted_to(&self, rank: usize) -> u64 {
        self.posted_counts[rank].get()
    }

    fn arrived_from(&self, rank: usize) -> Result<Option<u64>, TransportError> {
        Ok(Some(self.arrived_counts[rank].get()))
    }

    fn has_finished(&self, rank: usize) -> Result<bool, TransportError> {
        Ok(self.shared_run.status.has_finished(rank))
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
            // The caller may never poll for these messages.
            drop(arrived);
            self.take_arrivals();
        } else if !self.shared_run.status.has_failed() {
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
        let shared_run = SharedRun::new(2);
        let rank = ThreadTransport::new(shared_run, 0);
        (0..2 * YIELDS_BEFORE_PARK).for_each(|_| rank.idle());
        rank.post(1, Tag::new(0, 7, 1), crate::copied(&[5_u8])).unwrap();
        assert_eq!(rank.idle_calls.get(), 0, "the next wait may be for the reader");
    }

    /// A rank with messages in its mailbox would never park.
    #[test]
    fn idle_empties_mailbox_for_other_exchanges() {
        let shared_run = SharedRun::new(2);
        let [sender, receiver] = [0, 1].map(|rank| ThreadTransport::new(shared_run.clone(), rank));
        let tag = Tag::new(0, 7, 1);
        sender.post(1, tag, crate::copied(&[5_u8])).unwrap();
        (0..=YIELDS_BEFORE_PARK).for_each(|_| receiver.idle());
        assert!(lock(&receiver.mailbox().arrived).messages.is_empty());
        let found = receiver.poll(None, tag).unwrap().expect("it is kept");
        assert_eq!((found.from, (*found.payload).as_ref()), (0, &[5][..]));
    }
}
