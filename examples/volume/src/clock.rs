//! Measures the phases of this rank, and shows them on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy_render::volume::Frame;

use super::phase::{Phase, Times};

/// The time of each phase so far.
pub struct Clock {
    since: Instant,
    times: Times,
    bar: ProgressBar,
}

impl Clock {
    /// The time since `started` belongs to the first phase. The bar is shown where `visible`, if there is a terminal.
    pub fn new(started: Instant, visible: bool) -> Self {
        let bar = if visible { ProgressBar::new(Phase::COUNT as u64) } else { ProgressBar::hidden() };
        style(&bar, "{elapsed:>4} [{bar:30}] {pos}/{len} {msg}");
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut clock = Self { since: started, times: Times::default(), bar };
        clock.end(Phase::Start);
        clock
    }

    /// The time since the last end belongs to this phase, the next one begins.
    pub fn end(&mut self, phase: Phase) {
        self.more(phase);
        self.bar.set_position(phase as u64 + 1);
        self.bar.set_message(phase.next());
    }

    /// The time since the last end belongs to this phase.
    pub fn more(&mut self, phase: Phase) {
        let now = Instant::now();
        self.times.phases[phase as usize] += (now - self.since).as_secs_f64();
        self.since = now;
    }

    /// The time since the last end belongs to no phase.
    pub fn skip(&mut self) {
        self.since = Instant::now();
    }

    /// From here on the bar counts the frames of a movie and says how long it still takes.
    pub fn frames(&mut self, count: u32) {
        style(&self.bar, "{elapsed:>4} [{bar:30}] frame {pos}/{len}, {eta} left");
        self.bar.set_length(count.into());
        self.bar.set_position(0);
        self.bar.reset_eta();
    }

    /// A frame is done, which began at the last end and is not kept: it counts in no phase.
    pub fn rehearsal(&mut self) {
        self.times.add_frame(self.since.elapsed().as_secs_f64());
        self.skip();
    }

    /// A frame is done, which began at the last end: what is not in the parts that it has measured itself is overhead.
    pub fn frame(&mut self, frame: &Frame) {
        self.times.add_frame(self.since.elapsed().as_secs_f64());
        let parts = [frame.cast_secs, frame.composite_secs, frame.read_secs];
        for (phase, secs) in [Phase::Cast, Phase::Composite, Phase::Fetch].into_iter().zip(parts) {
            self.times.phases[phase as usize] += secs;
            self.times.phases[Phase::Overhead as usize] -= secs;
        }
        self.more(Phase::Overhead);
        self.bar.inc(1);
    }

    /// What was measured.
    pub fn finish(self) -> Times {
        self.bar.finish_and_clear();
        self.times
    }
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
