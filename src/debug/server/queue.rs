//! [`Queue`]: what viewers have asked, and what is to be sent to each.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::debug::protocol::Ask;

/// A viewer that has asked so much more than was answered has to wait.
const MOST_ASKED: usize = 64;
/// A viewer for which so many bytes wait to be sent is let go.
const MOST_BYTES: usize = 64 << 20;
/// What not everybody needs to hear is not sent to one for whom so much waits.
const BEHIND: usize = 1 << 20;

/// Who asked what.
#[derive(Debug)]
pub struct Asked {
    pub viewer: u64,
    pub ask: Ask,
}

/// What threads of connections and the rank share.
#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    asked: VecDeque<Asked>,
    viewers: BTreeMap<u64, Viewer>,
    next: u64,
    /// What all were told last.
    latest: Option<Arc<Vec<u8>>>,
    closed: bool,
}

#[derive(Debug, Default)]
struct Viewer {
    to_send: VecDeque<Arc<Vec<u8>>>,
    bytes: usize,
    sending: bool,
    /// It was behind when all were told something.
    missed: bool,
}

impl Viewer {
    fn is_served(&self) -> bool {
        self.sending || self.missed || !self.to_send.is_empty()
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        // No thread leaves the state in between.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps all others waiting until the result is dropped.
    #[cfg(test)]
    pub fn hold(&self) -> impl Drop + '_ {
        self.state()
    }

    /// A new viewer, if there are fewer than `most`; `first` is sent to it ahead of all else, and then what all were told last.
    pub fn add(&self, most: usize, first: Vec<u8>) -> Option<u64> {
        let mut state = self.state();
        if state.viewers.len() >= most || state.closed {
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

    /// A viewer has gone.
    pub fn remove(&self, viewer: u64) {
        let mut state = self.state();
        state.viewers.remove(&viewer);
        state.asked.retain(|asked| asked.viewer != viewer);
        self.changed.notify_all();
    }

    /// A viewer asks; waits while it has asked too much. `false` when it has been let go.
    pub fn ask(&self, viewer: u64, ask: Ask) -> bool {
        let mut state = self.state();
        while !state.closed
            && state.viewers.contains_key(&viewer)
            && state.asked.iter().filter(|asked| asked.viewer == viewer).count() >= MOST_ASKED
        {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed || !state.viewers.contains_key(&viewer) {
            return false;
        }
        state.asked.push_back(Asked { viewer, ask });
        self.changed.notify_all();
        true
    }

    /// What was asked first; where there is nothing it waits for so long, or until viewers come or go.
    pub fn take(&self, patience: Duration) -> Option<Asked> {
        let until = Instant::now() + patience;
        let mut state = self.state();
        let viewers = state.next;
        loop {
            if let Some(asked) = state.asked.pop_front() {
                self.changed.notify_all();
                return Some(asked);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.next != viewers {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many viewers there are.
    pub fn viewers(&self) -> usize {
        self.state().viewers.len()
    }

    /// To be sent to all: to those that are behind when they are no more, unless something else is told before, and to those
    /// that come until then.
    pub fn tell(&self, bytes: &Arc<Vec<u8>>) {
        let mut state = self.state();
        state.latest = Some(bytes.clone());
        for viewer in state.viewers.values_mut() {
            viewer.missed = viewer.bytes >= BEHIND;
            if !viewer.missed {
                viewer.to_send.push_back(bytes.clone());
                viewer.bytes += bytes.len();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// To be sent to one.
    pub fn answer(&self, viewer: u64, bytes: Arc<Vec<u8>>) {
        let mut state = self.state();
        if let Some(waiting) = state.viewers.get_mut(&viewer) {
            waiting.bytes += bytes.len();
            waiting.to_send.push_back(bytes);
            if waiting.bytes > MOST_BYTES {
                state.viewers.remove(&viewer);
            }
        }
        self.changed.notify_all();
    }

    /// What is to be sent next to a viewer; waits for it. `None` when it has been let go and all is sent.
    pub fn next_for(&self, viewer: u64) -> Option<Arc<Vec<u8>>> {
        let mut state = self.state();
        loop {
            let (closed, latest) = (state.closed, state.latest.clone());
            let waiting = state.viewers.get_mut(&viewer)?;
            waiting.sending = false;
            if let Some(bytes) = waiting.to_send.pop_front() {
                waiting.sending = true;
                waiting.bytes -= bytes.len();
                return Some(bytes);
            }
            if std::mem::take(&mut waiting.missed) && latest.is_some() {
                waiting.sending = true;
                return latest;
            }
            if closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether something waits to be sent, or is being sent.
    pub fn is_sending(&self) -> bool {
        self.state().viewers.values().any(Viewer::is_served)
    }

    /// Whether something waits to be sent to a viewer, or is being sent.
    pub fn is_sending_to(&self, viewer: u64) -> bool {
        self.state().viewers.get(&viewer).is_some_and(Viewer::is_served)
    }

    /// Lets all go.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Whether all have been let go.
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }
}
