//! The pick: the cell under the pointer, cells that are pinned, and what was in these over time.

mod cell;
mod history;

pub use cell::Cell;

use std::collections::BTreeMap;

use zippy::debug::protocol::ArrayEntry;
use zippy_view::egui::{Grid, RichText, Ui};

use super::store::{Found, Store};
use super::words;
use crate::look::{Exact, Member, place};
use cell::named;

/// Steps of a pin that are kept: the latest.
const MOST_STEPS: usize = 1 << 16;
/// Room for a cell with one number.
const CELL_HEIGHT: f32 = 92.0;
/// Pins that are kept: the latest.
const MOST_PINS: usize = 12;

/// The cell under the pointer and the pinned ones.
#[derive(Default)]
pub struct Picks {
    /// Set by whoever shows cells, in each frame.
    pub hovered: Option<Cell>,
    pins: Vec<Pin>,
    run: u64,
}

/// A cell that is looked at in every step.
struct Pin {
    cell: Cell,
    title: String,
    /// Its numbers by step.
    history: BTreeMap<u64, Vec<f64>>,
    /// The names of its numbers.
    names: Vec<String>,
}

impl Picks {
    /// Pins a cell, or lets it go if it is pinned.
    pub fn toggle(&mut self, array: &ArrayEntry, cell: Cell) {
        if let Some(place) = self.pins.iter().position(|pin| pin.cell == cell) {
            self.pins.remove(place);
            return;
        }
        let ghost = cell.chunk.map_or_else(String::new, |chunk| format!(" in chunk {chunk}"));
        let title = format!("{}{}{ghost}", words::title(array), words::place(&cell.at));
        self.pins.push(Pin { cell, title, history: BTreeMap::new(), names: Vec::new() });
        if self.pins.len() > MOST_PINS {
            self.pins.remove(0);
        }
    }

    /// The cells that are pinned.
    pub fn pinned(&self) -> impl Iterator<Item = &Cell> {
        self.pins.iter().map(|pin| &pin.cell)
    }

    /// Asks for what is in the pinned cells now. To be called in each frame, seen or not.
    pub fn update(&mut self, store: &mut Store, arrays: &[ArrayEntry]) {
        if self.run != store.run {
            self.run = store.run;
            // Numbers of arrays are those of one run.
            self.pins.clear();
            self.hovered = None;
        }
        for pin in &mut self.pins {
            let Some(array) = arrays.iter().find(|array| array.array == pin.cell.array) else { continue };
            let found = store.view(pin.cell.request());
            let Some(view) = found.view() else { continue };
            let Ok(members) = pin.cell.members(view, &array.element) else { continue };
            let numbers = all(&members);
            pin.history.insert(view.step, numbers.iter().map(|(_, exact)| exact.value).collect());
            pin.names = numbers.into_iter().map(|(name, _)| name).collect();
            if pin.history.len() > MOST_STEPS {
                pin.history.pop_first();
            }
        }
    }

    /// Shows what is under the pointer.
    pub fn pointed(&self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        // What is below stays where it is, whether there is a cell or not.
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

    /// Shows the pinned cells.
    pub fn show(&mut self, ui: &mut Ui, store: &mut Store, arrays: &[ArrayEntry]) {
        let array_of = |cell: &Cell| arrays.iter().find(|array| array.array == cell.array);
        if self.pins.is_empty() {
            ui.weak("Cells that are clicked stay here, from step to step.");
        }
        let mut removed = None;
        for (number, pin) in self.pins.iter().enumerate() {
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                words::name(ui, RichText::new(&pin.title).strong(), (ui.available_width() - 60.0).max(60.0));
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

fn show_cell(ui: &mut Ui, salt: &str, cell: &Cell, array: &ArrayEntry, found: &Found) {
    Grid::new(("cell", salt)).num_columns(2).spacing([10.0, 3.0]).show(ui, |ui| {
        let mut line = |name: &str, text: String| {
            ui.weak(name);
            words::name(ui, RichText::new(text).monospace(), (ui.available_width() - 4.0).max(100.0));
            ui.end_row();
        };
        line("cell", format!("{} of {}", words::place(&cell.at), words::title(array)));
        match place(array, cell.chunk, &cell.at) {
            Some(place) => {
                let kind = if place.owned { "owned by" } else { "ghost cell of" };
                line(kind, format!("rank {}, chunk {}", place.rank, place.chunk));
                line("local", words::place(&place.local));
                if let (false, Some((chunk, rank))) = (place.owned, place.owner) {
                    line("its owner", format!("rank {rank}, chunk {chunk}"));
                }
            }
            None if array.chunks.is_empty() => line("chunk", "not listed, they are too many".into()),
            None => line("chunk", "outside of all chunks".into()),
        }
        value(ui, cell, array, found);
    });
}

fn value(ui: &mut Ui, cell: &Cell, array: &ArrayEntry, found: &Found) {
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
    for (name, exact) in all(&members) {
        words::name(ui, RichText::new(if name.is_empty() { "value" } else { &name }).weak(), 120.0);
        ui.horizontal(|ui| {
            let text = RichText::new(&exact.text).monospace();
            ui.label(if found.fresh { text.strong() } else { text.weak() });
            ui.weak(RichText::new(&exact.bits).monospace());
        });
        ui.end_row();
    }
}

/// All numbers of a cell with their names.
fn all(members: &[Member]) -> Vec<(String, &Exact)> {
    let named = |member: &Member, component: usize| named(&member.name, component, member.components.len());
    let of = |member: &'_ Member| (0..member.components.len()).map(|one| named(member, one)).collect::<Vec<_>>();
    members.iter().flat_map(|member| of(member).into_iter().zip(&member.components)).collect()
}
