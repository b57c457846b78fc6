//! How a rank waits: it polls, looks at the failure board, says after a while what it waits for, and gives up at last.

use std::time::{Duration, Instant};

use super::Group;
use crate::error::{CallSite, Result, TransportError};
use crate::trace::{self, SpanKind};

/// A wait that has taken so long listens to ranks that wait.
const LISTEN_AFTER: Duration = Duration::from_millis(1);
/// A wait that has taken so long asks whom it waits for; again when it has doubled, later at regular times.
const ASK_AFTER: Duration = Duration::from_millis(100);

/// A rank that waits only for short times listens so often.
const LISTEN_EVERY: Duration = Duration::from_millis(20);
/// Shorter waits are not kept in a timeline.
const SEEN: Duration = Duration::from_micros(20);

impl Group {
    /// Calls `step` until it returns a value, an error, or the run fails; the wait of every operation.
    ///
    /// `peer` is whom this rank waits for, if it knows. `step` must not block.
    ///
    /// # Errors
    /// What `step` returns; [`ErrorKind::Remote`](crate::error::ErrorKind::Remote) when another rank has failed;
    /// [`ErrorKind::Differing`](crate::error::ErrorKind::Differing) when ranks have called different operations;
    /// [`TransportError::Timeout`] after the limit, which the other ranks are told as this rank's failure.
    #[track_caller]
    pub fn wait_for<T>(&self, peer: Option<usize>, step: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        let _call = CallSite::enter();
        self.wait_in("a wait", peer, step)
    }

    /// [`wait_for`](Self::wait_for) in an operation that is named where no outer one is.
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
        let waited = self.wait_on(operation, peer, started, step);
        if trace::is_on() {
            let ended = Instant::now();
            if ended - started >= SEEN {
                let peer = peer.map(|peer| self.world_rank_of(peer));
                trace::add(SpanKind::Wait, &self.operation_text(operation), started, ended, peer);
            }
        }
        waited
    }

    fn wait_on<T>(
        &self,
        operation: &str,
        peer: Option<usize>,
        started: Instant,
        mut step: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        self.listen_now_and_then(started)?;
        let patience = self.patience();
        let (mut warn_after, mut ask_after) = (patience.warn_after, ASK_AFTER);
        // So often that a sign of life is not missed.
        let ask_every = patience.timeout.map_or(Duration::MAX, |limit| limit / 32);
        loop {
            if let Some(value) = step()? {
                return Ok(value);
            }
            self.alive()?;
            let waited = started.elapsed();
            if waited >= LISTEN_AFTER {
                self.hear()?;
            }
            if waited >= ask_after {
                ask_after = waited + waited.min(ask_every);
                self.ask(peer)?;
            }
            if waited >= warn_after {
                warn_after = warn_after.saturating_mul(2);
                let (peer, operation) = (self.peer_text(peer), self.operation_text(operation));
                let (rank, secs) = (self.world_rank(), waited.as_secs());
                trace::warn(&format!("rank {rank} waits for {peer} in {operation} since {secs} s"));
            }
            let heard = self.station().heard.get().filter(|&heard| patience.lenient && heard > started);
            let silent = heard.map_or(waited, |heard| heard.elapsed());
            if patience.timeout.is_some_and(|limit| silent >= limit) {
                let silence = if patience.lenient { ", without a sign of life for twice the limit," } else { "" };
                let error = TransportError::Timeout {
                    rank: self.world_rank(),
                    peer: self.peer_text(peer),
                    operation: self.operation_text(operation) + silence,
                    seconds: patience.timeout.unwrap_or_default().as_secs_f64(),
                };
                return Err(self.fail_in(operation, error.into()));
            }
            self.transport().idle();
        }
    }

    /// Listens to ranks that wait if that was long ago; whether it was. Who is never late for a message, or always, listens in
    /// no wait.
    pub(crate) fn listen_now_and_then(&self, now: Instant) -> Result<bool> {
        let listened = &self.station().listened;
        if listened.get().is_some_and(|last| now.duration_since(last) < LISTEN_EVERY) {
            return Ok(false);
        }
        listened.set(Some(now));
        self.hear()?;
        Ok(true)
    }

    fn peer_text(&self, peer: Option<usize>) -> String {
        peer.map_or_else(|| "the other ranks".to_owned(), |peer| format!("rank {}", self.world_rank_of(peer)))
    }
}
