//! Time axis on the screen.

use zippy_view::egui::{Rect, remap};

/// Shortest visible time, in microseconds.
const MIN_RANGE: f64 = 1.0;
/// Longest visible time, in microseconds: one day.
const MAX_RANGE: f64 = 86_400e6;

/// Axis of time along the width of an area, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub area: Rect,
    pub visible: (f64, f64),
}

impl Axis {
    /// Returns the screen coordinate of a time.
    pub(super) fn x(&self, time: f64) -> f32 {
        let (from, to) = self.visible;
        let along = (time - from) / (to - from);
        self.area.left() + (along.clamp(-10.0, 10.0) as f32) * self.area.width()
    }

    /// Returns the time at a screen coordinate.
    pub(super) fn time(&self, x: f32) -> f64 {
        let width = f64::from(self.area.width().max(1.0));
        remap(f64::from(x - self.area.left()), 0.0..=width, self.visible.0..=self.visible.1)
    }

    /// Returns the visible range after a drag by `by` points.
    pub(super) fn panned(&self, by: f32) -> (f64, f64) {
        let by = self.time(self.area.left() + by) - self.visible.0;
        let by = by.min(self.visible.0);
        (self.visible.0 - by, self.visible.1 - by)
    }

    /// Returns the visible range with its length multiplied by `factor`. The time at `x` stays in
    /// position.
    pub(super) fn zoomed(&self, factor: f64, x: f32) -> (f64, f64) {
        let (from, to) = self.visible;
        let length = ((to - from) * factor).clamp(MIN_RANGE, MAX_RANGE);
        let at = self.time(x);
        let from = (at - (at - from) * length / (to - from)).max(0.0);
        (from, from + length)
    }

    /// Returns round times for labels, not more than fit.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let (from, to) = self.visible;
        let most = f64::from(self.area.width() / 90.0).max(1.0);
        let least = (to - from) / most;
        let ten = 10_f64.powf(least.max(1e-3).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * ten).into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(10.0 * ten);
        let first = (from / step).ceil();
        let count = ((to / step).floor() - first).clamp(-1.0, most + 1.0) as i64 + 1;
        (0..count).map(|number| (first + number as f64) * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_and_pan_keep_time_under_pointer() {
        let area = Rect::from_min_max([100.0, 0.0].into(), [300.0, 50.0].into());
        let axis = Axis { area, visible: (1000.0, 3000.0) };
        assert_eq!((axis.x(2000.0), axis.time(250.0)), (200.0, 2500.0));
        let nearer = Axis { visible: axis.zoomed(0.25, 250.0), ..axis };
        assert_eq!(nearer.visible, (2125.0, 2625.0));
        assert_eq!(nearer.time(250.0), 2500.0);
        assert_eq!(axis.panned(50.0), (500.0, 2500.0));
        assert_eq!(axis.panned(500.0), (0.0, 2000.0));
        assert_eq!(axis.ticks(), [1000.0, 2000.0, 3000.0]);
    }
}
