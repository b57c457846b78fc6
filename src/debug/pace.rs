//! [`Pace`]: how often ranks meet while the program runs.

use std::time::{Duration, Instant};

/// So much time is to pass between two meetings.
const BETWEEN: Duration = Duration::from_millis(20);
/// So many debug points at most.
const MOST: u64 = 1 << 16;

/// Measures how fast debug points come.
#[derive(Debug)]
pub(super) struct Pace {
    /// The debug point at which the program last went on, and when.
    left: (u64, Instant),
    ahead: u64,
}

impl Pace {
    pub fn new() -> Self {
        Self { left: (0, Instant::now()), ahead: 1 }
    }

    /// The program has come to a debug point at which ranks meet.
    pub fn met(&mut self, step: u64) {
        let passed = step.saturating_sub(self.left.0).max(1);
        let each = self.left.1.elapsed().as_secs_f64() / passed as f64;
        let fits = (BETWEEN.as_secs_f64() / each.max(1e-9)) as u64;
        // Not all at once: the next ones may take longer.
        self.ahead = fits.clamp(1, MOST).min(self.ahead * 2);
    }

    /// It goes on: at which debug point to meet next.
    pub fn leave(&mut self, step: u64) -> u64 {
        self.left = (step, Instant::now());
        step + self.ahead
    }
}
