//! A line of cells as a plot.

use std::rc::Rc;

use egui_plot::{Line as Curve, Plot, PlotPoint, PlotPoints, Points, VLine};
use zippy::debug::protocol::{Answer, ScalarValue};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{Color32, Ui, WidgetInfo};

use super::pane::Given;
use crate::app::pick::Cell;
use crate::app::words;
use crate::look::{Integers, Quantity, Slice, Values, Viewport};

/// Points are drawn apart where there are no more.
const MARKED: usize = 200;
/// Larger integers are not all numbers of a plot.
const DIGITS: f64 = (1_u64 << 53) as f64;
const COLOUR: Color32 = Color32::from_rgb(64, 132, 214);

/// What was plotted last.
#[derive(Default)]
pub struct Line {
    from: Option<(Rc<Answer>, Quantity)>,
    values: Option<Values>,
    error: Option<String>,
    /// From where to where it is seen.
    seen: Option<(f64, f64)>,
    of: Option<Slice>,
}

impl Line {
    /// The numbers that are plotted.
    pub fn values(&self) -> Option<&Values> {
        self.values.as_ref()
    }

    /// Shows the cells along the slice's first axis.
    pub fn show(&mut self, ui: &mut Ui, slice: &Slice, quantity: Quantity, mut given: Given) {
        let slice = Slice { up: None, ..slice.clone() };
        let array = given.array;
        let extent = array.shape[slice.across];
        if self.of.as_ref().is_none_or(|of| of.across != slice.across || of.at.len() != slice.at.len()) {
            *self = Self { of: Some(slice.clone()), ..Self::default() };
        }
        self.fetch(ui, &slice, quantity, &mut given);
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        let points = self.points(&slice);
        let few = points.len() <= MARKED;
        let axis = words::axis(slice.across);
        let pinned: Vec<i64> = given
            .picks
            .pinned()
            .filter(|cell| cell.array == array.array && slice.position(&cell.at).is_some())
            .filter_map(|cell| cell.at.get(slice.across).copied())
            .collect();
        let base = self.base();
        let mut plot = Plot::new(("line", slice.across)).x_axis_label(&axis).allow_scroll(false).include_x(0.0);
        if let Some(base) = base {
            plot = plot.y_axis_label(format!("less {base}"));
        }
        let shown = plot.include_x(extent as f64 - 1.0).show(ui, |plot| {
            if few {
                plot.points(Points::new("cells", PlotPoints::from(points.clone())).radius(2.5).color(COLOUR));
            }
            plot.line(Curve::new("cells", PlotPoints::from(points)).color(COLOUR));
            for at in pinned {
                plot.vline(VLine::new("pinned", at as f64));
            }
            let bounds = plot.plot_bounds();
            let at: Option<PlotPoint> = plot.pointer_coordinate();
            ((bounds.min()[0], bounds.max()[0]), at.map(|at| at.x))
        });
        let name = format!("line of {} along {axis}", words::title(array));
        shown.response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
        let ((low, high), at) = shown.inner;
        self.seen = (low.is_finite() && high.is_finite() && low < high).then_some((low, high));
        let inside = |at: f64| (0.0..extent as f64).contains(&at).then_some(at as i64);
        if let Some(at) = at.and_then(|at| inside(at.round())) {
            let mut index = slice.at.clone();
            index[slice.across] = at;
            let cell = Cell { array: array.array, chunk: None, at: index };
            given.picks.hovered = Some(cell.clone());
            if shown.response.clicked() {
                given.picks.toggle(array, cell);
            }
        }
    }

    /// Asks for what is seen.
    fn fetch(&mut self, ui: &Ui, slice: &Slice, quantity: Quantity, given: &mut Given) {
        let array = given.array;
        let extent = array.shape[slice.across] as f64;
        let (low, high) = self.seen.unwrap_or((0.0, extent));
        let (low, high) = (low.clamp(-1.0, extent), high.clamp(0.0, extent + 1.0));
        let width = f64::from(ui.available_width().max(64.0));
        let port = Viewport {
            corner: [0.0; 2],
            size: [width, 1.0],
            centre: [(low + high) / 2.0, 0.5],
            scale: (width / (high - low).max(1.0)).min(1.0),
        };
        let Some(numbers) = quantity.of(&array.element) else { return };
        let pixels = ui.ctx().pixels_per_point().into();
        let wanted = (Some(quantity.numbers), numbers.bytes());
        let Some(request) = port.request(slice, array.array, &array.shape, pixels, wanted) else { return };
        let found = given.store.view(request);
        self.error.clone_from(&found.error);
        let (Some(answer), Some(view)) = (found.answer(), found.view()) else { return };
        let same = self.from.as_ref().is_some_and(|(from, of)| Rc::ptr_eq(from, answer) && *of == quantity);
        if !same {
            self.from = Some((Rc::clone(answer), quantity));
            match Values::new(view, &array.element, quantity) {
                Ok(values) if values.extents.len() == array.shape.len() => self.values = Some(values),
                Ok(_) => self.error = Some("the view that came has other axes than the array".into()),
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Places and numbers; NaNs and infinities leave gaps.
    fn points(&self, slice: &Slice) -> Vec<[f64; 2]> {
        let Some(values) = &self.values else { return Vec::new() };
        let start = values.of.start[slice.across] as f64;
        let stride = values.of.stride[slice.across] as f64;
        let alone = values.extents.iter().enumerate().all(|(axis, &extent)| axis == slice.across || extent == 1);
        let base = self.base().unwrap_or(0.0.into());
        let numbers = values.scalars().take(if alone { usize::MAX } else { 0 });
        numbers.enumerate().map(|(place, number)| [start + stride * place as f64, number.minus(base)]).collect()
    }

    /// Number that is subtracted from integers with more digits than a plot has.
    fn base(&self) -> Option<ScalarValue> {
        let values = self.values.as_ref().filter(|values| matches!(values.integers, Integers::Wide(_)))?;
        let least = values.scalars().reduce(ScalarValue::min)?;
        let most = values.scalars().reduce(ScalarValue::max)?;
        (least.abs().max(most.abs()) > DIGITS.into()).then_some(least)
    }
}
