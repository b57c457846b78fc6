//! End of a run: receives all sent messages, so that none remain in MPI.
//!
//! All ranks receive messages and repeatedly sum the numbers of sent and received pieces over all
//! ranks. At this stage, ranks only answer control messages, so equal sums show that no message is
//! in flight.

use std::rc::Rc;
use std::time::Duration;

use super::mpi_transport::MpiTransport;
use super::session;
use crate::Transport;
use crate::config::Settings;
use crate::grace_period::{GracePeriod, missing_ranks_message};
use zippy_base::error::{Error, TransportError};
use zippy_base::trace::say;

/// Supervision of ranks that do not return after a failure of the run.
struct Supervision {
    limit: Duration,
    /// Starts after this rank has received the failure and ended its own program.
    grace_period: Option<GracePeriod>,
    reported: bool,
}

impl MpiTransport {
    /// Waits for the end of all ranks and frees the communicator. Collective. `success` is true if
    /// this rank's program finished without error. Aborts the job if the run has failed and a rank
    /// does not end within the limit.
    pub(super) fn end(self: &Rc<Self>, success: bool, settings: &Settings) -> Result<(), TransportError> {
        self.set_progress(success)?;
        let limit = settings.wait_limits.timeout.unwrap_or(Duration::MAX);
        let mut supervision = Supervision { limit, grace_period: None, reported: false };
        let mut before = None;
        loop {
            self.receive_pending()?;
            if !self.release_completed_sends()? || !self.arrivals.borrow_mut().all_complete(None)? {
                self.idle_and_supervise(&mut supervision)?;
                continue;
            }
            // Ranks contribute at different times: only an unchanged sum is valid for all ranks.
            let sums = self.sum_over_ranks([self.total_sent(), self.total_received()], &mut supervision)?;
            if sums[0] == sums[1] && before == Some(sums) {
                break;
            }
            before = Some(sums);
        }
        self.handle_control_messages()?;
        if let Some(failure) = self.control.lowest_failure() {
            if settings.exit_on_failure && !supervision.reported && failure.rank == self.topology.rank {
                say(&Error::from(failure).to_string());
            }
            // Launchers end a job at its first failed process, so no process may exit before the
            // report.
            self.sum_over_ranks([0], &mut supervision)?;
        }
        self.free()
    }

    fn receive_pending(self: &Rc<Self>) -> Result<(), TransportError> {
        while self.fetch(None, None)? {}
        self.arrivals.borrow_mut().discard(self.control_tag(), &self.pool)?;
        self.handle_control_messages()
    }

    fn sum_over_ranks<const N: usize>(
        self: &Rc<Self>,
        own: [u64; N],
        supervision: &mut Supervision,
    ) -> Result<[u64; N], TransportError> {
        let mut pending = self.communicator()?.all_reduce_sum(own)?;
        while !pending.done()? {
            self.receive_pending()?;
            self.release_completed_sends()?;
            self.idle_and_supervise(supervision)?;
        }
        let [_, sums] = pending.into_buffer().ok_or(TransportError::Other("the end of a run was lost".into()))?;
        Ok(sums)
    }

    fn idle_and_supervise(self: &Rc<Self>, supervision: &mut Supervision) -> Result<(), TransportError> {
        if let Some(failure) = self.control.lowest_failure() {
            let grace_period = supervision.grace_period.get_or_insert_with(|| GracePeriod::new(supervision.limit));
            let (waited, report_after, rank) =
                (grace_period.elapsed(), grace_period.report_after(), self.topology.rank);
            if waited >= report_after / 2 {
                (0..self.topology.size)
                    .filter(|&peer| peer != rank)
                    .try_for_each(|peer| self.request_progress(peer))?;
            }
            // The failed rank reports; other ranks report only without its report.
            let is_failed_rank = failure.rank == rank;
            let missing = self.control.running_peers(rank);
            if is_failed_rank && waited >= report_after && !supervision.reported && !missing.is_empty() {
                supervision.reported = true;
                say(&missing_ranks_message(&missing, &failure, supervision.limit, false, "job"));
            }
            if waited >= supervision.limit.saturating_add(if is_failed_rank { Duration::ZERO } else { report_after }) {
                say(&missing_ranks_message(&missing, &failure, supervision.limit, true, "job"));
                session::abort(1);
            }
        }
        self.idle();
        Ok(())
    }
}
