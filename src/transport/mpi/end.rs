//! The end of a run: every message that was sent is received, wanted or not, so that none is left in MPI.
//!
//! All ranks take in what comes and add up, again and again, how many pieces they have sent and received. Nobody sends any more,
//! so that the sums are equal when nothing is on its way.

use std::rc::Rc;
use std::time::Instant;

use super::session;
use super::wire::Wire;
use crate::error::TransportError;
use crate::trace::say;
use crate::transport::Transport;
use crate::transport::wait::Patience;

impl Wire {
    /// Waits for the end of all ranks, for ever if all is well: others may compute for long. Where the run has failed, ranks
    /// that do not end within the limit are ended through the launcher.
    pub(super) fn end(self: &Rc<Self>, failed: bool, patience: &Patience) -> Result<(), TransportError> {
        let started = Instant::now();
        let mut sums = None;
        loop {
            while self.fetch(None, None)? {}
            self.arrivals.borrow_mut().discard(self.failure_tag(), &self.pool)?;
            self.hear()?;
            let quiet = self.settle_sends()? && self.arrivals.borrow_mut().settled()?;
            let own = [self.sent.get(), self.received.get()];
            let mut pending = match sums.take() {
                Some(pending) => pending,
                None if quiet => self.communicator.sum(own)?,
                None => {
                    self.pause(failed, started, patience);
                    continue;
                }
            };
            if pending.done()? {
                let [_, [sent, received]] =
                    *pending.into_held().ok_or(TransportError::Other("the end of a run was lost".into()))?;
                if sent == received {
                    return self.communicator.free();
                }
            } else {
                sums = Some(pending);
                self.pause(failed, started, patience);
            }
        }
    }

    fn pause(self: &Rc<Self>, failed: bool, started: Instant, patience: &Patience) {
        let failure = self.known_failure();
        let over = patience.timeout.is_some_and(|limit| started.elapsed() >= limit);
        if over && (failed || failure.is_some()) {
            let reason = failure.map_or_else(String::new, |failure| format!(": {}", crate::Error::from(failure)));
            let rank = self.place.rank;
            say(&format!("rank {rank} ends the job, as other ranks did not end after a failure{reason}"));
            session::abort(1);
        }
        self.idle();
    }
}
