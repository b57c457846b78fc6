//! The wait of every operation: polls for its event, checks for failures of other ranks, warns, and
//! fails after a time limit.

use std::time::{Duration, Instant};

use super::Group;
use zippy_base::error::{CallSite, Result, TransportError};
use zippy_base::trace::{self, SpanKind};

/// Duration of a wait before it polls for wait messages of other ranks.
const POLL_AFTER: Duration = Duration::from_millis(1);
/// Duration of a wait before the first wait report to the awaited rank. The interval doubles up to
/// a limit.
const REPORT_AFTER: Duration = Duration::from_millis(100);

/// Interval between polls for wait messages on a rank with only short waits.
const POLL_EVERY: Duration = Duration::from_millis(20);
/// Minimum duration of a wait in a timeline.
const SHORTEST_TRACED: Duration = Duration::from_micros(20);

impl Group {
    /// Calls `step` until it returns a value or an error, or the run fails. All operations wait by
    /// this function.
    ///
    /// `peer` is the awaited rank, or `None` for any rank. `step` must not block.
    ///
    /// # Errors
    /// * An error of `step`.
    /// * [`ErrorKind::Remote`](zippy_base::error::ErrorKind::Remote) if another rank has failed.
    /// * [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing) if ranks have called
    ///   different operations.
    /// * [`TransportError::Timeout`] after the limit, reported to all ranks as this rank's failure.
    #[track_caller]
    pub fn wait_for<T>(&self, peer: Option<usize>, step: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        let _call = CallSite::enter();
        self.wait_in("a wait", peer, step)
    }

    /// [`wait_for`](Self::wait_for) with a name for waits outside of a named operation.
    pub(crate) fn wait_in<T>(
        &self,
        operation: &str,
        peer: Option<usize>,
        mut step: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        if let Some(value) = step()? {
            return Ok(value);
        }
        let started = Instant::now();
        let waited = self.wait_until(operation, peer, started, step);
        if trace::is_on() {
            let ended = Instant::now();
            if ended - started >= SHORTEST_TRACED {
                let peer = peer.map(|peer| self.world_rank_of(peer));
                trace::add(SpanKind::Wait, &self.operation_text(operation), started, ended, peer);
            }
        }
        waited
    }

    fn wait_until<T>(
        &self,
        operation: &str,
        peer: Option<usize>,
        started: Instant,
        mut step: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        self.receive_wait_messages_if_due(started)?;
        let wait_limits = self.wait_limits();
        let (mut warn_after, mut report_after) = (wait_limits.warn_after, REPORT_AFTER);
        // Frequent enough to keep an answering rank below the limit.
        let report_every = wait_limits.timeout.map_or(Duration::MAX, |limit| limit / 32);
        loop {
            if let Some(value) = step()? {
                return Ok(value);
            }
            self.alive()?;
            let waited = started.elapsed();
            if waited >= POLL_AFTER {
                self.receive_wait_messages()?;
            }
            if waited >= report_after {
                report_after = waited + waited.min(report_every);
                self.report_wait(peer)?;
            }
            if waited >= warn_after {
                warn_after = warn_after.saturating_mul(2);
                let (peer, operation) = (self.peer_text(peer), self.operation_text(operation));
                let (rank, secs) = (self.world_rank(), waited.as_secs());
                trace::warn(&format!("rank {rank} waits for {peer} in {operation} since {secs} s"));
            }
            let acknowledged = self
                .rank_state()
                .last_acknowledged
                .get()
                .filter(|&time| wait_limits.restarts_on_answer && time > started);
            let silent = acknowledged.map_or(waited, |time| time.elapsed());
            if wait_limits.timeout.is_some_and(|limit| silent >= limit) {
                let unanswered =
                    if wait_limits.restarts_on_answer { ", without a sign of life for twice the limit," } else { "" };
                let error = TransportError::Timeout {
                    rank: self.world_rank(),
                    peer: self.peer_text(peer),
                    operation: self.operation_text(operation) + unanswered,
                    seconds: wait_limits.timeout.unwrap_or_default().as_secs_f64(),
                };
                return Err(self.fail_in(operation, error.into()));
            }
            self.transport().idle();
        }
    }

    /// Polls for wait messages if the last poll is older than `POLL_EVERY`. Returns true after a
    /// poll. Ranks with only short waits poll nowhere else.
    pub(crate) fn receive_wait_messages_if_due(&self, now: Instant) -> Result<bool> {
        let last_poll = &self.rank_state().last_poll;
        if last_poll.get().is_some_and(|last| now.duration_since(last) < POLL_EVERY) {
            return Ok(false);
        }
        last_poll.set(Some(now));
        self.receive_wait_messages()?;
        Ok(true)
    }

    fn peer_text(&self, peer: Option<usize>) -> String {
        peer.map_or_else(|| "the other ranks".to_owned(), |peer| format!("rank {}", self.world_rank_of(peer)))
    }
}
