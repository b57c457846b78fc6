//! What ranks that are threads know of one another besides messages: the failure of the run, whose program has finished,
//! and who has come back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::exit;
use super::grace::{Grace, has_not_come_back};
use crate::error::Failure;
use crate::trace::say;

pub(crate) struct Board {
    failed: AtomicBool,
    finished: Vec<AtomicBool>,
    roll_call: Mutex<RollCall>,
    changed: Condvar,
}

struct RollCall {
    failure: Option<Failure>,
    /// By rank.
    back: Vec<bool>,
}

impl RollCall {
    fn away(&self) -> Vec<usize> {
        (0..self.back.len()).filter(|&rank| !self.back[rank]).collect()
    }
}

impl Board {
    pub(crate) fn new(ranks: usize) -> Self {
        let finished = (0..ranks).map(|_| AtomicBool::new(false)).collect();
        let roll_call = Mutex::new(RollCall { failure: None, back: vec![false; ranks] });
        Self { failed: AtomicBool::new(false), finished, roll_call, changed: Condvar::new() }
    }

    fn roll_call(&self) -> MutexGuard<'_, RollCall> {
        self.roll_call.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first failure stays.
    pub(crate) fn fail(&self, failure: &Failure) {
        self.roll_call().failure.get_or_insert_with(|| failure.clone());
        self.failed.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        if self.has_failed() { self.roll_call().failure.clone() } else { None }
    }

    /// A rank has posted all that its program sends.
    pub(crate) fn finish(&self, rank: usize) {
        self.finished[rank].store(true, Ordering::Release);
    }

    pub(crate) fn has_finished(&self, rank: usize) -> bool {
        self.finished[rank].load(Ordering::Acquire)
    }

    /// The thread of a rank ends.
    pub(crate) fn come_back(&self, rank: usize) {
        self.roll_call().back[rank] = true;
        self.changed.notify_all();
    }

    /// Returns when all ranks have come back: after any time, unless the run fails. Then ranks that do not come back
    /// within `limit` end the process, as a thread can neither be ended nor be left behind with what it borrows.
    pub(crate) fn wait_for_all(&self, limit: Duration) {
        let away = |roll_call: &mut RollCall| roll_call.back.contains(&false);
        let going_on = |roll_call: &mut RollCall| roll_call.failure.is_none() && away(roll_call);
        drop(self.changed.wait_while(self.roll_call(), going_on).unwrap_or_else(PoisonError::into_inner));
        let grace = Grace::new(limit);
        for (end, last) in [(grace.told_after(), false), (limit, true)] {
            let rest = end.saturating_sub(grace.elapsed());
            let waited = self.changed.wait_timeout_while(self.roll_call(), rest, away);
            let (roll_call, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let (missing, Some(failure)) = (roll_call.away(), roll_call.failure.clone()) else { return };
            drop(roll_call);
            if missing.is_empty() {
                return;
            }
            say(&has_not_come_back(&missing, &failure, limit, last, "process"));
        }
        exit::end(1);
    }
}
