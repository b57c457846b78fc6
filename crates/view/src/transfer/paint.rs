//! Painting of the plot of a transfer function.

use egui::{Color32, Mesh, Painter, Pos2, Rect, Shape, Stroke, Visuals, pos2};
use zippy_render::volume::TransferFunction;

use super::axes::Axes;

/// Number of segments of the curve, in addition to its points.
const CURVE_SEGMENTS: usize = 160;

pub(super) fn colour32(parts: [f64; 3]) -> Color32 {
    let [red, green, blue] = parts.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
    Color32::from_rgb(red, green, blue)
}

/// Draws a strip of the colours along the values, as wide as `area`.
pub(super) fn colours(painter: &Painter, area: Rect, axes: &Axes, function: &TransferFunction) {
    let mut mesh = Mesh::default();
    for value in curve_values(axes, function.colour.iter().map(|point| point[0])) {
        let colour = colour32(function.colour_at(value));
        let next = mesh.vertices.len() as u32;
        mesh.colored_vertex(pos2(axes.x(value), area.top()), colour);
        mesh.colored_vertex(pos2(axes.x(value), area.bottom()), colour);
        if next > 0 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// Draws the opacities, filled with their colours.
pub(super) fn opacities(painter: &Painter, axes: &Axes, function: &TransferFunction, visuals: &Visuals) {
    let points = function.opacity.iter().map(|point| point[0]);
    let values = curve_values(axes, points.chain(function.colour.iter().map(|point| point[0])));
    let mut mesh = Mesh::default();
    let mut curve: Vec<Pos2> = Vec::with_capacity(values.len());
    for value in values {
        let position = axes.position([value, function.opacity_at(value)]);
        let colour = colour32(function.colour_at(value)).gamma_multiply(0.45);
        let next = mesh.vertices.len() as u32;
        mesh.colored_vertex(position, colour);
        mesh.colored_vertex(pos2(position.x, axes.area.bottom()), colour);
        if next > 0 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
        curve.push(position);
    }
    painter.add(Shape::mesh(mesh));
    painter.line(curve, Stroke::new(1.5, visuals.strong_text_color()));
}

/// Values at which the opacity curve is evaluated: equidistant values, and the points in the range.
/// At a step of the curve, both opacities are needed.
fn curve_values(axes: &Axes, points: impl Iterator<Item = f64>) -> Vec<f64> {
    let [low, high] = axes.range;
    let even = (0..=CURVE_SEGMENTS).map(|segment| low + (high - low) * segment as f64 / CURVE_SEGMENTS as f64);
    let inner = points.filter(|value| (low..=high).contains(value)).flat_map(|value| [value.next_down(), value]);
    let mut values: Vec<f64> = even.chain(inner.filter(|value| *value >= low)).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Draws the handle of an opacity point.
pub(super) fn knob(painter: &Painter, position: Pos2, fill: Color32, visuals: &Visuals, active: bool) {
    let edge = if active { visuals.selection.stroke.color } else { visuals.strong_text_color() };
    painter.circle(position, if active { 6.0 } else { 4.5 }, fill, Stroke::new(1.5, edge));
}

/// Draws the handle of a colour point: a pin below `top`.
pub(super) fn pin(painter: &Painter, top: Pos2, fill: Color32, visuals: &Visuals, active: bool) {
    let edge = if active { visuals.selection.stroke.color } else { visuals.strong_text_color() };
    let at = |x: f32, y: f32| top + egui::vec2(x, y);
    let outline = vec![at(0.0, 0.0), at(5.0, 6.0), at(5.0, 13.0), at(-5.0, 13.0), at(-5.0, 6.0)];
    painter.add(Shape::convex_polygon(outline, fill, Stroke::new(if active { 2.0 } else { 1.0 }, edge)));
}
