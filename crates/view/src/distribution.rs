//! Histogram of values, for the background of a transfer function.

use egui::{Color32, Mesh, Painter, Rect, Shape, pos2};
use zippy_render::volume::Distribution;

/// Returns the drawn heights of histogram bins, 0 to 1. With `log`, heights are logarithms of
/// counts, so that rare values are visible.
fn bin_heights(counts: &[u64], log: bool) -> Vec<f32> {
    let scale = |count: u64| if log { (count as f64 + 1.0).ln() } else { count as f64 };
    let most = scale(counts.iter().copied().max().unwrap_or(0)).max(f64::MIN_POSITIVE);
    counts.iter().map(|&count| (scale(count) / most) as f32).collect()
}

/// Draws a histogram into `area`, with the values from `range[0]` to `range[1]` along the width.
pub(crate) fn paint(values: &Distribution, painter: &Painter, area: Rect, range: [f64; 2], log: bool, colour: Color32) {
    let bin = (values.max - values.min) / values.counts.len().max(1) as f64;
    let x = |value: f64| area.left() + ((value - range[0]) / (range[1] - range[0])) as f32 * area.width();
    let mut mesh = Mesh::default();
    for (number, height) in bin_heights(&values.counts, log).into_iter().enumerate() {
        let left = x(values.min + bin * number as f64).max(area.left());
        let right = x(values.min + bin * (number + 1) as f64).min(area.right());
        if height > 0.0 && left < right {
            let top = area.bottom() - height * area.height();
            mesh.add_colored_rect(Rect::from_min_max(pos2(left, top), pos2(right, area.bottom())), colour);
        }
    }
    painter.add(Shape::mesh(mesh));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_values_are_visible_with_logarithms() {
        let counts = [999, 0, 9];
        assert_eq!(bin_heights(&counts, false), [1.0, 0.0, 9.0 / 999.0]);
        let log = bin_heights(&counts, true);
        assert_eq!(log[..2], [1.0, 0.0]);
        assert!((log[2] - 1.0 / 3.0).abs() < 1e-6, "{log:?}");
        assert_eq!(bin_heights(&[0; 4], true), [0.0; 4]);
        assert_eq!(bin_heights(&[0; 4], false), [0.0; 4]);
    }
}
