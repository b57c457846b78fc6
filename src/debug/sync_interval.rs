//! [`SyncInterval`]: number of debug points between synchronizations of the ranks while the program
//! runs.

use std::time::{Duration, Instant};

/// Target time between two synchronizations.
const TARGET_TIME: Duration = Duration::from_millis(20);
/// Maximum number of debug points between two synchronizations.
const MAX_STEPS: u64 = 1 << 16;

/// Number of debug points between synchronizations, adapted to their rate.
#[derive(Debug)]
pub(super) struct SyncInterval {
    /// Debug point and time at which the program last continued.
    resumed: (u64, Instant),
    steps: u64,
}

impl SyncInterval {
    pub(super) fn new() -> Self {
        Self { resumed: (0, Instant::now()), steps: 1 }
    }

    /// Updates the interval when the program reaches a debug point at which ranks synchronize.
    pub(super) fn arrive(&mut self, step: u64) {
        let passed = step.saturating_sub(self.resumed.0).max(1);
        let seconds_per_step = self.resumed.1.elapsed().as_secs_f64() / passed as f64;
        let fits = (TARGET_TIME.as_secs_f64() / seconds_per_step.max(1e-9)) as u64;
        // The interval at most doubles: the next steps may take longer.
        self.steps = fits.clamp(1, MAX_STEPS).min(self.steps * 2);
    }

    /// Starts an interval at debug point `step`, and returns the number of the debug point that
    /// ends it.
    pub(super) fn resume(&mut self, step: u64) -> u64 {
        self.resumed = (step, Instant::now());
        step + self.steps
    }
}
