//! How numbers become colours: map, range and norm, with a histogram of the numbers.

mod bins;
mod histogram;

use zippy::debug::protocol::{ArrayEntry, Component, ScalarValue, SummaryRequest};
use zippy_view::egui::{ComboBox, DragValue, Grid, Response, Ui};

use super::store::Store;
use super::words;
use crate::look::{ColourMap, Colouring, Norm, Part, Quantity, Range, Scale, Values};
use bins::Bins;

/// Bins of the histogram.
const BINS: u16 = 128;
/// Letters of two numbers that have no room on one line.
const LONG: usize = 24;

/// How the numbers of an array are coloured.
#[derive(Debug, Clone)]
pub struct Style {
    map: &'static ColourMap,
    range: Range,
    norm: Norm,
    /// The ends that stay as they are in other steps.
    locked: Option<(ScalarValue, ScalarValue)>,
    /// Those of the last frame.
    ends: Option<(ScalarValue, ScalarValue)>,
    percentiles: (f64, f64),
    even: f64,
    log_counts: bool,
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
            even: 1e-3,
            log_counts: true,
        }
    }
}

/// What is known of the numbers that are coloured.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Of the whole array.
    component: Option<Component>,
    /// Of its numbers above 0, where logarithms are wanted.
    positive: Option<Component>,
    bins: Option<Bins>,
    error: Option<String>,
}

impl Known {
    /// Asks for what is needed to colour a quantity of an array in a style.
    pub fn new(
        store: &mut Store,
        array: &ArrayEntry,
        quantity: Quantity,
        style: &Style,
        seen: Option<&Values>,
    ) -> Self {
        let (length, number) = match quantity.part {
            Part::Component(number) => (false, usize::from(number)),
            Part::Length => (true, 0),
        };
        let percentiles = if let Range::Percentile(low, high) = style.range { vec![low, high] } else { Vec::new() };
        let of = SummaryRequest { length, percentiles, ..SummaryRequest::of(array.array, quantity.numbers) };
        let mut component = |request: SummaryRequest| {
            let found = store.summary(request);
            let mut component = found.summary().and_then(|summary| summary.components.get(number).cloned());
            if let Some(component) = component.as_mut().filter(|_| length) {
                widen(component);
            }
            (component, found.error)
        };
        let positive = (style.norm == Norm::Log).then(|| component(SummaryRequest { positive: true, ..of.clone() }).0);
        let (component, error) = component(SummaryRequest { bins: BINS, ..of });
        // Without a summary, as of a coarse recording, what is seen has to do.
        let bins = component.as_ref().map(Bins::from).or_else(|| Bins::of(seen?, usize::from(BINS)));
        Self { component, positive: positive.flatten(), bins, error }
    }
}

