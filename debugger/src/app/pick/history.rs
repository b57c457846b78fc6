//! What was in the pinned cells, by step.

use egui_plot::{Legend, Line, Plot, PlotPoints, Points};
use zippy_view::egui::Ui;
use zippy_view::egui::accesskit::Role;

use super::Picks;
use crate::app::words::rank_colour;

impl Picks {
    /// A line for each number of the pinned cells.
    pub fn plot(&self, ui: &mut Ui) {
        if self.pins.is_empty() {
            ui.weak("Click cells to pin them; their values are plotted here, step by step.");
            return;
        }
        let plot = Plot::new("history").legend(Legend::default()).x_axis_label("step").allow_scroll(false);
        let shown = plot.show(ui, |plot| {
            let mut lines = 0;
            for pin in &self.pins {
                for (component, name) in pin.names.iter().enumerate() {
                    let colour = rank_colour(lines);
                    lines += 1;
                    let title = if name.is_empty() { pin.title.clone() } else { format!("{} {name}", pin.title) };
                    let values: Vec<[f64; 2]> = pin
                        .history
                        .iter()
                        .filter_map(|(step, numbers)| Some([*step as f64, *numbers.get(component)?]))
                        .filter(|[_, value]| value.is_finite())
                        .collect();
                    plot.points(Points::new(title.clone(), PlotPoints::from(values.clone())).radius(2.5).color(colour));
                    plot.line(Line::new(title, PlotPoints::from(values)).color(colour));
                }
            }
        });
        let name = format!("history of {} pinned cells", self.pins.len());
        shown.response.widget_info(|| zippy_view::egui::WidgetInfo::labeled(Role::Canvas, true, &name));
    }
}
