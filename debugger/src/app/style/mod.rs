//! Colour settings: map, range and norm, with a histogram of the numbers.

mod bins;
mod histogram;

use std::ops::RangeInclusive;

use zippy_protocol::{ArrayEntry, Component, ScalarValue, SummaryRequest};
use zippy_view::egui::{ComboBox, DragValue, Grid, Response, Ui};

use super::format;
use super::store::Store;
use crate::imaging::{ColourMap, Colouring, Norm, Quantity, Range, Scale, Values, VectorPart};
use bins::Bins;

/// Number of bins of the histogram.
const HISTOGRAM_BINS: u16 = 128;
/// Maximum total length, in letters, of two numbers on one line. Longer numbers each get a line.
const MAX_LINE_LETTERS: usize = 24;

/// Colour settings of an array.
#[derive(Debug, Clone)]
pub(super) struct Style {
    map: &'static ColourMap,
    range: Range,
    norm: Norm,
    /// Ends of the colour range that stay the same in all steps.
    locked: Option<(ScalarValue, ScalarValue)>,
    /// Ends of the colour range in the latest frame.
    ends: Option<(ScalarValue, ScalarValue)>,
    percentiles: (f64, f64),
    linear_size: f64,
    has_log_counts: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            map: ColourMap::first(),
            range: Range::Extremes,
            norm: Norm::Linear,
            locked: None,
            ends: None,
            percentiles: (1.0, 99.0),
            linear_size: 1e-3,
            has_log_counts: true,
        }
    }
}

/// Statistics of the numbers to colour.
#[derive(Debug, Clone, Default)]
pub(super) struct NumberStatistics {
    /// Statistics of the whole array.
    component: Option<Component>,
    /// Statistics of the numbers above 0, for a logarithmic norm.
    positive: Option<Component>,
    bins: Option<Bins>,
    error: Option<String>,
}

impl NumberStatistics {
    /// Requests the statistics that a style needs to colour a quantity of an array. `values` are
    /// the visible values.
    pub(super) fn new(
        store: &mut Store,
        array: &ArrayEntry,
        quantity: Quantity,
        style: &Style,
        values: Option<&Values>,
    ) -> Self {
        let (length, number) = match quantity.part {
            VectorPart::Component(number) => (false, usize::from(number)),
            VectorPart::Length => (true, 0),
        };
        let percentiles = if let Range::Percentile(low, high) = style.range { vec![low, high] } else { Vec::new() };
        let base_request = SummaryRequest { length, percentiles, ..SummaryRequest::of(array.array, quantity.numbers) };
        let mut component = |request: SummaryRequest| {
            let found = store.summary(request);
            let mut component = found.summary().and_then(|summary| summary.components.get(number).cloned());
            if let Some(component) = component.as_mut().filter(|_| length) {
                widen_lengths(component);
            }
            (component, found.error)
        };
        let positive =
            (style.norm == Norm::Log).then(|| component(SummaryRequest { positive: true, ..base_request.clone() }).0);
        let (component, error) = component(SummaryRequest { bins: HISTOGRAM_BINS, ..base_request });
        // Without a summary, as with a coarse recording, the histogram counts the visible values.
        let bins = component.as_ref().map(Bins::from).or_else(|| Bins::of(values?, usize::from(HISTOGRAM_BINS)));
        Self { component, positive: positive.flatten(), bins, error }
    }
}

/// Widens the range of vector lengths by a few units in the last place. Summaries round lengths to
/// `f32`, and device results differ by a few units, but painted lengths are exact. Without the
/// widening, the smallest and largest lengths would lie outside of the range.
fn widen_lengths(component: &mut Component) {
    let share = 4.0 * f64::from(f32::EPSILON);
    let outwards = |(low, high): (ScalarValue, ScalarValue)| {
        (ScalarValue::Float(low.to_f64() * (1.0 - share)), ScalarValue::Float(high.to_f64() * (1.0 + share)))
    };
    component.extremes = component.extremes.map(outwards);
    if let [low, high] = component.percentiles[..] {
        component.percentiles = <[ScalarValue; 2]>::from(outwards((low, high))).into();
    }
}

impl Style {
    /// Returns the colours for the visible values.
    ///
    /// # Errors
    /// A logarithmic norm has no number above 0, or a range of the user that includes 0.
    pub(super) fn colouring(&mut self, statistics: &NumberStatistics, values: &Values) -> Result<Colouring, String> {
        let whole = if self.norm == Norm::Log { &statistics.positive } else { &statistics.component };
        let ends = self.locked.or_else(|| match (whole, self.range) {
            (Some(component), range) => range.of_summary(component, self.norm),
            (None, range) => range.of(values.scalars(), self.norm),
        });
        let ends = match (ends, self.norm) {
            (Some(ends), _) => ends,
            (None, Norm::Log) => return Err("there is no number above 0 for a logarithmic norm".into()),
            // NaNs and infinities have their own colours.
            (None, _) => (0.0.into(), 0.0.into()),
        };
        self.ends = Some(ends);
        Ok(Colouring { map: self.map, scale: Scale::new(self.norm, ends)? })
    }

    pub(super) fn show(&mut self, ui: &mut Ui, statistics: &NumberStatistics, colouring: Option<&Colouring>) {
        ui.horizontal(|ui| {
            ComboBox::from_label("colours").selected_text(self.map.name).width(110.0).show_ui(ui, |ui| {
                for map in ColourMap::all() {
                    if ui.selectable_label(self.map == map, map.name).clicked() {
                        self.map = map;
                    }
                }
            });
        });
        self.show_norms(ui);
        self.show_ranges(ui, statistics);
        if let Some(bins) = &statistics.bins {
            let log = self.has_log_counts;
            if let Some((low, high)) = histogram::show(ui, bins, self.ends, colouring, log) {
                self.locked = None;
                self.range = Range::Fixed(low, high);
            }
            ui.checkbox(&mut self.has_log_counts, "logarithms of counts");
        }
        if let Some(error) = &statistics.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        show_counts(ui, statistics);
    }

