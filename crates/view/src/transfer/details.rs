//! Fields below the plot: value, opacity and colour of the selected point.

use egui::{DragValue, Ui};
use zippy_render::volume::TransferFunction;

use super::{Point, TransferEditor, points};

impl TransferEditor {
    pub(super) fn show_selected_point(&mut self, ui: &mut Ui, function: &mut TransferFunction) {
        self.selected = self.selected.filter(|point| match *point {
            Point::Opacity(number) => number < function.opacity.len(),
            Point::Colour(number) => number < function.colour.len(),
        });
        ui.horizontal_wrapped(|ui| {
            match self.selected {
                None => {
                    ui.weak("Click to add a point, drag to move it.");
                }
                Some(point) => self.selected_point(ui, function, point),
            }
            ui.checkbox(&mut self.log, "log").on_hover_text("Draw the histogram by the logarithms of its counts");
        });
    }

    fn selected_point(&mut self, ui: &mut Ui, function: &mut TransferFunction, point: Point) {
        let value = match point {
            Point::Opacity(number) => function.opacity[number][0],
            Point::Colour(number) => function.colour[number][0],
        };
        let mut typed = value;
        let speed = (self.range[1] - self.range[0]) / 500.0;
        let name = ui.label("value").id;
        ui.add(DragValue::new(&mut typed).speed(speed).range(self.range[0]..=self.range[1])).labelled_by(name);
        match point {
            Point::Opacity(number) => {
                let name = ui.label("opacity").id;
                let opacity = &mut function.opacity[number][1];
                ui.add(DragValue::new(opacity).speed(0.002).range(0.0..=1.0).max_decimals(4)).labelled_by(name);
                if typed != value {
                    points::shift(&mut function.opacity, number, typed, self.range);
                }
            }
            Point::Colour(number) => {
                let parts = &mut function.colour[number];
                let mut bytes: [u8; 3] = std::array::from_fn(|part| (parts[part + 1] * 255.0).round() as u8);
                if ui.color_edit_button_srgb(&mut bytes).on_hover_text("Colour of this point").changed() {
                    parts[1..].copy_from_slice(&bytes.map(|byte| f64::from(byte) / 255.0));
                }
                if typed != value {
                    points::shift(&mut function.colour, number, typed, self.range);
                }
            }
        }
        if ui.small_button("Remove").clicked() {
            self.remove_point(function, point);
        }
    }
}
