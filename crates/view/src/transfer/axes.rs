//! Mapping between values, opacities and screen positions.

use egui::{Pos2, Rect, pos2};

/// Plot of a transfer function: values to the right, and square roots of opacities up, because
/// useful opacities are small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes {
    pub area: Rect,
    pub range: [f64; 2],
}

impl Axes {
    pub(super) fn x(&self, value: f64) -> f32 {
        let share = (value - self.range[0]) / (self.range[1] - self.range[0]);
        self.area.left() + share as f32 * self.area.width()
    }

    pub(super) fn y(&self, opacity: f64) -> f32 {
        self.area.bottom() - opacity.max(0.0).sqrt() as f32 * self.area.height()
    }

    pub(super) fn position(&self, [value, opacity]: [f64; 2]) -> Pos2 {
        pos2(self.x(value), self.y(opacity))
    }

    /// Returns the value at a screen position, also beyond the ends of the range.
    pub(super) fn value(&self, position: Pos2) -> f64 {
        let share = f64::from((position.x - self.area.left()) / self.area.width());
        self.range[0] + share * (self.range[1] - self.range[0])
    }

    /// Returns the opacity at a screen position, 0 to 1.
    pub(super) fn opacity(&self, position: Pos2) -> f64 {
        let height = f64::from((self.area.bottom() - position.y) / self.area.height());
        height.clamp(0.0, 1.0).powi(2)
    }
}
