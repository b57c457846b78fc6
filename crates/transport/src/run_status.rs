//! [`RunStatus`]: state that the threads of a run share: its failure, and the finished and returned
//! ranks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::exit;
use super::grace_period::{GracePeriod, missing_ranks_message};
use zippy_base::error::Failure;
use zippy_base::trace::say;

pub(crate) struct RunStatus {
    failed: AtomicBool,
    finished: Vec<AtomicBool>,
    end_state: Mutex<EndState>,
    changed: Condvar,
}

struct EndState {
    failure: Option<Failure>,
    returned: Vec<bool>,
}

impl EndState {
    fn not_returned(&self) -> Vec<usize> {
        (0..self.returned.len()).filter(|&rank| !self.returned[rank]).collect()
    }
}

impl RunStatus {
    pub(crate) fn new(ranks: usize) -> Self {
        let finished = (0..ranks).map(|_| AtomicBool::new(false)).collect();
        let end_state = Mutex::new(EndState { failure: None, returned: vec![false; ranks] });
        Self { failed: AtomicBool::new(false), finished, end_state, changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, EndState> {
        self.end_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failure. Only the first counts.
    pub(crate) fn fail(&self, failure: &Failure) {
        self.lock().failure.get_or_insert_with(|| failure.clone());
        self.failed.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        if self.has_failed() { self.lock().failure.clone() } else { None }
    }

    /// Marks a rank's program as finished, after its last message.
    pub(crate) fn finish(&self, rank: usize) {
        self.finished[rank].store(true, Ordering::Release);
    }

    pub(crate) fn has_finished(&self, rank: usize) -> bool {
        self.finished[rank].load(Ordering::Acquire)
    }

    pub(crate) fn set_returned(&self, rank: usize) {
        self.lock().returned[rank] = true;
        self.changed.notify_all();
    }

    /// Waits until all rank threads have ended, without limit before a failure. After a failure, a
    /// rank that does not return within `limit` ends the process with code 1, since a thread cannot
    /// be stopped and borrows the caller's data.
    pub(crate) fn wait_for_all(&self, limit: Duration) {
        let incomplete = |end_state: &mut EndState| end_state.returned.contains(&false);
        let running = |end_state: &mut EndState| end_state.failure.is_none() && incomplete(end_state);
        drop(self.changed.wait_while(self.lock(), running).unwrap_or_else(PoisonError::into_inner));
        let grace_period = GracePeriod::new(limit);
        for (end, last) in [(grace_period.report_after(), false), (limit, true)] {
            let rest = end.saturating_sub(grace_period.elapsed());
            let waited = self.changed.wait_timeout_while(self.lock(), rest, incomplete);
            let (end_state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let (missing, Some(failure)) = (end_state.not_returned(), end_state.failure.clone()) else { return };
            drop(end_state);
            if missing.is_empty() {
                return;
            }
            say(&missing_ranks_message(&missing, &failure, limit, last, "process"));
        }
        exit::end(1);
    }
}
