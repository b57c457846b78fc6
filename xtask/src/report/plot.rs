//! [`Plot`]: horizontal bars on a logarithmic axis, as SVG that follows the light or dark mode of
//! the reader.

use super::quantity;

const WIDTH: f64 = 900.0;
const MARGIN: f64 = 16.0;
/// Room for a value next to a bar.
const VALUE_WIDTH: f64 = 62.0;
/// Width of a character of 12 pixels, rounded up.
const CHARACTER_WIDTH: f64 = 6.7;
const BAR_HEIGHT: f64 = 10.0;
const BAR_PITCH: f64 = 13.0;
const ROW_GAP: f64 = 7.0;
const LINE_HEIGHT: f64 = 19.0;
/// Least distance of labels on the axis.
const LABEL_GAP: f64 = 8.0;
/// Possible ticks of an axis: these numbers times powers of ten. The finest set comes first.
const TICK_SETS: [&[f64]; 4] = [&[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
/// Possible ticks of an axis of bytes: powers of these numbers. The finest set comes first.
const BYTE_TICK_BASES: [f64; 4] = [2.0, 4.0, 16.0, 1024.0];
/// Ratios beyond these limits are drawn at the edge of the plot.
const RATIO_LIMITS: [f64; 2] = [1e-3, 1e3];

const STYLE: &str = "\
text { font: 12px -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.heading { font-weight: 600; }
.quiet { fill: #59636e; }
.page { fill: #ffffff; }
.grid { stroke: #d1d9e0; }
.one { stroke: #59636e; stroke-width: 1.5; }
.spread { stroke: #1f2328; stroke-opacity: 0.7; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .quiet { fill: #9198a1; }
  .page { fill: #0d1117; }
  .grid { stroke: #3d444d; }
  .one { stroke: #9198a1; }
  .spread { stroke: #f0f6fc; }
}
";

/// Colours of series, readable on white and on black.
const COLOURS: [&str; 8] = ["#3b82c4", "#d9822b", "#2e9e6b", "#9a6cc4", "#cf4b4b", "#1f9aac", "#a07a4f", "#d16fa5"];

/// Meaning and unit of the lengths of bars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scale {
    /// Time divided by the time of a peer. Bars begin at 1.
    Ratio,
    /// Values of a field of results, in the unit that the field name implies. Bars begin at the
    /// left edge.
    Field(String),
}

/// A plot with one panel per machine.
pub(super) struct Plot {
    pub title: String,
    /// Meaning of the bars; a default if empty.
    pub subtitle: String,
    pub scale: Scale,
    pub panels: Vec<Panel>,
    series: Vec<String>,
}

/// Rows of one machine.
pub(super) struct Panel {
    pub heading: String,
    pub rows: Vec<PlotRow>,
}

/// Bars with a label.
pub(super) struct PlotRow {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// A bar of a series, with a line from the lower to the upper quartile.
pub(super) struct Bar {
    pub series: usize,
    pub value: f64,
    pub quartiles: Option<[f64; 2]>,
}

/// The logarithmic axis: values and their positions on the page.
struct Axis {
    left: f64,
    right: f64,
    low: f64,
    high: f64,
}

impl Plot {
    pub(super) fn new(title: &str, scale: Scale) -> Self {
        Self { title: title.into(), subtitle: String::new(), scale, panels: Vec::new(), series: Vec::new() }
    }

    /// Index of a series, which is added if it is new.
    pub(super) fn series(&mut self, name: &str) -> usize {
        self.series.iter().position(|known| known == name).unwrap_or_else(|| {
            self.series.push(name.into());
            self.series.len() - 1
        })
    }

    /// The plot as SVG.
    pub(super) fn svg(&self) -> String {
        let mut y = MARGIN + 14.0;
        let mut body = svg_text(MARGIN, y, "title", "start", &self.title);
        y += LINE_HEIGHT;
        let subtitle = match &self.scale {
            _ if !self.subtitle.is_empty() => &self.subtitle,
            Scale::Ratio => {
                "time of Zippy divided by the time of the other, on a logarithmic axis: left of 1, Zippy is faster"
            }
            Scale::Field(_) => "median, on a logarithmic axis",
        };
        body += &svg_text(MARGIN, y, "quiet", "start", subtitle);
        if self.series.len() > 1 || self.scale == Scale::Ratio {
            y = self.draw_legend(y, &mut body);
        }
        let axis = self.axis();
        for panel in &self.panels {
            y = self.draw_panel(panel, &axis, y, &mut body);
        }
        let height = y + MARGIN;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH:.0} \
             {height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>\n{STYLE}</style>\n<rect class=\"page\" width=\"100%\" \
             height=\"100%\"/>\n{body}</svg>\n",
            escape_xml(&self.title)
        )
    }

    /// Draws the names of the series; returns the bottom.
    fn draw_legend(&self, mut y: f64, body: &mut String) -> f64 {
        y += LINE_HEIGHT;
        let mut x = MARGIN;
        for (index, name) in self.series.iter().enumerate() {
            let width = 32.0 + text_width(name);
            if x + width > WIDTH - MARGIN && x > MARGIN {
                (x, y) = (MARGIN, y + LINE_HEIGHT);
            }
            let colour = COLOURS[index % COLOURS.len()];
            *body +=
                &format!("<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"10\" fill=\"{colour}\"/>\n", y - 9.0);
            *body += &svg_text(x + 17.0, y, "", "start", name);
            x += width;
        }
        y
    }

    /// Draws a panel below `top`; returns the bottom.
    fn draw_panel(&self, panel: &Panel, axis: &Axis, top: f64, body: &mut String) -> f64 {
        let mut y = top + 30.0;
        *body += &svg_text(MARGIN, y, "heading", "start", &panel.heading);
        y += 12.0;
        let height: f64 = panel.rows.iter().map(|row| row.bars.len() as f64 * BAR_PITCH + ROW_GAP).sum();
        for tick in self.ticks(axis) {
            let (x, bottom) = (axis.x(tick), y + height);
            let class = if self.scale == Scale::Ratio && tick == 1.0 { "one" } else { "grid" };
            *body += &format!("<path class=\"{class}\" d=\"M{x:.1} {y:.1}V{bottom:.1}\"/>\n");
            let label = self.tick_label(tick);
            *body += &svg_text(x, bottom + 14.0, "quiet", "middle", &label);
        }
        for row in &panel.rows {
            let middle = y + row.bars.len() as f64 * BAR_PITCH / 2.0 + ROW_GAP / 2.0;
            *body += &svg_text(axis.left - VALUE_WIDTH, middle + 4.0, "", "end", &row.label);
            y += ROW_GAP / 2.0;
            for bar in &row.bars {
                self.draw_bar(bar, axis, y + BAR_PITCH / 2.0, body);
                y += BAR_PITCH;
            }
            y += ROW_GAP / 2.0;
        }
        y + 16.0
    }

    /// Draws a bar with its spread and its value around the height `y`.
    fn draw_bar(&self, bar: &Bar, axis: &Axis, y: f64, body: &mut String) {
        let base = if self.scale == Scale::Ratio { axis.x(1.0) } else { axis.left };
        let end = axis.x(bar.value);
        let (left, right) = (base.min(end), base.max(end));
        let colour = COLOURS[bar.series % COLOURS.len()];
        let (top, width) = (y - BAR_HEIGHT / 2.0, (right - left).max(1.5));
        *body += &format!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{colour}\"/>\n"
        );
        let [low, high] = bar.quartiles.map_or([end, end], |quartiles| quartiles.map(|value| axis.x(value)));
        if bar.quartiles.is_some() {
            *body += &format!("<path class=\"spread\" d=\"M{low:.1} {y:.1}H{high:.1}\"/>\n");
        }
        let is_left = self.scale == Scale::Ratio && bar.value < 1.0;
        let value = match &self.scale {
            Scale::Ratio => quantity::ratio(bar.value),
            Scale::Field(field) => quantity::of_field(field, bar.value),
        };
        *body += &if is_left {
            svg_text(left.min(low) - 5.0, y + 4.0, "", "end", &value)
        } else {
            svg_text(right.max(high) + 5.0, y + 4.0, "", "start", &value)
        };
    }

    /// Axis that contains all values and, for ratios, 1.
    fn axis(&self) -> Axis {
        let bars = || self.panels.iter().flat_map(|panel| &panel.rows).flat_map(|row| &row.bars);
        let values = || bars().flat_map(|bar| bar.quartiles.unwrap_or([bar.value; 2]).into_iter().chain([bar.value]));
        let (mut low, mut high) = values().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        if self.scale == Scale::Ratio {
            let [least, most] = RATIO_LIMITS;
            // A plot of equal times needs a few ticks.
            (low, high) = (low.min(0.5).max(least), high.max(2.0).min(most));
        } else {
            low /= 2.0;
        }
        let rows = self.panels.iter().flat_map(|panel| &panel.rows);
        let label = rows.map(|row| text_width(&row.label)).fold(0.0, f64::max);
        Axis {
            left: MARGIN + label + VALUE_WIDTH,
            right: WIDTH - MARGIN - VALUE_WIDTH,
            low: low / 1.05,
            high: high * 1.05,
        }
    }

    /// Round numbers within the axis, as many as their labels permit.
    fn ticks(&self, axis: &Axis) -> Vec<f64> {
        let is_bytes = matches!(&self.scale, Scale::Field(field) if field.contains("bytes"));
        let candidates: Vec<Vec<f64>> = if is_bytes {
            BYTE_TICK_BASES.iter().map(|base| (0..50).map(|power| base.powi(power)).collect()).collect()
        } else {
            TICK_SETS
                .iter()
                .map(|steps| {
                    (-12..=12).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power))).collect()
                })
                .collect()
        };
        let within = |ticks: Vec<f64>| -> Vec<f64> {
            ticks.into_iter().filter(|tick| (axis.low..=axis.high).contains(tick)).collect()
        };
        let mut candidates = candidates.into_iter().map(within);
        candidates.find(|ticks| self.labels_fit(ticks, axis)).unwrap_or_default()
    }

    fn labels_fit(&self, ticks: &[f64], axis: &Axis) -> bool {
        let half = |tick: f64| text_width(&self.tick_label(tick)) / 2.0;
        ticks.windows(2).all(|pair| axis.x(pair[1]) - axis.x(pair[0]) > half(pair[0]) + half(pair[1]) + LABEL_GAP)
    }

    fn tick_label(&self, tick: f64) -> String {
        match &self.scale {
            Scale::Ratio => quantity::without_zeros(tick),
            Scale::Field(field) => {
                // A power of ten may be stored as the number below it, which has a smaller unit.
                let text = quantity::of_field(field, tick * 1.000_001);
                text.replace(".00", "").replace(".0", "")
            }
        }
    }
}

impl Axis {
    /// Horizontal position of a value on the page. Values beyond the axis are at its ends.
    fn x(&self, value: f64) -> f64 {
        let fraction = (value / self.low).ln() / (self.high / self.low).ln();
        self.left + fraction.clamp(0.0, 1.0) * (self.right - self.left)
    }
}

/// Upper limit for the width of a text on the page.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER_WIDTH
}

fn svg_text(x: f64, y: f64, class: &str, anchor: &str, text: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{class} text-anchor=\"{anchor}\">{}</text>\n", escape_xml(text))
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
#[path = "../../tests/unit/report/plot.rs"]
mod tests;
