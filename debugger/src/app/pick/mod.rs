//! The cell under the pointer, the pinned cells, and the values of the pinned cells over time.

mod cell;
mod history;

pub(super) use cell::Cell;

use std::collections::BTreeMap;

use zippy_protocol::ArrayEntry;
use zippy_view::egui::{Grid, RichText, Ui};

use super::format;
use super::store::{CachedAnswer, Store};
use crate::imaging::{ExactNumber, Member, locate};
use cell::number_name;

/// Maximum number of steps in the history of a pinned cell. A further step replaces the oldest one.
const MAX_STEPS: usize = 1 << 16;
/// Minimum height of the text about the cell under the pointer, enough for a cell with one number,
/// in points.
const CELL_HEIGHT: f32 = 92.0;
/// Maximum number of pinned cells. A further pin replaces the oldest one.
const MAX_PINS: usize = 12;

/// The cell under the pointer and the pinned cells.
#[derive(Default)]
pub(super) struct Picks {
    /// Cell under the pointer. Views of cells set it in each frame.
    pub hovered: Option<Cell>,
    pins: Vec<Pin>,
    run: u64,
}

/// A pinned cell with the history of its values.
struct Pin {
    cell: Cell,
    title: String,
    /// Numbers of the cell, by step.
    history: BTreeMap<u64, Vec<f64>>,
    names: Vec<String>,
}

impl Picks {
    /// Pins a cell, or unpins it.
    pub(super) fn toggle(&mut self, array: &ArrayEntry, cell: Cell) {
        if let Some(index) = self.pins.iter().position(|pin| pin.cell == cell) {
            self.pins.remove(index);
            return;
        }
        let ghost = cell.chunk.map_or_else(String::new, |chunk| format!(" in chunk {chunk}"));
        let title = format!("{}{}{ghost}", format::title(array), format::index(&cell.at));
        self.pins.push(Pin { cell, title, history: BTreeMap::new(), names: Vec::new() });
        if self.pins.len() > MAX_PINS {
            self.pins.remove(0);
        }
    }

    pub(super) fn pinned(&self) -> impl Iterator<Item = &Cell> {
        self.pins.iter().map(|pin| &pin.cell)
    }

    /// Requests the current values of the pinned cells. Must be called in each frame, also if the
    /// pins are not visible.
    pub(super) fn update(&mut self, store: &mut Store, arrays: &[ArrayEntry]) {
        if self.run != store.run {
            self.run = store.run;
            // Array references are valid in one run.
            self.pins.clear();
            self.hovered = None;
        }
        for pin in &mut self.pins {
            let Some(array) = arrays.iter().find(|array| array.array == pin.cell.array) else { continue };
            let found = store.view(pin.cell.request());
            let Some(view) = found.view() else { continue };
            let Ok(members) = pin.cell.members(view, &array.element) else { continue };
            let numbers = named_numbers(&members);
            pin.history.insert(view.step, numbers.iter().map(|(_, exact)| exact.value).collect());
            pin.names = numbers.into_iter().map(|(name, _)| name).collect();
            if pin.history.len() > MAX_STEPS {
                pin.history.pop_first();
            }
        }
    }

    pub(super) fn show_hovered(&self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        // A fixed height keeps the widgets below in position.
        ui.set_min_height(CELL_HEIGHT);
        let array_of = |cell: &Cell| arrays.iter().find(|array| array.array == cell.array);
        match self.hovered.as_ref().and_then(|cell| Some((cell, array_of(cell)?))) {
            Some((cell, array)) => {
                let found = store.view(cell.request());
                show_cell(ui, "under the pointer", cell, array, &found);
            }
            None => drop(ui.weak("Point at a cell to see what is in it; click to pin it.")),
        }
    }

    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        let array_of = |cell: &Cell| arrays.iter().find(|array| array.array == cell.array);
        if self.pins.is_empty() {
            ui.weak("Cells that are clicked stay here, from step to step.");
        }
        let mut removed = None;
        for (number, pin) in self.pins.iter().enumerate() {
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                format::label(ui, RichText::new(&pin.title).strong(), (ui.available_width() - 60.0).max(60.0));
                let remove = ui.small_button("Unpin");
                if remove.accessible_name(format!("unpin {}", pin.title)).clicked() {
                    removed = Some(number);
                }
            });
            match array_of(&pin.cell) {
                Some(array) => {
                    let found = store.view(pin.cell.request());
                    show_cell(ui, &pin.title, &pin.cell, array, &found);
                }
                None => drop(ui.weak("its array is gone")),
            }
        }
        if let Some(number) = removed {
            self.pins.remove(number);
        }
    }
}

fn show_cell(ui: &mut Ui, salt: &str, cell: &Cell, array: &ArrayEntry, found: &CachedAnswer) {
    Grid::new(("cell", salt)).num_columns(2).spacing([10.0, 3.0]).show(ui, |ui| {
        let mut line = |name: &str, text: String| {
            ui.weak(name);
            format::label(ui, RichText::new(text).monospace(), (ui.available_width() - 4.0).max(100.0));
            ui.end_row();
        };
        line("cell", format!("{} of {}", format::index(&cell.at), format::title(array)));
        match locate(array, cell.chunk, &cell.at) {
            Some(location) => {
                let kind = if location.owned { "owned by" } else { "ghost cell of" };
                line(kind, format!("rank {}, chunk {}", location.rank, location.chunk));
                line("local", format::index(&location.local));
                if let (false, Some((chunk, rank))) = (location.owned, location.owner) {
                    line("its owner", format!("rank {rank}, chunk {chunk}"));
                }
            }
            None if array.chunks.is_empty() => line("chunk", "not listed, they are too many".into()),
            None => line("chunk", "outside of all chunks".into()),
        }
        value(ui, cell, array, found);
    });
}

fn value(ui: &mut Ui, cell: &Cell, array: &ArrayEntry, found: &CachedAnswer) {
    let members = found.view().map(|view| cell.members(view, &array.element));
    let error = found.error.as_ref().or_else(|| members.as_ref().and_then(|members| members.as_ref().err()));
    if let Some(error) = error {
        ui.weak("value");
        ui.colored_label(ui.visuals().error_fg_color, error);
        ui.end_row();
        return;
    }
    let Some(Ok(members)) = members else {
        ui.weak("value");
        ui.weak("…");
        ui.end_row();
        return;
    };
    for (name, exact) in named_numbers(&members) {
        format::label(ui, RichText::new(if name.is_empty() { "value" } else { &name }).weak(), 120.0);
        ui.horizontal(|ui| {
            let text = RichText::new(&exact.text).monospace();
            ui.label(if found.is_fresh { text.strong() } else { text.weak() });
            ui.weak(RichText::new(&exact.bits).monospace());
        });
        ui.end_row();
    }
}

fn named_numbers(members: &[Member]) -> Vec<(String, &ExactNumber)> {
    let name = |member: &Member, component: usize| number_name(&member.name, component, member.components.len());
    let names =
        |member: &'_ Member| (0..member.components.len()).map(|component| name(member, component)).collect::<Vec<_>>();
    members.iter().flat_map(|member| names(member).into_iter().zip(&member.components)).collect()
}
