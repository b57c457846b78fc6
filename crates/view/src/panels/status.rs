//! Frame rate and timings.

use std::collections::VecDeque;

use egui::{Grid, Ui};

/// Mean frame rate of the latest frames.
#[derive(Debug, Clone, Default)]
pub struct FrameRate {
    secs: VecDeque<f64>,
}

/// Number of frames in the mean frame rate.
const AVERAGED_FRAMES: usize = 8;

impl FrameRate {
    /// Adds the time of a frame in seconds.
    pub fn push(&mut self, secs: f64) {
        if self.secs.len() == AVERAGED_FRAMES {
            self.secs.pop_front();
        }
        self.secs.push_back(secs.max(1e-6));
    }

    /// Drops all frame times, for example before frames of another picture size.
    pub fn clear(&mut self) {
        self.secs.clear();
    }

    /// Frames per second; 0 before the first frame.
    fn per_sec(&self) -> f64 {
        if self.secs.is_empty() { 0.0 } else { self.secs.len() as f64 / self.secs.iter().sum::<f64>() }
    }

    /// Formats the frame rate for a status line.
    pub fn text(&self) -> String {
        match self.per_sec() {
            0.0 => "- frames/s".into(),
            rate if rate < 10.0 => format!("{rate:.1} frames/s"),
            rate => format!("{rate:.0} frames/s"),
        }
    }
}

/// Name of a part of a frame, and its time in seconds.
pub type Timing = (&'static str, f64);

/// Shows a table of the times of a frame.
pub fn timings(ui: &mut Ui, rows: &[Timing]) {
    Grid::new("timings").num_columns(2).spacing([24.0, 2.0]).show(ui, |ui| {
        for (name, secs) in rows {
            ui.label(*name);
            ui.monospace(format!("{:9.1} ms", secs * 1e3));
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_mean_of_latest_frames() {
        let mut rate = FrameRate::default();
        assert_eq!(rate.text(), "- frames/s");
        rate.push(1e9);
        (0..AVERAGED_FRAMES).for_each(|frame| rate.push(if frame % 2 == 0 { 0.25 } else { 0.75 }));
        assert_eq!(rate.per_sec(), 2.0);
        assert_eq!(rate.text(), "2.0 frames/s");
        rate.clear();
        rate.push(0.05);
        assert_eq!(rate.text(), "20 frames/s");
    }
}
