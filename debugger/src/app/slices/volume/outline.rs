//! Edges of the box and of its chunks, which show the orientation of a volume.

use zippy_protocol::ArrayEntry;
use zippy_render::volume::Camera;
use zippy_view::egui::{Align2, Color32, FontId, Painter, Rect, Stroke};
use zippy_view::seen_at;

use crate::app::format;
use crate::imaging::Subvolume;

/// Maximum number of chunks whose borders are drawn.
const MAX_CHUNKS: usize = 512;
const AXIS_COLOURS: [Color32; 3] =
    [Color32::from_rgb(240, 110, 100), Color32::from_rgb(120, 210, 120), Color32::from_rgb(110, 160, 255)];

/// Draws the box, its axes with their names, and the borders of the chunks that it cuts.
pub(super) fn paint(
    painter: &Painter,
    area: Rect,
    camera: &Camera,
    subvolume: &Subvolume,
    array: &ArrayEntry,
    borders: bool,
) {
    let extents = subvolume.extents(&array.shape);
    if borders && array.chunks.len() <= MAX_CHUNKS {
        for chunk in array.chunks.iter().filter(|chunk| has_cells_of_subvolume(subvolume, &chunk.start, &chunk.end)) {
            let [low, high] = [&chunk.start, &chunk.end].map(|at| subvolume.axes.map(|axis| at[axis]));
            draw_edges(painter, area, camera, low, high, Color32::from_white_alpha(50));
        }
    }
    draw_edges(painter, area, camera, [0; 3], extents, Color32::from_white_alpha(110));
    let origin = lower_corner([0; 3]);
    for side in 0..3 {
        let mut end = [0; 3];
        end[side] = extents[side];
        let (Some(from), Some(to)) = (seen_at(camera, area, origin), seen_at(camera, area, lower_corner(end))) else {
            continue;
        };
        painter.line_segment([from, to], Stroke::new(1.5, AXIS_COLOURS[side]));
        let by = (to - from).normalized() * 12.0;
        let name = format::axis(subvolume.axes[side]);
        painter.text(to + by, Align2::CENTER_CENTER, name, FontId::proportional(13.0), AXIS_COLOURS[side]);
    }
}

/// Returns the lower corner of a cell. The centre of cell 0 is the origin.
fn lower_corner(cell: [i64; 3]) -> [f64; 3] {
    cell.map(|at| at as f64 - 0.5)
}

fn has_cells_of_subvolume(subvolume: &Subvolume, start: &[i64], end: &[i64]) -> bool {
    let axes = subvolume.at.len();
    start.len() == axes
        && end.len() == axes
        && (0..axes)
            .all(|axis| subvolume.axes.contains(&axis) || (start[axis]..end[axis]).contains(&subvolume.at[axis]))
}

fn draw_edges(painter: &Painter, area: Rect, camera: &Camera, low: [i64; 3], high: [i64; 3], colour: Color32) {
    let stroke = Stroke::new(1.0, colour);
    for side in 0..3 {
        let [first, second] = [(side + 1) % 3, (side + 2) % 3];
        for (first_at, second_at) in
            [(low, low), (low, high), (high, low), (high, high)].map(|(a, b)| (a[first], b[second]))
        {
            let mut from = [0; 3];
            (from[side], from[first], from[second]) = (low[side], first_at, second_at);
            let mut to = from;
            to[side] = high[side];
            if let (Some(from), Some(to)) =
                (seen_at(camera, area, lower_corner(from)), seen_at(camera, area, lower_corner(to)))
            {
                painter.line_segment([from, to], stroke);
            }
        }
    }
}
