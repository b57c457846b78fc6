//! Histogram with draggable ends of the colour range, above a colour bar.

use zippy_protocol::ScalarValue;
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{
    Align2, Color32, EventFilter, FontId, Id, Key, Mesh, Painter, Rect, Sense, Shape, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use super::bins::Bins;
use crate::app::format;
use crate::imaging::Colouring;

const HISTOGRAM_HEIGHT: f32 = 84.0;
const COLOUR_BAR_HEIGHT: f32 = 14.0;
const TEXT_HEIGHT: f32 = 16.0;
/// Half of the width of a handle, in points.
const HANDLE_REACH: f32 = 6.0;

/// Axis of values along the width of an area.
struct Axis {
    area: Rect,
    low: ScalarValue,
    width: f64,
}

impl Axis {
    fn high(&self) -> ScalarValue {
        self.low.plus(self.width)
    }

    fn x(&self, value: ScalarValue) -> f32 {
        let share = (value.minus(self.low) / self.width).clamp(0.0, 1.0);
        self.area.left() + share as f32 * self.area.width()
    }

    fn value(&self, x: f32) -> ScalarValue {
        let share = f64::from((x - self.area.left()) / self.area.width().max(1.0)).clamp(0.0, 1.0);
        self.low.plus(share * self.width)
    }
}

/// Shows the histogram. Returns the new ends of the range after a drag.
pub(super) fn show(
    ui: &mut Ui,
    bins: &Bins,
    ends: Option<(ScalarValue, ScalarValue)>,
    colouring: Option<&Colouring>,
    log: bool,
) -> Option<(ScalarValue, ScalarValue)> {
    let size = vec2(ui.available_width().clamp(120.0, 600.0), HISTOGRAM_HEIGHT + COLOUR_BAR_HEIGHT + TEXT_HEIGHT);
    let (whole, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "histogram"));
    let inner = whole.shrink2(vec2(HANDLE_REACH, 0.0));
    let area = inner.with_max_y(inner.top() + HISTOGRAM_HEIGHT);
    let bar = Rect::from_min_size(area.left_bottom(), vec2(area.width(), COLOUR_BAR_HEIGHT));
    let axis = axis_of_bins(area, bins, ends);
    let painter = ui.painter_at(whole);
    painter.rect_filled(area, 2.0, ui.visuals().extreme_bg_color);
    draw_counts(&painter, &axis, bins, log, ui.visuals().weak_text_color());
    if let Some(colouring) = colouring {
        draw_colours(&painter, bar, &axis, colouring);
    }
    let font = FontId::proportional(11.0);
    let text_colour = ui.visuals().text_color();
    let (left, right) = format::pair(axis.low, axis.high());
    painter.text(bar.left_bottom(), Align2::LEFT_TOP, left, font.clone(), text_colour);
    painter.text(bar.right_bottom(), Align2::RIGHT_TOP, right, font, text_colour);
    let (low, high) = ends?;
    let (low_text, high_text) = format::pair(low, high);
    let moved_low = show_handle(ui, &axis, bar, low, HandleLabel { name: "low end of the colours", number: &low_text });
    let moved_high =
        show_handle(ui, &axis, bar, high, HandleLabel { name: "high end of the colours", number: &high_text });
    match (moved_low, moved_high) {
        (None, None) => None,
        (low_to, high_to) => {
            let (to_low, to_high) = (low_to.unwrap_or(low), high_to.unwrap_or(high));
            // The moved end stops at the other end.
            Some(if low_to.is_some() { (to_low.min(to_high), to_high) } else { (to_low, to_high.max(to_low)) })
        }
    }
}

/// Returns an axis that contains the bins and the ends. Its width is never 0.
fn axis_of_bins(area: Rect, bins: &Bins, ends: Option<(ScalarValue, ScalarValue)>) -> Axis {
    let (mut low, mut high) = bins.range;
    if let Some((from, to)) = ends {
        (low, high) = (low.min(from), high.max(to));
    }
    let width = high.minus(low);
    if width > 0.0 && width.is_finite() {
        return Axis { area, low, width };
    }
    let reach = (low.to_f64().abs() * 0.5).clamp(0.5, 1e300);
    Axis { area, low: low.plus(-reach), width: 2.0 * reach }
}

fn draw_counts(painter: &Painter, axis: &Axis, bins: &Bins, log: bool, colour: Color32) {
    let scale = |count: u64| if log { (count as f64).ln_1p() } else { count as f64 };
    let most = scale(bins.counts.iter().copied().max().unwrap_or(0)).max(f64::MIN_POSITIVE);
    let (low, high) = bins.range;
    let width = high.minus(low) / bins.counts.len().max(1) as f64;
    let mut mesh = Mesh::default();
    for (number, &count) in bins.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let left = axis.x(low.plus(width * number as f64));
        let right = axis.x(low.plus(width * (number + 1) as f64)).max(left + 1.0);
        let top = axis.area.bottom() - (scale(count) / most) as f32 * (axis.area.height() - 4.0);
        mesh.add_colored_rect(Rect::from_min_max(pos2(left, top), pos2(right, axis.area.bottom())), colour);
    }
    painter.add(Shape::mesh(mesh));
}

fn draw_colours(painter: &Painter, bar: Rect, axis: &Axis, colouring: &Colouring) {
    let mut mesh = Mesh::default();
    let mut x = bar.left();
    while x < bar.right() {
        let next = (x + 1.0).min(bar.right());
        let [red, green, blue] = colouring.of(axis.value((x + next) / 2.0));
        let rect = Rect::from_min_max(pos2(x, bar.top()), pos2(next, bar.bottom()));
        mesh.add_colored_rect(rect, Color32::from_rgb(red, green, blue));
        x = next;
    }
    painter.add(Shape::mesh(mesh));
}

/// Name of a handle, and the text of its value.
struct HandleLabel<'a> {
    name: &'a str,
    number: &'a str,
}

/// Shows a handle that can be dragged and moved with keys. Returns its new value.
fn show_handle(ui: &Ui, axis: &Axis, bar: Rect, value: ScalarValue, label: HandleLabel<'_>) -> Option<ScalarValue> {
    let HandleLabel { name, number } = label;
    let x = axis.x(value);
    let rect = Rect::from_min_max(pos2(x - HANDLE_REACH, axis.area.top()), pos2(x + HANDLE_REACH, bar.bottom()));
    let id: Id = ui.scope_id().with(name);
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let text = format!("{name}: {number}");
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &text));
    if response.clicked() || response.drag_started() {
        response.request_focus();
    }
    let active = response.has_focus() || response.dragged() || response.hovered();
    let colour = if active { Color32::WHITE } else { ui.visuals().text_color() };
    let painter = ui.painter_at(rect);
    painter.vline(x, rect.y_range(), Stroke::new(if active { 2.0 } else { 1.0 }, colour));
    let knob = Rect::from_center_size(pos2(x, axis.area.top() + 6.0), vec2(9.0, 12.0));
    painter.rect_filled(knob, 2.0, colour);
    if response.dragged()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        return Some(axis.value(pointer.x)).filter(|to| *to != value);
    }
    if response.has_focus() {
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let presses = |key| ui.input(|input| input.num_presses(key)) as f64;
        let right = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
        if right != 0.0 {
            return Some(value.plus(right * axis.width / 50.0));
        }
    }
    None
}
