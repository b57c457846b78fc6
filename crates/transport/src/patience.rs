//! [`Patience`]: limits of the duration of a wait.

use std::time::Duration;

/// Limits of the duration of a wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    /// Time after which a warning names the awaited rank and the operation. The warning is repeated
    /// each time that the duration has doubled.
    pub warn_after: Duration,
    /// Time after which the wait fails. `None` sets no limit.
    pub timeout: Option<Duration>,
    /// True if an answer of another rank (see `wait_report.rs`) starts the time of `timeout` again.
    pub lenient: bool,
}

impl Patience {
    /// The limits for a rank whose program has finished: a warning after `timeout`, and a failure
    /// when no rank has answered for twice that time.
    pub(crate) fn at_the_end(self) -> Self {
        let timeout = self.timeout.map(|limit| limit.saturating_mul(2));
        Self { warn_after: self.timeout.unwrap_or(Duration::MAX), timeout, lenient: true }
    }
}
