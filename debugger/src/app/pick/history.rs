//! Plot of the pinned cells' values over steps.

use egui_plot::{Legend, Line, MarkerShape, Plot, PlotPoints, Points};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{Color32, Ui};

use super::Picks;
use crate::app::format::{self, rank_colour};
use crate::imaging::SPECIAL_COLOURS;

/// Marker for values that are not finite, in the same colour as in pictures.
struct Mark {
    matches: fn(f64) -> bool,
    name: &'static str,
    colour: [u8; 3],
    shape: MarkerShape,
}

const MARKS: [Mark; 3] = [
    Mark { matches: f64::is_nan, name: "NaN", colour: SPECIAL_COLOURS.nan, shape: MarkerShape::Cross },
    Mark {
        matches: |value| value == f64::INFINITY,
        name: "inf",
        colour: SPECIAL_COLOURS.plus_infinity,
        shape: MarkerShape::Up,
    },
    // Black is invisible on the dark background.
    Mark { matches: |value| value == f64::NEG_INFINITY, name: "-inf", colour: [150; 3], shape: MarkerShape::Down },
];

impl Picks {
    /// Plots each number of the pinned cells over the steps.
    pub(crate) fn plot(&self, ui: &mut Ui) {
        if self.pins.is_empty() {
            ui.weak("Click cells to pin them; their values are plotted here, step by step.");
            return;
        }
        let plot = Plot::new("history").legend(Legend::default()).x_axis_label("step").allow_scroll(false);
        let mut marked = Vec::new();
        let shown = plot.show(ui, |plot| {
            let mut lines = 0;
            for pin in &self.pins {
                for (component, name) in pin.names.iter().enumerate() {
                    let colour = rank_colour(lines);
                    lines += 1;
                    let title = if name.is_empty() { pin.title.clone() } else { format!("{} {name}", pin.title) };
                    let title = format::shorten(&title, format::LIST_LETTERS);
                    let numbers = pin.history.iter();
                    let values: Vec<[f64; 2]> =
                        numbers.filter_map(|(step, numbers)| Some([*step as f64, *numbers.get(component)?])).collect();
                    for run in values.split(|[_, value]| !value.is_finite()).filter(|run| !run.is_empty()) {
                        let points = Points::new(title.clone(), PlotPoints::from(run.to_vec()));
                        plot.points(points.radius(2.5).color(colour));
                        plot.line(Line::new(title.clone(), PlotPoints::from(run.to_vec())).color(colour));
                    }
                    for Mark { matches, name: kind, colour: [red, green, blue], shape } in MARKS {
                        let marks = marker_positions(&values, matches);
                        if marks.is_empty() {
                            continue;
                        }
                        marked.push(format!("{title} is {kind} in {}", steps_text(&marks)));
                        let points = Points::new(format!("{title}: {kind}"), PlotPoints::from(marks));
                        plot.points(points.radius(5.0).shape(shape).color(Color32::from_rgb(red, green, blue)));
                    }
                }
            }
        });
        let name = [vec![format!("history of {} pinned cells", self.pins.len())], marked].concat().join("; ");
        shown.response.widget_info(|| zippy_view::egui::WidgetInfo::labeled(Role::Canvas, true, &name));
    }
}

/// Returns the marker positions of the values that `matches` selects: the step, and the latest
/// earlier finite value, or the first later one if there is none.
fn marker_positions(values: &[[f64; 2]], matches: fn(f64) -> bool) -> Vec<[f64; 2]> {
    let finite = |value: &&[f64; 2]| value[1].is_finite();
    let height = |index: usize| {
        let nearest = values[..index].iter().rfind(finite).or_else(|| values[index..].iter().find(finite));
        nearest.map_or(0.0, |[_, value]| *value)
    };
    let marked_values = values.iter().enumerate().filter(|(_, [_, value])| matches(*value));
    marked_values.map(|(index, [step, _])| [*step, height(index)]).collect()
}

fn steps_text(marks: &[[f64; 2]]) -> String {
    let first: Vec<String> = marks.iter().take(3).map(|[step, _]| format::short(*step)).collect();
    let more = if marks.len() > 3 { " and more" } else { "" };
    format!("{} {}{more}", if marks.len() == 1 { "step" } else { "steps" }, first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_finite_are_marked_at_nearest_finite_value() {
        let nan = f64::NAN;
        let values = [[1.0, nan], [2.0, 5.0], [3.0, nan], [4.0, f64::INFINITY], [5.0, 7.0]];
        assert_eq!(marker_positions(&values, f64::is_nan), [[1.0, 5.0], [3.0, 5.0]]);
        assert_eq!(marker_positions(&values, |value| value == f64::INFINITY), [[4.0, 5.0]]);
        assert_eq!(marker_positions(&[[9.0, nan]], f64::is_nan), [[9.0, 0.0]]);
        assert_eq!(steps_text(&[[1.0, 0.0], [3.0, 0.0]]), "steps 1, 3");
    }
}
