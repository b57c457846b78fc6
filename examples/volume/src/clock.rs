//! Phase times of this rank, and a progress bar.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy_render::volume::Frame;

use super::phase::{Phase, Times};

/// Measures the time of each phase and shows a progress bar on a terminal.
///
/// Every method that records or ignores an interval starts the next interval.
pub struct PhaseClock {
    interval_start: Instant,
    times: Times,
    bar: ProgressBar,
}

impl PhaseClock {
    /// Starts a clock whose first phase began at `started`. The bar is shown if `visible` and if
    /// there is a terminal.
    pub fn new(started: Instant, visible: bool) -> Self {
        let bar = if visible { ProgressBar::new(Phase::COUNT as u64) } else { ProgressBar::hidden() };
        set_style(&bar, "{elapsed:>4} [{bar:30}] {pos}/{len} {msg}");
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut clock = Self { interval_start: started, times: Times::default(), bar };
        clock.end(Phase::Start);
        clock
    }

    /// Records the interval in `phase` and starts the next phase.
    pub fn end(&mut self, phase: Phase) {
        self.record(phase);
        self.bar.set_position(phase as u64 + 1);
        self.bar.set_message(phase.next());
    }

    /// Records the interval in `phase`.
    pub fn record(&mut self, phase: Phase) {
        let now = Instant::now();
        self.times.phases[phase as usize] += (now - self.interval_start).as_secs_f64();
        self.interval_start = now;
    }

    /// Discards the time since the last call, and starts the next phase.
    pub fn skip(&mut self) {
        self.interval_start = Instant::now();
    }

    /// Shows the frames of a movie in the bar, with the estimated remaining time.
    pub fn start_movie(&mut self, count: u32) {
        set_style(&self.bar, "{elapsed:>4} [{bar:30}] frame {pos}/{len}, {eta} left");
        self.bar.set_length(count.into());
        self.bar.set_position(0);
        self.bar.reset_eta();
    }

    /// Records the interval as a frame that is not kept. It counts in no phase.
    pub fn end_trial_frame(&mut self) {
        self.times.add_frame(self.interval_start.elapsed().as_secs_f64());
        self.skip();
    }

    /// Records the interval as a kept frame. The part that `frame` did not measure is overhead.
    pub fn end_frame(&mut self, frame: &Frame) {
        self.times.add_frame(self.interval_start.elapsed().as_secs_f64());
        let parts = [frame.cast_secs, frame.composite_secs, frame.read_secs];
        for (phase, secs) in [Phase::Cast, Phase::Composite, Phase::Fetch].into_iter().zip(parts) {
            self.times.phases[phase as usize] += secs;
            self.times.phases[Phase::Overhead as usize] -= secs;
        }
        self.record(Phase::Overhead);
        self.bar.inc(1);
    }

    /// Removes the bar and returns the times.
    pub fn finish(self) -> Times {
        self.bar.finish_and_clear();
        self.times
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
