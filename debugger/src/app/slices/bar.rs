//! Bar above the cells: display mode, slice and quantity.

use zippy_protocol::ArrayEntry;
use zippy_view::egui::{ComboBox, DragValue, RichText, Slider, Ui};

use super::{Saving, ViewState};
use crate::app::format;
use crate::imaging::Quantity;

const MAX_SLIDERS_IN_ROW: usize = 3;

/// Display mode of the cells of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Slice,
    Mosaic,
    Planes,
    Volume,
    Line,
    Numbers,
}

/// All modes, with their names and their minimum numbers of axes.
const MODES: [(Mode, &str, usize); 6] = [
    (Mode::Slice, "slice", 2),
    (Mode::Mosaic, "mosaic", 3),
    (Mode::Planes, "three planes", 3),
    (Mode::Volume, "volume", 3),
    (Mode::Line, "line", 1),
    (Mode::Numbers, "numbers", 1),
];

impl ViewState {
    /// Shows the bar above the cells, and applies the user's choices to the display settings.
    pub(super) fn bar(&mut self, ui: &mut Ui, array: &ArrayEntry, saving: &mut Saving) {
        ui.horizontal_wrapped(|ui| {
            format::label(ui, RichText::new(format::title(array)).strong(), 260.0);
            format::label(
                ui,
                RichText::new(format!("{} {}", format::shape(&array.shape), array.element.name)).weak(),
                200.0,
            );
            ui.separator();
            let axes = array.shape.len();
            for (mode, name, _) in MODES.into_iter().filter(|(.., needed)| *needed <= axes) {
                ui.selectable_value(&mut self.mode, mode, name);
            }
            ui.separator();
            self.show_quantities(ui, array);
            if matches!(self.mode, Mode::Slice | Mode::Mosaic | Mode::Planes)
                && ui.button("Fit").on_hover_text("All of it; also a double click, or Home").clicked()
            {
                self.panes.iter_mut().for_each(|pane| pane.plane.fit());
            }
            saving.button(ui);
        });
        ui.horizontal_wrapped(|ui| self.axes(ui, array));
        self.show_sliders(ui, array);
    }

    fn show_quantities(&mut self, ui: &mut Ui, array: &ArrayEntry) {
        let all = Quantity::all(&array.element);
        if all.len() < 2 {
            return;
        }
        let chosen = self.quantity.name(&array.element);
        ComboBox::new("quantity", "shows").selected_text(format::shorten(&chosen, 32)).show_ui(ui, |ui| {
            for (name, quantity) in all {
                format::list_entry(ui, &mut self.quantity, quantity, &name);
            }
        });
    }

    fn axes(&mut self, ui: &mut Ui, array: &ArrayEntry) {
        let count = array.shape.len();
        let choose = |ui: &mut Ui, label: &str, chosen: usize, options: &[usize]| {
            let mut choice = None;
            ComboBox::new(("axis", label), label).selected_text(format::axis(chosen)).width(70.0).show_ui(ui, |ui| {
                for &axis in options {
                    if ui.selectable_label(axis == chosen, format::axis(axis)).clicked() {
                        choice = Some(axis);
                    }
                }
            });
            choice
        };
        let all: Vec<usize> = (0..count).collect();
        if count > 1 && self.mode != Mode::Planes {
            if let Some(axis) = choose(ui, "across", self.slice.across, &all) {
                self.slice.set_across(axis);
            }
            if let (Some(up), true) = (self.slice.up, self.mode != Mode::Line)
                && let Some(axis) = choose(ui, "up", up, &all)
            {
                self.slice.set_up(axis);
            }
        }
        if let Mode::Mosaic | Mode::Volume = self.mode {
            let fixed: Vec<usize> = self.slice.fixed().collect();
            let label = if self.mode == Mode::Mosaic { "one tile each" } else { "deep" };
            if let Some(axis) = self.third_axis().and_then(|along| choose(ui, label, along, &fixed)) {
                self.along = Some(axis);
            }
        }
        if self.mode == Mode::Slice && !array.chunks.is_empty() {
            ui.checkbox(&mut self.is_single_chunk, "one chunk with its ghost cells");
            if self.is_single_chunk {
                let last = array.chunks.len() as u64 - 1;
                self.chunk = self.chunk.min(last);
                ui.add(DragValue::new(&mut self.chunk).range(0..=last).prefix("chunk ")).accessible_name("chunk");
                if let Some(chunk) = array.chunks.get(self.chunk as usize) {
                    ui.weak(format!("of rank {}", chunk.rank));
                    if ui.button("Go there").on_hover_text("Slices through its middle").clicked() {
                        let middle = chunk.start.iter().zip(&chunk.end).map(|(start, end)| (start + end - 1) / 2);
                        self.slice.at = middle.collect();
                        self.slice = self.slice.within(&array.shape);
                    }
                }
            }
        }
    }

    /// Shows a slider for each axis with a free index.
    fn show_sliders(&mut self, ui: &mut Ui, array: &ArrayEntry) {
        let third = matches!(self.mode, Mode::Mosaic | Mode::Volume).then(|| self.third_axis()).flatten();
        let free = |axis: usize| match self.mode {
            Mode::Planes => true,
            Mode::Line => axis != self.slice.across,
            _ => !self.slice.shows(axis) && Some(axis) != third,
        };
        let axes: Vec<usize> = (0..array.shape.len()).filter(|&axis| free(axis)).collect();
        if axes.is_empty() {
            return;
        }
        let columns = axes.len().min(MAX_SLIDERS_IN_ROW);
        let wide = ui.available_width() / columns as f32;
        for row in axes.chunks(MAX_SLIDERS_IN_ROW) {
            ui.horizontal(|ui| {
                for &axis in row {
                    ui.monospace(format::axis(axis));
                    // The rest of the width is for the axis name and the number.
                    ui.spacing_mut().slider_width = (wide - 100.0).clamp(24.0, 220.0);
                    let (low, high) = self.index_range(axis, array);
                    let slider = Slider::new(&mut self.slice.at[axis], low..=high);
                    ui.add(slider).accessible_name(format!("index along {}", format::axis(axis)));
                }
            });
        }
    }

    /// Lowest and highest index of an axis's slider. The ghost cells of one chunk may lie outside
    /// of the array.
    fn index_range(&self, axis: usize, array: &ArrayEntry) -> (i64, i64) {
        let last = array.shape[axis] - 1;
        if self.mode == Mode::Slice && self.is_single_chunk {
            (-array.ghosts[0][axis], last + array.ghosts[1][axis])
        } else {
            (0, last)
        }
    }
}
