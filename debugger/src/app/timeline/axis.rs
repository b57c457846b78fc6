//! Times on the screen.

use zippy_view::egui::{Rect, remap};

/// Less than this is not seen apart, in microseconds.
const LEAST: f64 = 1.0;
/// A day.
const MOST: f64 = 86_400e6;

/// Microseconds along the width of an area.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub area: Rect,
    pub seen: (f64, f64),
}

impl Axis {
    /// Where a time is.
    pub fn x(&self, time: f64) -> f32 {
        let (from, to) = self.seen;
        let along = (time - from) / (to - from);
        self.area.left() + (along.clamp(-10.0, 10.0) as f32) * self.area.width()
    }

    /// The time at a place.
    pub fn time(&self, x: f32) -> f64 {
        let width = f64::from(self.area.width().max(1.0));
        remap(f64::from(x - self.area.left()), 0.0..=width, self.seen.0..=self.seen.1)
    }

    /// What is seen after a drag by so many points.
    pub fn panned(&self, by: f32) -> (f64, f64) {
        let by = self.time(self.area.left() + by) - self.seen.0;
        let by = by.min(self.seen.0);
        (self.seen.0 - by, self.seen.1 - by)
    }

    /// What is seen when it is so many times as long; what is at `x` stays there.
    pub fn zoomed(&self, factor: f64, x: f32) -> (f64, f64) {
        let (from, to) = self.seen;
        let length = ((to - from) * factor).clamp(LEAST, MOST);
        let at = self.time(x);
        let from = (at - (at - from) * length / (to - from)).max(0.0);
        (from, from + length)
    }

    /// Round times, not more than there is room for.
    pub fn ticks(&self) -> Vec<f64> {
        let (from, to) = self.seen;
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
    fn zoom_and_pan_keep_what_is_under_the_pointer() {
        let area = Rect::from_min_max([100.0, 0.0].into(), [300.0, 50.0].into());
        let axis = Axis { area, seen: (1000.0, 3000.0) };
        assert_eq!((axis.x(2000.0), axis.time(250.0)), (200.0, 2500.0));
        let nearer = Axis { seen: axis.zoomed(0.25, 250.0), ..axis };
        assert_eq!(nearer.seen, (2125.0, 2625.0));
        assert_eq!(nearer.time(250.0), 2500.0);
        assert_eq!(axis.panned(50.0), (500.0, 2500.0));
        assert_eq!(axis.panned(500.0), (0.0, 2000.0));
        assert_eq!(axis.ticks(), [1000.0, 2000.0, 3000.0]);
    }
}
