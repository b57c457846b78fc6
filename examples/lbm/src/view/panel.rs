//! Settings panel.

use zippy_view::egui::{Button, Color32, Slider, Ui, vec2};
use zippy_view::panels::{self, section};

use super::viewer::Viewer;
use crate::legend::format_short;
use crate::scene::{AXES, DrawMode, ShownQuantity};

/// Maximum speed of nearly incompressible flow (Mach number 0.3), in cells per step.
const MAX_SPEED: f64 = 0.173;
/// Viscosity in lattice units below which the relaxation time is close to 1/2 and the flow may
/// become unstable.
const MIN_VISCOSITY: f64 = 0.005 / 3.0;

const MODES: [(&str, DrawMode); 3] =
    [("volume", DrawMode::Volume), ("surface", DrawMode::Surface), ("slice", DrawMode::Slice)];

impl Viewer {
    pub(super) fn show_panel(&mut self, ui: &mut Ui) {
        section(ui, "Flow", |ui| self.flow_settings(ui));
        section(ui, "Picture", |ui| self.picture_settings(ui));
        if self.settings.scene.mode != DrawMode::Surface {
            section(ui, "Transfer function", |ui| {
                self.editor.show(ui, &mut self.settings.scene.look.transfer);
                if self.settings.scene.mode == DrawMode::Volume {
                    panels::density(ui, self.setup.length / 4.0, &mut self.settings.scene.look.transfer.unit_distance);
                }
                self.range_settings(ui);
            });
        }
        if self.settings.scene.mode == DrawMode::Volume {
            section(ui, "Light", |ui| panels::shading(ui, &mut self.settings.scene.look.shading));
        }
    }

    /// Pause, steps and speed.
    fn flow_settings(&mut self, ui: &mut Ui) {
        if self.stopped.is_some() {
            ui.disable();
        }
        ui.horizontal(|ui| {
            let size = vec2(110.0, 26.0);
            let label = if self.settings.is_running { "pause" } else { "continue" };
            if ui.add(Button::new(label).min_size(size)).on_hover_text("space").clicked() {
                self.settings.is_running = !self.settings.is_running;
            }
            if ui.add(Button::new("one step").min_size(size)).on_hover_text("s").clicked() {
                self.request_single_step();
            }
        });
        let steps =
            Slider::new(&mut self.settings.steps_per_frame, 1..=1000).logarithmic(true).text("steps per picture");
        ui.add(steps).on_hover_text("Fewer steps: smoother movement. More steps: faster progress of the flow");
        if !self.setup.is_driven {
            ui.weak("Nothing drives this flow: it depends only on its initial state.");
            return;
        }
        let most = (2.0 * self.setup.speed).max(MAX_SPEED);
        let slider = Slider::new(&mut self.settings.speed, 0.01 * self.setup.speed..=most)
            .max_decimals(4)
            .text("speed, cells per step");
        ui.add(slider).on_hover_text(
            "Speed at the inflow or of the lid, or that the force causes; the viscosity does not change",
        );
        let speed = self.settings.speed;
        let reynolds = speed * self.setup.length / self.setup.viscosity;
        ui.label(format!(
            "Reynolds number {}, Mach number {}",
            format_short(reynolds),
            format_short(speed * 3.0_f64.sqrt())
        ));
        let warning = Color32::from_rgb(250, 200, 90);
        if speed > MAX_SPEED {
            ui.colored_label(warning, "Mach number above 0.3: the fluid is no longer incompressible.");
        }
        if self.setup.viscosity < MIN_VISCOSITY {
            ui.colored_label(warning, "Low viscosity: the flow may become unstable and stop.");
        }
        if speed != self.setup.speed && ui.button("reset").clicked() {
            self.settings.speed = self.setup.speed;
        }
    }

    /// Quantity and drawing mode.
    fn picture_settings(&mut self, ui: &mut Ui) {
        let names = ShownQuantity::ALL.map(ShownQuantity::name);
        let current = ShownQuantity::ALL.iter().position(|quantity| *quantity == self.settings.scene.quantity);
        if let Some(index) = panels::presets(ui, &names, current) {
            self.show_quantity(ShownQuantity::ALL[index]);
        }
        if !self.setup.is_plane {
            let current = MODES.iter().position(|(_, mode)| *mode == self.settings.scene.mode);
            if let Some(index) = panels::presets(ui, &MODES.map(|(name, _)| name), current) {
                self.settings.scene.mode = MODES[index].1;
            }
        }
        let cells = self.setup.cells;
        let scene = &mut self.settings.scene;
        match scene.mode {
            DrawMode::Slice if !self.setup.is_plane => {
                let names = AXES.map(|axis| ["across ", axis].concat());
                let names = names.each_ref().map(String::as_str);
                if let Some(axis) = panels::presets(ui, &names, Some(scene.slice.axis)) {
                    (scene.slice.axis, scene.slice.cell) = (axis, None);
                }
                let mut cell = scene.slice.layer(cells);
                let slider = Slider::new(&mut cell, 0..=cells[scene.slice.axis] - 1).text(AXES[scene.slice.axis]);
                if ui.add(slider).changed() {
                    scene.slice.cell = Some(cell);
                }
            }
            DrawMode::Surface => self.surface_settings(ui),
            _ => {}
        }
    }

    fn surface_settings(&mut self, ui: &mut Ui) {
        let scene = &mut self.settings.scene;
        let mut is_automatic = scene.iso.is_none();
        if ui.checkbox(&mut is_automatic, "automatic isovalue").changed() {
            scene.iso = (!is_automatic).then(|| scene.suggested_isovalue());
        }
        match (&self.values, &mut scene.iso) {
            (Some((_, values, _)), Some(isovalue)) => _ = panels::isovalue(ui, values, isovalue),
            (None, Some(_)) => _ = ui.weak("Counting the values …"),
            (_, None) => {}
        }
        self.range_settings(ui);
    }

    fn range_settings(&mut self, ui: &mut Ui) {
        let [low, high] = self.settings.scene.range;
        let Some((_, _, [least, largest])) = self.values else { return };
        let kind = if self.settings.scene.mode == DrawMode::Surface { "Isovalues" } else { "Colours" };
        ui.weak(format!(
            "{kind} from {} to {}; values from {} to {}",
            format_short(low),
            format_short(high),
            format_short(least),
            format_short(largest)
        ));
        ui.horizontal(|ui| {
            // Values on the device have 32 bits.
            let apart = largest - least > 1e-6 * least.abs().max(largest.abs());
            if ui.add_enabled(apart, Button::new("fit to the values")).clicked() {
                self.set_range([least, largest]);
            }
            let first = self.setup.ranges[self.settings.scene.quantity as usize];
            if ui.button("reset").clicked() {
                self.set_range(first);
            }
        });
    }
}
