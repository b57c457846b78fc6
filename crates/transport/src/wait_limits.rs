//! [`WaitLimits`]: limits of the duration of a wait.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WaitLimits {
    /// Time before a warning with the awaited rank and the operation, repeated at each doubling.
    pub warn_after: Duration,
    /// Time before the wait fails, or `None` for no limit.
    pub timeout: Option<Duration>,
    /// True if an answer of another rank (see `wait_report.rs`) restarts `timeout`.
    pub restarts_on_answer: bool,
}

impl WaitLimits {
    /// Limits for a finished rank: a warning after `timeout`, and a failure after
    /// twice that time without an answer.
    pub(crate) fn after_finish(self) -> Self {
        let timeout = self.timeout.map(|limit| limit.saturating_mul(2));
        Self { warn_after: self.timeout.unwrap_or(Duration::MAX), timeout, restarts_on_answer: true }
    }
}