/// Summaries round lengths to `f32`, and those of a device are a few units off. What is painted is not rounded, and no length
/// shall lie outside of the ends that it is one of.
fn widen(component: &mut Component) {
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
    /// The colours for these numbers.
    ///
    /// # Errors
    /// There are no such numbers, or the range has no logarithm.
    pub fn colouring(&mut self, known: &Known, seen: &Values) -> Result<Colouring, String> {
        let whole = if self.norm == Norm::Log { &known.positive } else { &known.component };
        let ends = self.locked.or_else(|| match (whole, self.range) {
            (Some(component), range) => range.of_summary(component, self.norm),
            (None, range) => range.of(seen.scalars(), self.norm),
        });
        let ends = match (ends, self.norm) {
            (Some(ends), _) => ends,
            (None, Norm::Log) => return Err("there is no number above 0 for a logarithmic norm".into()),
            // NaNs and infinities have colours of their own.
            (None, _) => (0.0.into(), 0.0.into()),
        };
        self.ends = Some(ends);
        Ok(Colouring { map: self.map, scale: Scale::new(self.norm, ends)? })
    }

    /// Shows the settings.
    pub fn show(&mut self, ui: &mut Ui, known: &Known, colouring: Option<&Colouring>) {
        ui.horizontal(|ui| {
            ComboBox::from_label("colours").selected_text(self.map.name).width(110.0).show_ui(ui, |ui| {
                for map in ColourMap::all() {
                    if ui.selectable_label(self.map == map, map.name).clicked() {
                        self.map = map;
                    }
                }
            });
        });
        self.norms(ui);
        self.ranges(ui, known);
        if let Some(bins) = &known.bins {
            let log = self.log_counts;
            if let Some((low, high)) = histogram::show(ui, bins, self.ends, colouring, log) {
                self.locked = None;
                self.range = Range::Fixed(low, high);
            }
            ui.checkbox(&mut self.log_counts, "logarithms of counts");
        }
        if let Some(error) = &known.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        counts(ui, known);
    }

    fn norms(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let number = match self.norm {
                Norm::Linear => 0,
                Norm::Log => 1,
                Norm::SymLog(_) => 2,
            };
            for (place, name) in ["linear", "log", "symlog"].into_iter().enumerate() {
                if ui.radio(number == place, name).clicked() {
                    self.norm = [Norm::Linear, Norm::Log, Norm::SymLog(self.even)][place];
                }
            }
            if let Norm::SymLog(even) = &mut self.norm {
                let speed = (*even * 0.02).max(1e-12);
                ui.add(DragValue::new(even).speed(speed).range(1e-12..=1e12).prefix("even to "))
                    .accessible_name("symlog is even up to");
                self.even = *even;
            }
        });
    }

    fn ranges(&mut self, ui: &mut Ui, known: &Known) {
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
                    // Whichever end moves, numbers are counted from one that does not.
                    let base = known.component.as_ref().and_then(|one| one.extremes).map_or(0.0.into(), |ends| ends.0);
                    let texts = words::ends(*low, *high);
                    let speed = (high.minus(*low).abs() * 0.01).max(1e-9);
                    let (least, most) = (*low, *high);
                    end(ui, low, base, (f64::MIN, most.minus(base)), (speed, texts.0)).accessible_name("low end");
                    end(ui, high, base, (least.minus(base), f64::MAX), (speed, texts.1)).accessible_name("high end");
                }
                Range::Extremes | Range::Symmetric => {
                    if let Some((low, high)) = self.ends {
                        let (low, high) = words::ends(low, high);
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

/// An end of a range that is typed or dragged, shown as this text: the field holds the difference
/// from `base`, as the field itself has the digits of an `f64` only.
fn end(
    ui: &mut Ui,
    value: &mut ScalarValue,
    base: ScalarValue,
    (least, most): (f64, f64),
    (speed, text): (f64, String),
) -> Response {
    let mut shown = value.minus(base);
    let before = shown;
    let field = DragValue::new(&mut shown)
        .range(least..=most)
        .speed(speed)
        .custom_formatter(move |at, _| if at == before { text.clone() } else { words::number(base.plus(at)) })
        .custom_parser(move |text| ScalarValue::parse(text).map(|typed| typed.minus(base)));
    let response = ui.add(field);
    if shown != before {
        *value = base.plus(shown);
    }
    response
}

/// What there is in the whole array.
fn counts(ui: &mut Ui, known: &Known) {
    let Some(component) = &known.component else { return };
    Grid::new("counts").num_columns(4).spacing([10.0, 2.0]).show(ui, |ui| {
        let mut pair = |name: &str, text: String, end: bool| {
            ui.weak(name);
            ui.monospace(text);
            if end {
                ui.end_row();
            }
        };
        let none = || ("none".to_string(), "none".to_string());
        let (low, high) = component.extremes.map_or_else(none, |(low, high)| words::ends(low, high));
        let is_long = low.len() + high.len() > LONG;
        pair("min", low, is_long);
        pair("max", high, true);
        pair("NaNs", component.nans.to_string(), false);
        pair("infinities", component.infinities.to_string(), true);
        pair("cells", component.count.to_string(), true);
    });
}