    fn show_norms(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let number = match self.norm {
                Norm::Linear => 0,
                Norm::Log => 1,
                Norm::SymLog(_) => 2,
            };
            for (choice, name) in ["linear", "log", "symlog"].into_iter().enumerate() {
                if ui.radio(number == choice, name).clicked() {
                    self.norm = [Norm::Linear, Norm::Log, Norm::SymLog(self.linear_size)][choice];
                }
            }
            if let Norm::SymLog(linear_size) = &mut self.norm {
                let speed = (*linear_size * 0.02).max(1e-12);
                ui.add(DragValue::new(linear_size).speed(speed).range(1e-12..=1e12).prefix("even to "))
                    .accessible_name("symlog is even up to");
                self.linear_size = *linear_size;
            }
        });
    }

    fn show_ranges(&mut self, ui: &mut Ui, statistics: &NumberStatistics) {
        ui.horizontal_wrapped(|ui| {
            let before = self.range;
            if ui.radio(self.range == Range::Extremes, "min–max").clicked() {
                self.range = Range::Extremes;
            }
            if ui.radio(matches!(self.range, Range::Percentile(..)), "percentiles").clicked() {
                self.range = Range::Percentile(self.percentiles.0, self.percentiles.1);
            }
            if ui.radio(self.range == Range::Symmetric, "symmetric").clicked() {
                self.range = Range::Symmetric;
            }
            if ui.radio(matches!(self.range, Range::Fixed(..)), "by hand").clicked() {
                let (low, high) = self.ends.unwrap_or((0.0.into(), 1.0.into()));
                self.range = Range::Fixed(low, high);
            }
            if self.range != before {
                self.locked = None;
            }
        });
        ui.horizontal_wrapped(|ui| {
            match &mut self.range {
                Range::Percentile(low, high) => {
                    ui.add(DragValue::new(low).range(0.0..=*high).speed(0.1).suffix(" %"))
                        .accessible_name("lower percentile");
                    ui.add(DragValue::new(high).range(*low..=100.0).speed(0.1).suffix(" %"))
                        .accessible_name("upper percentile");
                    self.percentiles = (*low, *high);
                }
                Range::Fixed(low, high) => {
                    // The base must not change while an end is dragged.
                    let base = statistics
                        .component
                        .as_ref()
                        .and_then(|component| component.extremes)
                        .map_or(0.0.into(), |ends| ends.0);
                    let texts = format::pair(*low, *high);
                    let speed = (high.minus(*low).abs() * 0.01).max(1e-9);
                    let (least, most) = (*low, *high);
                    let field = |limits, text| RangeEndField { base, limits, speed, text };
                    range_end_field(ui, low, field(f64::MIN..=most.minus(base), texts.0)).accessible_name("low end");
                    range_end_field(ui, high, field(least.minus(base)..=f64::MAX, texts.1)).accessible_name("high end");
                }
                Range::Extremes | Range::Symmetric => {
                    if let Some((low, high)) = self.ends {
                        let (low, high) = format::pair(low, high);
                        ui.monospace(format!("{low} … {high}"));
                    }
                }
            }
            let mut locked = self.locked.is_some();
            if ui.checkbox(&mut locked, "lock").on_hover_text("The same range in all steps").changed() {
                self.locked = self.ends.filter(|_| locked);
            }
        });
    }
}

/// Field for an end of a range. The field contains the difference from `base`, because it has only
/// the digits of an `f64`.
struct RangeEndField {
    base: ScalarValue,
    /// Limits of the difference.
    limits: RangeInclusive<f64>,
    /// Change by a drag of one point.
    speed: f64,
    /// Text of the number.
    text: String,
}

fn range_end_field(ui: &mut Ui, value: &mut ScalarValue, field: RangeEndField) -> Response {
    let RangeEndField { base, limits, speed, text } = field;
    let mut shown = value.minus(base);
    let before = shown;
    let field = DragValue::new(&mut shown)
        .range(limits)
        .speed(speed)
        .custom_formatter(move |at, _| if at == before { text.clone() } else { format::number(base.plus(at)) })
        .custom_parser(move |text| ScalarValue::parse(text).map(|typed| typed.minus(base)));
    let response = ui.add(field);
    if shown != before {
        *value = base.plus(shown);
    }
    response
}

/// Shows statistics of the whole array.
fn show_counts(ui: &mut Ui, statistics: &NumberStatistics) {
    let Some(component) = &statistics.component else { return };
    Grid::new("counts").num_columns(4).spacing([10.0, 2.0]).show(ui, |ui| {
        let mut pair = |name: &str, text: String, ends_row: bool| {
            ui.weak(name);
            ui.monospace(text);
            if ends_row {
                ui.end_row();
            }
        };
        let none = || ("none".to_string(), "none".to_string());
        let (low, high) = component.extremes.map_or_else(none, |(low, high)| format::pair(low, high));
        let is_long = low.len() + high.len() > MAX_LINE_LETTERS;
        pair("min", low, is_long);
        pair("max", high, true);
        pair("NaNs", component.nans.to_string(), false);
        pair("infinities", component.infinities.to_string(), true);
        pair("cells", component.count.to_string(), true);
    });
}
