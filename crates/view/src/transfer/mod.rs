//! [`TransferEditor`]: colours and opacities edited over the distribution of the values.

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
use handles::{Done, Handle};

const PLOT_HEIGHT: f32 = 150.0;
const STRIP_HEIGHT: f32 = 14.0;
/// Room for the pins of the colour points.
const PIN_HEIGHT: f32 = 14.0;
const MARGIN: f32 = 7.0;

/// A point of a transfer function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Opacity(usize),
    Colour(usize),
}

/// Edits a transfer function: a click on the plot adds an opacity point, one on the strip of colours a colour point; drags
/// move points; a right click or Delete removes them. With the keyboard: Tab goes from point to point, arrows move (finely
/// with shift), Delete removes. Opacities are drawn by their square roots.
#[derive(Debug, Clone)]
pub struct TransferEditor {
    range: [f64; 2],
    values: Distribution,
    log: bool,
    selected: Option<Point>,
}

impl TransferEditor {
    /// An editor for a volume of these values.
    pub fn new(values: Distribution) -> Self {
        let high = if values.max > values.min { values.max } else { values.min + 1.0 };
        Self { range: [values.min, high], values, log: true, selected: None }
    }

    /// Other values of the same volume, as while it changes; what is selected stays.
    pub fn set_values(&mut self, values: Distribution) {
        *self = Self { log: self.log, selected: self.selected, ..Self::new(values) };
    }

    /// Whether the distribution is drawn by the logarithms of its counts.
    pub fn log(&self) -> bool {
        self.log
    }

    /// Shows the function as wide as there is room, and changes it; whether it did.
    pub fn show(&mut self, ui: &mut Ui, function: &mut TransferFunction) -> bool {
        let before = function.clone();
        let size = vec2(ui.available_width().max(80.0), PLOT_HEIGHT + STRIP_HEIGHT + PIN_HEIGHT + MARGIN);
        let (whole, _) = ui.allocate_exact_size(size, Sense::hover());
        let inner = whole.shrink2(vec2(MARGIN, 0.0));
        let area = Rect::from_min_size(inner.min + vec2(0.0, MARGIN), vec2(inner.width(), PLOT_HEIGHT));
        let strip = Rect::from_min_size(area.left_bottom(), vec2(inner.width(), STRIP_HEIGHT));
        let axes = Axes { area, range: self.range };
        // Before the handles, which lie on top.
        let plot = ui.interact(area, ui.scope_id().with("plot"), Sense::click());
        let colours = ui.interact(strip, ui.scope_id().with("strip"), Sense::click());
        self.added(&plot, &colours, &axes, function);
        self.paint(ui, whole, strip, &axes, function);
        self.handles(ui, strip, &axes, function);
        self.details(ui, function);
        *function != before
    }

    /// A click where no point is makes one.
    fn added(&mut self, plot: &Response, strip: &Response, axes: &Axes, function: &mut TransferFunction) {
        plot.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "opacities; click to add a point"));
        strip.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "colours; click to add a point"));
        if plot.clicked()
            && let Some(place) = plot.interact_pointer_pos()
        {
            let point = [axes.value(place), axes.opacity(place)];
            self.selected = Some(Point::Opacity(points::add(&mut function.opacity, point)));
        }
        if strip.clicked()
            && let Some(place) = strip.interact_pointer_pos()
        {
            let value = axes.value(place);
            let [red, green, blue] = function.colour_at(value);
            self.selected = Some(Point::Colour(points::add(&mut function.colour, [value, red, green, blue])));
        }
    }

    fn paint(&self, ui: &Ui, whole: Rect, strip: Rect, axes: &Axes, function: &TransferFunction) {
        let visuals = ui.visuals();
        let painter = ui.painter().with_clip_rect(whole.intersect(ui.clip_rect()));
        painter.rect_filled(axes.area, 2.0, visuals.extreme_bg_color);
        let colour = visuals.weak_text_color().gamma_multiply(0.55);
        distribution::paint(&self.values, &painter, axes.area, axes.range, self.log, colour);
        paint::opacities(&painter.with_clip_rect(axes.area.expand(1.0)), axes, function, visuals);
        paint::colours(&painter.with_clip_rect(strip), strip, axes, function);
    }

    fn handles(&mut self, ui: &Ui, strip: Rect, axes: &Axes, function: &mut TransferFunction) {
        let mut removed = None;
        for number in 0..function.opacity.len() {
            let [value, opacity] = function.opacity[number];
            let colour = paint::colour32(function.colour_at(value));
            let point = Point::Opacity(number);
            let handle = Handle {
                centre: axes.place([value, opacity]),
                name: format!(
                    "opacity point {}: value {}, opacity {opacity:.3}",
                    number + 1,
                    rounded(value, self.range)
                ),
                id: ui.scope_id().with(("opacity", number)),
            };
            let done = handle.update(ui, axes, |response, place, active| {
                paint::knob(ui.painter(), place, colour, ui.visuals(), active || response.hovered());
            });
            match done {
                Done::Nothing => continue,
                Done::Selected => {}
                Done::Moved(place) => {
                    points::shift(&mut function.opacity, number, axes.value(place), self.range);
                    function.opacity[number][1] = axes.opacity(place);
                }
                Done::Removed => removed = Some(point),
            }
            self.selected = Some(point);
        }
        for number in 0..function.colour.len() {
            let [value, red, green, blue] = function.colour[number];
            let point = Point::Colour(number);
            let handle = Handle {
                centre: pos2(axes.x(value), strip.bottom() + PIN_HEIGHT / 2.0),
                name: format!("colour point {}: value {}", number + 1, rounded(value, self.range)),
                id: ui.scope_id().with(("colour", number)),
            };
            let colour = paint::colour32([red, green, blue]);
            let done = handle.update(ui, axes, |response, place, active| {
                let top = place - vec2(0.0, PIN_HEIGHT / 2.0);
                paint::pin(ui.painter(), top, colour, ui.visuals(), active || response.hovered());
            });
            match done {
                Done::Nothing => continue,
                Done::Selected => {}
                Done::Moved(place) => points::shift(&mut function.colour, number, axes.value(place), self.range),
                Done::Removed => removed = Some(point),
            }
            self.selected = Some(point);
        }
        if let Some(point) = removed {
            self.remove(function, point);
        }
    }

    fn remove(&mut self, function: &mut TransferFunction, point: Point) {
        let _ = match point {
            Point::Opacity(number) => points::remove(&mut function.opacity, number),
            Point::Colour(number) => points::remove(&mut function.colour, number),
        };
        self.selected = None;
    }
}

/// A value with as many digits as the range asks for.
fn rounded(value: f64, range: [f64; 2]) -> String {
    let digits = (3.0 - (range[1] - range[0]).log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}
