//! Where values and opacities are on the screen.

use egui::{Pos2, Rect, pos2};

/// The plot of a transfer function: values to the right, square roots of opacities up, as useful opacities are small.
#[derive(Debug, Clone, Copy)]
pub struct Axes {
    pub area: Rect,
    pub range: [f64; 2],
}

impl Axes {
    pub fn x(&self, value: f64) -> f32 {
        let share = (value - self.range[0]) / (self.range[1] - self.range[0]);
        self.area.left() + share as f32 * self.area.width()
    }

    pub fn y(&self, opacity: f64) -> f32 {
        self.area.bottom() - opacity.max(0.0).sqrt() as f32 * self.area.height()
    }

    pub fn place(&self, [value, opacity]: [f64; 2]) -> Pos2 {
        pos2(self.x(value), self.y(opacity))
    }

    /// The value at a place; beyond the ends where the place is.
    pub fn value(&self, place: Pos2) -> f64 {
        let share = f64::from((place.x - self.area.left()) / self.area.width());
        self.range[0] + share * (self.range[1] - self.range[0])
    }

    /// The opacity at a place, 0 to 1.
    pub fn opacity(&self, place: Pos2) -> f64 {
        let height = f64::from((self.area.bottom() - place.y) / self.area.height());
        height.clamp(0.0, 1.0).powi(2)
    }
}
