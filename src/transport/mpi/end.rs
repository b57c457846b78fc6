//! The end of a run: every message that was sent is received, wanted or not, so that none is left in MPI.
//!
//! All ranks take in what comes and add up, again and again, how many pieces they have sent and received. Nobody sends any more,
//! apart from answers to what it receives, so that the sums are equal when nothing is on its way.

use std::rc::Rc;
use std::time::Duration;

use super::session;
use super::wire::Wire;
use crate::error::{Error, TransportError};
use crate::trace::say;
use crate::transport::Transport;
use crate::transport::config::Settings;
use crate::transport::grace::{Grace, has_not_come_back};

/// Looks after ranks that do not come to the end of a run that has failed.
struct Away {
    limit: Duration,
    /// Since this rank has known of the failure and been through itself.
    grace: Option<Grace>,
    told: bool,
}

impl Wire {
    /// Waits for the end of all ranks, which have all come to the end of their programs if all is well. Where the run has
    /// failed, ranks that do not end within the limit are ended through the launcher.
    pub(super) fn end(self: &Rc<Self>, well: bool, settings: &Settings) -> Result<(), TransportError> {
        self.come_through(well)?;
        let limit = settings.patience.timeout.unwrap_or(Duration::MAX);
        let mut away = Away { limit, grace: None, told: false };
        let mut before = None;
        loop {
            self.take_in()?;
            if !self.settle_sends()? || !self.arrivals.borrow_mut().settled(None)? {
                self.pause(&mut away)?;
                continue;
            }
            // Ranks add theirs at different times: only what stays the same is true of all at once.
            let sums = self.summed([self.total_sent(), self.total_received()], &mut away)?;
            if sums[0] == sums[1] && before == Some(sums) {
                break;
            }
            before = Some(sums);
        }
        // All have been told of all failures; the last ones have only been received.
        self.hear()?;
        if let Some(failure) = self.control.lowest_failure() {
            if settings.exit_on_failure && !away.told && failure.rank == self.topology.rank {
                say(&Error::from(failure).to_string());
            }
            // Nobody exits before that has been said, as launchers end a job with its first process that fails.
            self.summed([0], &mut away)?;
        }
        self.free()
    }

    /// Takes in what comes.
    fn take_in(self: &Rc<Self>) -> Result<(), TransportError> {
        while self.fetch(None, None)? {}
        self.arrivals.borrow_mut().discard(self.control_tag(), &self.pool)?;
        self.hear()
    }

    /// Sums over all ranks. Takes in what comes meanwhile.
    fn summed<const N: usize>(self: &Rc<Self>, own: [u64; N], away: &mut Away) -> Result<[u64; N], TransportError> {
        let mut pending = self.communicator()?.sum(own)?;
        while !pending.done()? {
            self.take_in()?;
            self.settle_sends()?;
            self.pause(away)?;
        }
        let [_, sums] = pending.into_held().ok_or(TransportError::Other("the end of a run was lost".into()))?;
        Ok(sums)
    }

    fn pause(self: &Rc<Self>, away: &mut Away) -> Result<(), TransportError> {
        if let Some(failure) = self.control.lowest_failure() {
            let grace = away.grace.get_or_insert_with(|| Grace::new(away.limit));
            let (waited, told_after, rank) = (grace.elapsed(), grace.told_after(), self.topology.rank);
            if waited >= told_after / 2 {
                (0..self.topology.size).filter(|&peer| peer != rank).try_for_each(|peer| self.ask(peer))?;
            }
            // One rank speaks for all; the others do if it does not.
            let speaks = failure.rank == rank;
            let missing = self.control.away(rank);
            if speaks && waited >= told_after && !away.told && !missing.is_empty() {
                away.told = true;
                say(&has_not_come_back(&missing, &failure, away.limit, false, "job"));
            }
            if waited >= away.limit.saturating_add(if speaks { Duration::ZERO } else { told_after }) {
                say(&has_not_come_back(&missing, &failure, away.limit, true, "job"));
                session::abort(1);
            }
        }
        self.idle();
        Ok(())
    }
}
