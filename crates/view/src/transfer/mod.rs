//! [`TransferEditor`]: editor of colours and opacities over a histogram of the values.

mod axes;
mod details;
mod handles;
mod paint;
mod points;

use egui::accesskit::Role;
use egui::{Rect, Response, Sense, Ui, WidgetInfo, pos2, vec2};
use zippy_render::volume::{Distribution, TransferFunction};

use crate::distribution;
use axes::Axes;
use handles::{Handle, HandleAction};

const PLOT_HEIGHT: f32 = 150.0;
const STRIP_HEIGHT: f32 = 14.0;
/// Height of the pins of the colour points.
const PIN_HEIGHT: f32 = 14.0;
const MARGIN: f32 = 7.0;

/// A point of a transfer function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Opacity(usize),
    Colour(usize),
}

/// Edits a transfer function.
///
/// * A click on the plot adds an opacity point; a click on the colour strip adds a colour point.
/// * A drag moves a point; a right click or Delete removes it.
/// * Keys: Tab selects the next point, arrows move it (with shift in small steps), Delete removes
///   it.
///
/// The plot shows square roots of opacities.
#[derive(Debug, Clone)]
pub struct TransferEditor {
    range: [f64; 2],
    values: Distribution,
    log: bool,
    selected: Option<Point>,
}

impl TransferEditor {
    /// Creates an editor for a volume with this distribution of values.
    pub fn new(values: Distribution) -> Self {
        let high = if values.max > values.min { values.max } else { values.min + 1.0 };
        Self { range: [values.min, high], values, log: true, selected: None }
    }

    /// Sets the distribution of a volume that changes. The selection stays.
    pub fn set_values(&mut self, values: Distribution) {
        *self = Self { log: self.log, selected: self.selected, ..Self::new(values) };
    }

    /// Returns true if the histogram is logarithmic.
    pub fn log(&self) -> bool {
        self.log
    }

    /// Shows the editor in the available width. Returns true after a change of the function.
    pub fn show(&mut self, ui: &mut Ui, function: &mut TransferFunction) -> bool {
        let before = function.clone();
        let size = vec2(ui.available_width().max(80.0), PLOT_HEIGHT + STRIP_HEIGHT + PIN_HEIGHT + MARGIN);
        let (whole, _) = ui.allocate_exact_size(size, Sense::hover());
        let inner = whole.shrink2(vec2(MARGIN, 0.0));
        let area = Rect::from_min_size(inner.min + vec2(0.0, MARGIN), vec2(inner.width(), PLOT_HEIGHT));
        let strip = Rect::from_min_size(area.left_bottom(), vec2(inner.width(), STRIP_HEIGHT));
        let axes = Axes { area, range: self.range };
        // Handles are registered later, so that they are above the plot.
        let plot = ui.interact(area, ui.scope_id().with("plot"), Sense::click());
        let colours = ui.interact(strip, ui.scope_id().with("strip"), Sense::click());
        self.add_points(&plot, &colours, &axes, function);
        self.paint_plot(ui, whole, strip, &axes, function);
        self.update_handles(ui, strip, &axes, function);
        self.show_selected_point(ui, function);
        *function != before
    }

    /// Adds a point after a click on an empty position.
    fn add_points(&mut self, plot: &Response, strip: &Response, axes: &Axes, function: &mut TransferFunction) {
        plot.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "opacities; click to add a point"));
        strip.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "colours; click to add a point"));
        if plot.clicked()
            && let Some(position) = plot.interact_pointer_pos()
        {
            let point = [axes.value(position), axes.opacity(position)];
            self.selected = Some(Point::Opacity(points::add(&mut function.opacity, point)));
        }
        if strip.clicked()
            && let Some(position) = strip.interact_pointer_pos()
        {
            let value = axes.value(position);
            let [red, green, blue] = function.colour_at(value);
            self.selected = Some(Point::Colour(points::add(&mut function.colour, [value, red, green, blue])));
        }
    }

    fn paint_plot(&self, ui: &Ui, whole: Rect, strip: Rect, axes: &Axes, function: &TransferFunction) {
        let visuals = ui.visuals();
        let painter = ui.painter().with_clip_rect(whole.intersect(ui.clip_rect()));
        painter.rect_filled(axes.area, 2.0, visuals.extreme_bg_color);
        let colour = visuals.weak_text_color().gamma_multiply(0.55);
        distribution::paint(&self.values, &painter, axes.area, axes.range, self.log, colour);
        paint::opacities(&painter.with_clip_rect(axes.area.expand(1.0)), axes, function, visuals);
        paint::colours(&painter.with_clip_rect(strip), strip, axes, function);
    }

    fn update_handles(&mut self, ui: &Ui, strip: Rect, axes: &Axes, function: &mut TransferFunction) {
        let mut removed = None;
        for number in 0..function.opacity.len() {
            let [value, opacity] = function.opacity[number];
            let colour = paint::colour32(function.colour_at(value));
            let point = Point::Opacity(number);
            let handle = Handle {
                centre: axes.position([value, opacity]),
                name: format!(
                    "opacity point {}: value {}, opacity {opacity:.3}",
                    number + 1,
                    format_rounded(value, self.range)
                ),
                id: ui.scope_id().with(("opacity", number)),
            };
            let action = handle.update(ui, axes, |response, position, active| {
                paint::knob(ui.painter(), position, colour, ui.visuals(), active || response.hovered());
            });
            match action {
                HandleAction::Nothing => continue,
                HandleAction::Selected => {}
                HandleAction::Moved(position) => {
                    points::shift(&mut function.opacity, number, axes.value(position), self.range);
                    function.opacity[number][1] = axes.opacity(position);
                }
                HandleAction::Removed => removed = Some(point),
            }
            self.selected = Some(point);
        }
        for number in 0..function.colour.len() {
            let [value, red, green, blue] = function.colour[number];
            let point = Point::Colour(number);
            let handle = Handle {
                centre: pos2(axes.x(value), strip.bottom() + PIN_HEIGHT / 2.0),
                name: format!("colour point {}: value {}", number + 1, format_rounded(value, self.range)),
                id: ui.scope_id().with(("colour", number)),
            };
            let colour = paint::colour32([red, green, blue]);
            let action = handle.update(ui, axes, |response, position, active| {
                let top = position - vec2(0.0, PIN_HEIGHT / 2.0);
                paint::pin(ui.painter(), top, colour, ui.visuals(), active || response.hovered());
            });
            match action {
                HandleAction::Nothing => continue,
                HandleAction::Selected => {}
                HandleAction::Moved(position) => {
                    points::shift(&mut function.colour, number, axes.value(position), self.range)
                }
                HandleAction::Removed => removed = Some(point),
            }
            self.selected = Some(point);
        }
        if let Some(point) = removed {
            self.remove_point(function, point);
        }
    }

    fn remove_point(&mut self, function: &mut TransferFunction, point: Point) {
        let _ = match point {
            Point::Opacity(number) => points::remove(&mut function.opacity, number),
            Point::Colour(number) => points::remove(&mut function.colour, number),
        };
        self.selected = None;
    }
}

/// Formats a value with the digits that the range requires.
fn format_rounded(value: f64, range: [f64; 2]) -> String {
    let digits = (3.0 - (range[1] - range[0]).log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}
