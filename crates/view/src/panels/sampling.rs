//! Panels of sampling and lighting.

use egui::{Slider, Ui};
use zippy_render::volume::Shading;

/// Shows the settings of lighting. Returns true after a change.
pub fn shading(ui: &mut Ui, shading: &mut Option<Shading>) -> bool {
    let before = *shading;
    let mut on = shading.is_some();
    ui.checkbox(&mut on, "shade by gradients");
    if on {
        let light = shading.get_or_insert_default();
        for (part, name) in
            [(&mut light.ambient, "ambient"), (&mut light.diffuse, "diffuse"), (&mut light.specular, "specular")]
        {
            ui.add(Slider::new(part, 0.0..=1.0).text(name));
        }
        ui.add(Slider::new(&mut light.shininess, 1.0..=100.0).logarithmic(true).text("shininess"));
    } else {
        *shading = None;
    }
    *shading != before
}

/// Shows the sample distance, in the range around the voxel distance `voxel`, and the switches of
/// pre-integration and jitter. Returns true after a change.
pub fn sampling(ui: &mut Ui, voxel: f64, step: &mut f64, preintegrated: &mut bool, jitter: &mut bool) -> bool {
    let before = (*step, *preintegrated, *jitter);
    let range = voxel / 8.0..=voxel * if *preintegrated { 2.0 } else { 8.0 };
    ui.add(Slider::new(step, range).logarithmic(true).text("step"))
        .on_hover_text("Distance of samples along a ray, in the unit of the volume's spacing");
    ui.checkbox(preintegrated, "pre-integrated").on_hover_text("Integrate the transfer function between samples");
    ui.checkbox(jitter, "jitter").on_hover_text("Shift samples from pixel to pixel, so that rings become noise");
    before != (*step, *preintegrated, *jitter)
}

/// Shows the length over which opacities hold, in the range around `voxel`. A smaller length makes
/// the volume denser. Returns true after a change.
pub fn density(ui: &mut Ui, voxel: f64, unit_distance: &mut f64) -> bool {
    let range = voxel / 64.0..=voxel * 64.0;
    let slider = Slider::new(unit_distance, range).logarithmic(true).text("unit distance");
    ui.add(slider).on_hover_text("The length over which the opacities hold: the smaller, the denser").changed()
}

/// Shows the background colour. Returns true after a change.
pub fn background(ui: &mut Ui, background: &mut [f32; 3]) -> bool {
    let mut bytes = background.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
    let response = ui.horizontal(|ui| {
        let button = ui.color_edit_button_srgb(&mut bytes).on_hover_text("Background");
        ui.label("background");
        button
    });
    let changed = response.inner.changed();
    if changed {
        *background = bytes.map(|byte| f32::from(byte) / 255.0);
    }
    changed
}
