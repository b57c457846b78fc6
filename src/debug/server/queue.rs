//! [`Queue`]: pending requests of all viewers, and unsent messages to each viewer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zippy_protocol::Ask;

/// Maximum number of pending requests of a viewer; further requests wait.
const MAX_PENDING: usize = 64;
/// Maximum number of unsent bytes of a viewer; a viewer with more is disconnected.
const MAX_UNSENT_BYTES: usize = 64 << 20;
/// Number of unsent bytes of a viewer above which broadcasts to it are skipped.
const SLOW_VIEWER_BYTES: usize = 1 << 20;

/// Request of a viewer that has no answer yet.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub viewer: u64,
    pub ask: Ask,
}

/// Requests and messages between the rank's thread and the threads of connections.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    pending: VecDeque<PendingRequest>,
    viewers: BTreeMap<u64, Viewer>,
    next: u64,
    /// Last broadcast message.
    latest: Option<Arc<Vec<u8>>>,
    closed: bool,
}

#[derive(Debug, Default)]
struct Viewer {
    to_send: VecDeque<Arc<Vec<u8>>>,
    bytes: usize,
    is_sending_message: bool,
    /// True if the viewer has missed the last broadcast.
    has_missed_broadcast: bool,
}

impl Viewer {
    fn has_unsent(&self) -> bool {
        self.is_sending_message || self.has_missed_broadcast || !self.to_send.is_empty()
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        // No thread panics with an inconsistent state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn lock_for_test(&self) -> impl Drop + '_ {
        self.state()
    }

    /// Adds a viewer, unless there are `max_viewers` already or the queue is closed. The viewer
    /// receives `first`, then the last broadcast.
    pub(crate) fn add(&self, max_viewers: usize, first: Vec<u8>) -> Option<u64> {
        let mut state = self.state();
        if state.viewers.len() >= max_viewers || state.closed {
            return None;
        }
        state.next += 1;
        let number = state.next;
        let to_send: VecDeque<_> = std::iter::once(Arc::new(first)).chain(state.latest.clone()).collect();
        let bytes = to_send.iter().map(|bytes| bytes.len()).sum();
        state.viewers.insert(number, Viewer { to_send, bytes, ..Viewer::default() });
        self.changed.notify_all();
        Some(number)
    }

    /// Removes a viewer and its requests.
    pub(crate) fn remove(&self, viewer: u64) {
        let mut state = self.state();
        state.viewers.remove(&viewer);
        state.pending.retain(|pending| pending.viewer != viewer);
        self.changed.notify_all();
    }

    /// Adds a request of a viewer. Waits while the viewer has [`MAX_PENDING`] pending requests.
    /// Returns `false` if the viewer is disconnected.
    pub(crate) fn ask(&self, viewer: u64, ask: Ask) -> bool {
        let mut state = self.state();
        while !state.closed
            && state.viewers.contains_key(&viewer)
            && state.pending.iter().filter(|pending| pending.viewer == viewer).count() >= MAX_PENDING
        {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed || !state.viewers.contains_key(&viewer) {
            return false;
        }
        state.pending.push_back(PendingRequest { viewer, ask });
        self.changed.notify_all();
        true
    }

    /// Removes and returns the oldest request. Without one, waits up to `timeout`, or until a
    /// viewer connects.
    pub(crate) fn take_request(&self, timeout: Duration) -> Option<PendingRequest> {
        let deadline = Instant::now() + timeout;
        let mut state = self.state();
        let viewers = state.next;
        loop {
            if let Some(pending) = state.pending.pop_front() {
                self.changed.notify_all();
                return Some(pending);
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() || state.next != viewers {
                return None;
            }
            state = self.changed.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn viewers(&self) -> usize {
        self.state().viewers.len()
    }

    /// Queues a message for all viewers, and for viewers that connect later. A slow viewer receives
    /// it later, unless another broadcast replaces it.
    pub(crate) fn broadcast(&self, bytes: &Arc<Vec<u8>>) {
        let mut state = self.state();
        state.latest = Some(bytes.clone());
        for viewer in state.viewers.values_mut() {
            viewer.has_missed_broadcast = viewer.bytes >= SLOW_VIEWER_BYTES;
            if !viewer.has_missed_broadcast {
                viewer.to_send.push_back(bytes.clone());
                viewer.bytes += bytes.len();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Queues a message for one viewer.
    pub(crate) fn answer(&self, viewer: u64, bytes: Arc<Vec<u8>>) {
        let mut state = self.state();
        if let Some(waiting) = state.viewers.get_mut(&viewer) {
            waiting.bytes += bytes.len();
            waiting.to_send.push_back(bytes);
            if waiting.bytes > MAX_UNSENT_BYTES {
                state.viewers.remove(&viewer);
            }
        }
        self.changed.notify_all();
    }

    /// Removes and returns the next message for a viewer; waits for one. `None` if the viewer is
    /// disconnected, or after the last message of a closed queue.
    pub(crate) fn next_for(&self, viewer: u64) -> Option<Arc<Vec<u8>>> {
        let mut state = self.state();
        loop {
            let (closed, latest) = (state.closed, state.latest.clone());
            let waiting = state.viewers.get_mut(&viewer)?;
            waiting.is_sending_message = false;
            if let Some(bytes) = waiting.to_send.pop_front() {
                waiting.is_sending_message = true;
                waiting.bytes -= bytes.len();
                return Some(bytes);
            }
            if std::mem::take(&mut waiting.has_missed_broadcast) && latest.is_some() {
                waiting.is_sending_message = true;
                return latest;
            }
            if closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// True if a message to any viewer is queued or being sent.
    pub(crate) fn is_sending(&self) -> bool {
        self.state().viewers.values().any(Viewer::has_unsent)
    }

    /// True if a message to the viewer is queued or being sent.
    pub(crate) fn is_sending_to(&self, viewer: u64) -> bool {
        self.state().viewers.get(&viewer).is_some_and(Viewer::has_unsent)
    }

    /// Closes the queue: no further requests, and connections end after their queued messages.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }
}
