//! The edges of the box and of its chunks, so that it can be told where a volume lies.

use zippy::debug::protocol::ArrayEntry;
use zippy_render::volume::Camera;
use zippy_view::egui::{Align2, Color32, FontId, Painter, Rect, Stroke};
use zippy_view::seen_at;

use crate::app::words;
use crate::look::Subvolume;

/// Of more chunks borders are not drawn.
const MOST_CHUNKS: usize = 512;
/// The colours of the three axes, at their beginning.
const AXES: [Color32; 3] =
    [Color32::from_rgb(240, 110, 100), Color32::from_rgb(120, 210, 120), Color32::from_rgb(110, 160, 255)];

/// Draws the box, its axes with their names, and where the chunks' borders cut it.
pub fn paint(painter: &Painter, area: Rect, camera: &Camera, subvolume: &Subvolume, array: &ArrayEntry, borders: bool) {
    let extents = subvolume.extents(&array.shape);
    if borders && array.chunks.len() <= MOST_CHUNKS {
        for chunk in array.chunks.iter().filter(|chunk| cuts(subvolume, &chunk.start, &chunk.end)) {
            let [low, high] = [&chunk.start, &chunk.end].map(|at| subvolume.axes.map(|axis| at[axis]));
            edges(painter, area, camera, low, high, Color32::from_white_alpha(50));
        }
    }
    edges(painter, area, camera, [0; 3], extents, Color32::from_white_alpha(110));
    let origin = corner([0; 3]);
    for side in 0..3 {
        let mut end = [0; 3];
        end[side] = extents[side];
        let (Some(from), Some(to)) = (seen_at(camera, area, origin), seen_at(camera, area, corner(end))) else {
            continue;
        };
        painter.line_segment([from, to], Stroke::new(1.5, AXES[side]));
        let by = (to - from).normalized() * 12.0;
        let name = words::axis(subvolume.axes[side]);
        painter.text(to + by, Align2::CENTER_CENTER, name, FontId::proportional(13.0), AXES[side]);
    }
}

/// Where the corner before a cell is; the middle of cell 0 is the origin.
fn corner(cell: [i64; 3]) -> [f64; 3] {
    cell.map(|at| at as f64 - 0.5)
}

/// Whether a box of the array has cells of the subvolume.
fn cuts(subvolume: &Subvolume, start: &[i64], end: &[i64]) -> bool {
    let axes = subvolume.at.len();
    start.len() == axes
        && end.len() == axes
        && (0..axes)
            .all(|axis| subvolume.axes.contains(&axis) || (start[axis]..end[axis]).contains(&subvolume.at[axis]))
}

fn edges(painter: &Painter, area: Rect, camera: &Camera, low: [i64; 3], high: [i64; 3], colour: Color32) {
    let stroke = Stroke::new(1.0, colour);
    for side in 0..3 {
        let [one, other] = [(side + 1) % 3, (side + 2) % 3];
        for (at_one, at_other) in [(low, low), (low, high), (high, low), (high, high)].map(|(a, b)| (a[one], b[other]))
        {
            let mut from = [0; 3];
            (from[side], from[one], from[other]) = (low[side], at_one, at_other);
            let mut to = from;
            to[side] = high[side];
            if let (Some(from), Some(to)) = (seen_at(camera, area, corner(from)), seen_at(camera, area, corner(to))) {
                painter.line_segment([from, to], stroke);
            }
        }
    }
}
