//! How fast it goes.

use std::collections::VecDeque;

use egui::{Grid, Ui};

/// The rate of the last frames.
#[derive(Debug, Clone, Default)]
pub struct FrameRate {
    secs: VecDeque<f64>,
}

/// Frames that the rate is averaged over.
const FRAMES: usize = 8;

impl FrameRate {
    /// A frame took so many seconds.
    pub fn push(&mut self, secs: f64) {
        if self.secs.len() == FRAMES {
            self.secs.pop_front();
        }
        self.secs.push_back(secs.max(1e-6));
    }

    /// Frames of another kind follow.
    pub fn clear(&mut self) {
        self.secs.clear();
    }

    /// Frames per second; 0 before the first.
    fn per_sec(&self) -> f64 {
        if self.secs.is_empty() { 0.0 } else { self.secs.len() as f64 / self.secs.iter().sum::<f64>() }
    }

    /// For a status line.
    pub fn text(&self) -> String {
        match self.per_sec() {
            0.0 => "- frames/s".into(),
            rate if rate < 10.0 => format!("{rate:.1} frames/s"),
            rate => format!("{rate:.0} frames/s"),
        }
    }
}

/// A part of a frame and its seconds.
pub type Timing = (&'static str, f64);

/// A table of what a frame took.
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
    fn the_rate_is_that_of_the_last_frames() {
        let mut rate = FrameRate::default();
        assert_eq!(rate.text(), "- frames/s");
        rate.push(1e9);
        (0..FRAMES).for_each(|frame| rate.push(if frame % 2 == 0 { 0.25 } else { 0.75 }));
        assert_eq!(rate.per_sec(), 2.0);
        assert_eq!(rate.text(), "2.0 frames/s");
        rate.clear();
        rate.push(0.05);
        assert_eq!(rate.text(), "20 frames/s");
    }
}
