//! Plot of a line of cells.

use std::rc::Rc;

use egui_plot::{Line as Curve, Plot, PlotPoint, PlotPoints, Points, VLine};
use zippy_protocol::{Answer, ScalarValue};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{Color32, Ui, WidgetInfo};

use super::pane::PaneContext;
use crate::app::format;
use crate::app::pick::Cell;
use crate::imaging::{Integers, Quantity, Slice, Values, Viewport};

/// Maximum number of cells with separate point marks.
const MAX_MARKS: usize = 200;
/// Largest magnitude at which a plot, which uses `f64`, distinguishes all integers.
const MAX_EXACT: f64 = (1_u64 << 53) as f64;
const LINE_COLOUR: Color32 = Color32::from_rgb(64, 132, 214);

/// The plot of a line and its latest values.
#[derive(Default)]
pub(super) struct Line {
    answer: Option<(Rc<Answer>, Quantity)>,
    values: Option<Values>,
    error: Option<String>,
    visible_range: Option<(f64, f64)>,
    slice: Option<Slice>,
}

impl Line {
    pub(super) fn values(&self) -> Option<&Values> {
        self.values.as_ref()
    }

    /// Plots the cells along the first axis of a slice.
    pub(super) fn show(&mut self, ui: &mut Ui, slice: &Slice, quantity: Quantity, mut context: PaneContext<'_>) {
        let slice = Slice { up: None, ..slice.clone() };
        let array = context.array;
        let extent = array.shape[slice.across];
        if self.slice.as_ref().is_none_or(|old| old.across != slice.across || old.at.len() != slice.at.len()) {
            *self = Self { slice: Some(slice.clone()), ..Self::default() };
        }
        self.request_visible_cells(ui, &slice, quantity, &mut context);
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        let points = self.points(&slice);
        let has_marks = points.len() <= MAX_MARKS;
        let axis = format::axis(slice.across);
        let pinned: Vec<i64> = context
            .picks
            .pinned()
            .filter(|cell| cell.array == array.array && slice.position(&cell.at).is_some())
            .filter_map(|cell| cell.at.get(slice.across).copied())
            .collect();
        let base = self.plot_base();
        let mut plot = Plot::new(("line", slice.across)).x_axis_label(&axis).allow_scroll(false).include_x(0.0);
        if let Some(base) = base {
            plot = plot.y_axis_label(format!("less {base}"));
        }
        let shown = plot.include_x(extent as f64 - 1.0).show(ui, |plot| {
            if has_marks {
                plot.points(Points::new("cells", PlotPoints::from(points.clone())).radius(2.5).color(LINE_COLOUR));
            }
            plot.line(Curve::new("cells", PlotPoints::from(points)).color(LINE_COLOUR));
            for at in pinned {
                plot.vline(VLine::new("pinned", at as f64));
            }
            let bounds = plot.plot_bounds();
            let at: Option<PlotPoint> = plot.pointer_coordinate();
            ((bounds.min()[0], bounds.max()[0]), at.map(|at| at.x))
        });
        let name = format!("line of {} along {axis}", format::title(array));
        shown.response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
        let ((low, high), at) = shown.inner;
        self.visible_range = (low.is_finite() && high.is_finite() && low < high).then_some((low, high));
        let inside = |at: f64| (0.0..extent as f64).contains(&at).then_some(at as i64);
        if let Some(at) = at.and_then(|at| inside(at.round())) {
            let mut index = slice.at.clone();
            index[slice.across] = at;
            let cell = Cell { array: array.array, chunk: None, at: index };
            context.picks.hovered = Some(cell.clone());
            if shown.response.clicked() {
                context.picks.toggle(array, cell);
            }
        }
    }

    /// Requests the cells of the line in the visible range of the plot.
    fn request_visible_cells(&mut self, ui: &Ui, slice: &Slice, quantity: Quantity, context: &mut PaneContext<'_>) {
        let array = context.array;
        let extent = array.shape[slice.across] as f64;
        let (low, high) = self.visible_range.unwrap_or((0.0, extent));
        let (low, high) = (low.clamp(-1.0, extent), high.clamp(0.0, extent + 1.0));
        let width = f64::from(ui.available_width().max(64.0));
        let port = Viewport {
            corner: [0.0; 2],
            size: [width, 1.0],
            centre: [(low + high) / 2.0, 0.5],
            scale: (width / (high - low).max(1.0)).min(1.0),
        };
        let Some(viewed) = quantity.viewed(&array.element) else { return };
        let pixels = ui.ctx().pixels_per_point().into();
        let Some(request) = port.request(slice, array.array, &array.shape, pixels, viewed) else { return };
        let found = context.store.view(request);
        self.error.clone_from(&found.error);
        let (Some(answer), Some(view)) = (found.answer(), found.view()) else { return };
        let same = self.answer.as_ref().is_some_and(|(old, of)| Rc::ptr_eq(old, answer) && *of == quantity);
        if !same {
            self.answer = Some((Rc::clone(answer), quantity));
            match Values::new(view, &array.element, quantity) {
                Ok(values) if values.extents.len() == array.shape.len() => self.values = Some(values),
                Ok(_) => self.error = Some("the view that came has other axes than the array".into()),
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Returns the points of the plot: index and value of each cell. NaNs and infinities leave
    /// gaps.
    fn points(&self, slice: &Slice) -> Vec<[f64; 2]> {
        let Some(values) = &self.values else { return Vec::new() };
        let start = values.of.start[slice.across] as f64;
        let stride = values.of.stride[slice.across] as f64;
        let is_line = values.extents.iter().enumerate().all(|(axis, &extent)| axis == slice.across || extent == 1);
        let base = self.plot_base().unwrap_or(0.0.into());
        let numbers = values.scalars().take(if is_line { usize::MAX } else { 0 });
        numbers.enumerate().map(|(index, number)| [start + stride * index as f64, number.minus(base)]).collect()
    }

    /// Returns the value that the plot subtracts from integers with more digits than an `f64` has.
    fn plot_base(&self) -> Option<ScalarValue> {
        let values = self.values.as_ref().filter(|values| matches!(values.integers, Integers::Wide(_)))?;
        let least = values.scalars().reduce(ScalarValue::min)?;
        let most = values.scalars().reduce(ScalarValue::max)?;
        (least.abs().max(most.abs()) > MAX_EXACT.into()).then_some(least)
    }
}
