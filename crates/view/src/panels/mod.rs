//! Panels of settings. Each panel changes plain values, returns true after a change, and has no
//! state.

mod clip;
mod sampling;
mod status;
mod surface;

pub use clip::{ClipEditor, crop};
pub use sampling::{background, density, sampling, shading};
pub use status::{FrameRate, Timing, timings};
pub use surface::{isovalue, material};

use egui::{CollapsingHeader, RichText, Ui};

/// Shows a button for each name and highlights the button of index `current`. Returns the index of
/// a pressed button.
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

/// Shows settings below a heading that folds them.
pub fn section<R>(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui) -> R) {
    CollapsingHeader::new(RichText::new(title).strong()).default_open(true).show(ui, show);
}
