//! Panels of settings. Each changes plain values, says whether it did, and keeps nothing of them.

mod clip;
mod sampling;
mod status;
mod surface;

pub use clip::{ClipEditor, crop};
pub use sampling::{background, density, sampling, shading};
pub use status::{FrameRate, Timing, timings};
pub use surface::{isovalue, material};

use egui::Ui;

/// A button for each name, the current one highlighted; the number of the one that was pressed.
pub fn presets(ui: &mut Ui, names: &[&str], current: Option<usize>) -> Option<usize> {
    let mut pressed = None;
    ui.horizontal_wrapped(|ui| {
        for (number, name) in names.iter().enumerate() {
            if ui.selectable_label(current == Some(number), *name).clicked() {
                pressed = Some(number);
            }
        }
    });
    pressed
}
