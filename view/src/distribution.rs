//! [`Distribution`]: how often values occur, drawn behind a transfer function.

use egui::{Color32, Mesh, Painter, Rect, Shape, pos2};

/// How often values occur: counts of even bins from `low` to `high`.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The lower end of the first bin.
    pub low: f64,
    /// The upper end of the last bin.
    pub high: f64,
    /// From the lowest bin to the highest.
    pub counts: Vec<u64>,
}

impl Distribution {
    /// The height of each bin, 0 to 1; `log`: the logarithms of the counts, so that rare values are seen.
    pub fn heights(&self, log: bool) -> Vec<f32> {
        let scale = |count: u64| if log { (count as f64 + 1.0).ln() } else { count as f64 };
        let most = scale(self.counts.iter().copied().max().unwrap_or(0)).max(f64::MIN_POSITIVE);
        self.counts.iter().map(|&count| (scale(count) / most) as f32).collect()
    }

    /// Draws the bins into `area`, whose width shows the values from `values[0]` to `values[1]`.
    pub(crate) fn paint(&self, painter: &Painter, area: Rect, values: [f64; 2], log: bool, colour: Color32) {
        let bin = (self.high - self.low) / self.counts.len().max(1) as f64;
        let x = |value: f64| area.left() + ((value - values[0]) / (values[1] - values[0])) as f32 * area.width();
        let mut mesh = Mesh::default();
        for (number, height) in self.heights(log).into_iter().enumerate() {
            let left = x(self.low + bin * number as f64).max(area.left());
            let right = x(self.low + bin * (number + 1) as f64).min(area.right());
            if height > 0.0 && left < right {
                let top = area.bottom() - height * area.height();
                mesh.add_colored_rect(Rect::from_min_max(pos2(left, top), pos2(right, area.bottom())), colour);
            }
        }
        painter.add(Shape::mesh(mesh));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_values_are_seen() {
        let found = Distribution { low: 0.0, high: 3.0, counts: vec![999, 0, 9] };
        assert_eq!(found.heights(false), [1.0, 0.0, 9.0 / 999.0]);
        let log = found.heights(true);
        assert_eq!(log[..2], [1.0, 0.0]);
        assert!((log[2] - 1.0 / 3.0).abs() < 1e-6, "{log:?}");
        let nothing = Distribution { counts: vec![0; 4], ..found };
        assert_eq!(nothing.heights(true), [0.0; 4]);
        assert_eq!(nothing.heights(false), [0.0; 4]);
    }
}
