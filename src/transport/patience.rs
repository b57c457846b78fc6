//! How long waits may take.

use std::time::Duration;

/// How patient waits are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    /// After this time a warning names peer and operation; again each time it has doubled.
    pub warn_after: Duration,
    /// After this time the wait fails; `None` waits for ever.
    pub timeout: Option<Duration>,
    /// Whether that time counts from the last sign of life of a rank that was asked for one.
    pub lenient: bool,
}

impl Patience {
    /// That of a rank that has finished.
    pub(crate) fn at_the_end(self) -> Self {
        let timeout = self.timeout.map(|limit| limit.saturating_mul(2));
        Self { warn_after: self.timeout.unwrap_or(Duration::MAX), timeout, lenient: true }
    }
}
