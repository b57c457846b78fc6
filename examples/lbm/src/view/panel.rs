//! The settings beside the picture.

use zippy_view::egui::{Button, CollapsingHeader, Color32, RichText, Slider, Ui, vec2};
use zippy_view::panels;

use super::app::Viewer;
use crate::legend::short;
use crate::scene::{AXES, Shown, Way};

/// Above this speed the fluid is no longer incompressible (Mach number 0.3).
const FAST: f64 = 0.173;
/// So near to one half of it, a relaxation time is small.
const VISCOUS: f64 = 0.005 / 3.0;

const WAYS: [(&str, Way); 3] = [("volume", Way::Volume), ("surface", Way::Surface), ("slice", Way::Slice)];

impl Viewer {
    pub fn settings(&mut self, ui: &mut Ui) {
        ui.add_space(6.0);
        section(ui, "Flow", |ui| self.flow(ui));
        section(ui, "Picture", |ui| self.shown(ui));
        if self.wanted.scene.way != Way::Surface {
            section(ui, "Transfer function", |ui| {
                self.editor.show(ui, &mut self.wanted.scene.look.transfer);
                if self.wanted.scene.way == Way::Volume {
                    panels::density(ui, self.setting.length / 4.0, &mut self.wanted.scene.look.transfer.unit_distance);
                }
                self.fitted(ui);
            });
        }
        if self.wanted.scene.way == Way::Volume {
            section(ui, "Light", |ui| panels::shading(ui, &mut self.wanted.scene.look.shading));
        }
    }

    /// How it goes on, and what drives it.
    fn flow(&mut self, ui: &mut Ui) {
        if self.stopped.is_some() {
            ui.disable();
        }
        ui.horizontal(|ui| {
            let size = vec2(110.0, 26.0);
            let label = if self.wanted.running { "pause" } else { "go on" };
            if ui.add(Button::new(label).min_size(size)).on_hover_text("space").clicked() {
                self.wanted.running = !self.wanted.running;
            }
            if ui.add(Button::new("one step").min_size(size)).on_hover_text("s").clicked() {
                self.single();
            }
        });
        let steps = Slider::new(&mut self.wanted.per_frame, 1..=1000).logarithmic(true).text("steps a picture");
        ui.add(steps).on_hover_text("The fewer, the smoother; the more, the faster the flow goes on");
        if !self.setting.is_driven {
            ui.weak("Nothing drives this flow: it goes on from its beginning alone.");
            return;
        }
        let most = (2.0 * self.setting.speed).max(FAST);
        let slider = Slider::new(&mut self.wanted.speed, 0.01 * self.setting.speed..=most)
            .max_decimals(4)
            .text("speed, cells a step");
        ui.add(slider)
            .on_hover_text("The speed at the inflow or of the lid, or what the force makes; the viscosity stays");
        let speed = self.wanted.speed;
        let reynolds = speed * self.setting.length / self.setting.viscosity;
        ui.label(format!("Reynolds number {}, Mach number {}", short(reynolds), short(speed * 3.0_f64.sqrt())));
        let warning = Color32::from_rgb(250, 200, 90);
        if speed > FAST {
            ui.colored_label(warning, "Mach number above 0.3: the fluid is no longer incompressible.");
        }
        if self.setting.viscosity < VISCOUS {
            ui.colored_label(warning, "Little viscosity: the flow may become unstable, and end.");
        }
        if speed != self.setting.speed && ui.button("as in the beginning").clicked() {
            self.wanted.speed = self.setting.speed;
        }
    }

    /// What is seen, and how.
    fn shown(&mut self, ui: &mut Ui) {
        let names = Shown::ALL.map(Shown::name);
        let current = Shown::ALL.iter().position(|shown| *shown == self.wanted.scene.shown);
        if let Some(number) = panels::presets(ui, &names, current) {
            self.turn_to(Shown::ALL[number]);
        }
        if !self.setting.in_plane {
            let current = WAYS.iter().position(|(_, way)| *way == self.wanted.scene.way);
            if let Some(number) = panels::presets(ui, &WAYS.map(|(name, _)| name), current) {
                self.wanted.scene.way = WAYS[number].1;
            }
        }
        let cells = self.setting.cells;
        let scene = &mut self.wanted.scene;
        match scene.way {
            Way::Slice if !self.setting.in_plane => {
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
            Way::Surface => self.surface(ui),
            _ => {}
        }
    }

    fn surface(&mut self, ui: &mut Ui) {
        let scene = &mut self.wanted.scene;
        let mut own = scene.iso.is_none();
        if ui.checkbox(&mut own, "where there is something to see").changed() {
            scene.iso = (!own).then(|| scene.suggested());
        }
        match (&self.values, &mut scene.iso) {
            (Some((_, values, _)), Some(isovalue)) => _ = panels::isovalue(ui, values, isovalue),
            (None, Some(_)) => _ = ui.weak("The values are being counted …"),
            (_, None) => {}
        }
        self.fitted(ui);
    }

    /// The values that the colours have.
    fn fitted(&mut self, ui: &mut Ui) {
        let [low, high] = self.wanted.scene.range;
        let Some((_, _, [least, largest])) = self.values else { return };
        let these = if self.wanted.scene.way == Way::Surface { "Isovalues" } else { "Colours" };
        ui.weak(format!(
            "{these} from {} to {}; values from {} to {}",
            short(low),
            short(high),
            short(least),
            short(largest)
        ));
        ui.horizontal(|ui| {
            // Numbers of the device have 32 bits.
            let apart = largest - least > 1e-6 * least.abs().max(largest.abs());
            if ui.add_enabled(apart, Button::new("fit to the values")).clicked() {
                self.spread([least, largest]);
            }
            let first = self.setting.ranges[self.wanted.scene.shown as usize];
            if ui.button("as in the beginning").clicked() {
                self.spread(first);
            }
        });
    }
}

/// A part of the settings that can be folded away.
fn section<R>(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui) -> R) {
    CollapsingHeader::new(RichText::new(title).strong()).default_open(true).show(ui, show);
}
