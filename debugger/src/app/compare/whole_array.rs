//! [`WholeComparison`]: comparison of all cells of an array with a recording. A separate thread
//! fetches and compares the cells.

use zippy_protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::Ui;

use super::view_difference::largest;
use crate::app::format;
use crate::app::slices::ViewState;
use crate::app::store::Store;
use crate::app::task::Task;
use crate::imaging::{Differences, Quantity, TypedView};

/// Maximum size, in bytes, of an array that is compared without a click on the button.
const MAX_AUTOMATIC_BYTES: u64 = 4 << 20;
/// Maximum size, in bytes and in cells, of an array that the window compares. A comparison needs a
/// few `f64` per cell.
const MAX_BYTES: u64 = 256 << 20;
const MAX_CELLS: u64 = 32 << 20;

/// Identifies a comparison. Another debug point, quantity or box starts a new comparison.
#[derive(Clone, PartialEq)]
pub(super) struct Key {
    pub epochs: [u64; 2],
    pub quantity: Quantity,
    pub requests: [ViewRequest; 2],
}

/// A running comparison, or its result.
#[derive(Default)]
pub(super) struct WholeComparison {
    key: Option<Key>,
    task: Option<Task<Differences>>,
    result: Option<Result<Differences, String>>,
}

impl WholeComparison {
    /// Advances the comparison and shows its state. `stores` and the requests of `key` have the
    /// recording first, then the program. `waits` is true while the program pauses.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        key: Key,
        array: &ArrayEntry,
        stores: [&mut Store; 2],
        is_paused: bool,
        view_state: &mut ViewState,
    ) {
        if self.key.as_ref() != Some(&key) {
            *self = Self { key: Some(key.clone()), ..Self::default() };
        }
        ui.horizontal_wrapped(|ui| {
            if array.bytes > MAX_BYTES || cell_count(array) > MAX_CELLS {
                let most = format::bytes(MAX_BYTES);
                ui.weak(format!("more than {most} or {MAX_CELLS} cells are compared whole by the command `compare`"));
            } else if self.task.is_none() && self.result.is_none() {
                let pressed = ui.button("Compare all cells").clicked();
                if pressed || (is_paused && array.bytes <= MAX_AUTOMATIC_BYTES) {
                    self.start(ui, key, array);
                }
            }
            let done = self.task.as_mut().and_then(|task| {
                let [recording, program] = stores;
                task.poll(&mut [recording, program])
            });
            if let Some(done) = done {
                (self.task, self.result) = (None, Some(done));
            }
            if let Some(task) = &self.task {
                ui.weak(format!("comparing … {} received", format::bytes(task.fetched as u64)));
                if ui.button("Cancel").clicked() {
                    (self.task, self.result) = (None, Some(Err("not compared".into())));
                }
            }
            match &self.result {
                Some(Ok(result)) => {
                    line(ui, &difference_text(result, array), result.first.as_deref(), array, view_state);
                    largest(ui, result);
                }
                Some(Err(error)) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
                None => {}
            }
        });
    }

    fn start(&mut self, ui: &Ui, key: Key, array: &ArrayEntry) {
        let element = array.element.clone();
        let started = Task::start(ui.ctx(), move |source| {
            let Key { quantity, requests: [recorded_request, request], .. } = key;
            let recorded = source.cells(0, &recorded_request, element.bytes as usize)?;
            // The recording may be coarser: request the same cells from the program.
            let request = ViewRequest { array: request.array, ..recorded.of.clone() };
            let current = source.cells(1, &request, element.bytes as usize)?;
            let typed = |view| TypedView { view, element: &element };
            Differences::new(typed(&recorded), typed(&current), quantity)
        });
        match started {
            Ok(task) => self.task = Some(task),
            Err(error) => self.result = Some(Err(error)),
        }
    }
}

fn cell_count(array: &ArrayEntry) -> u64 {
    array.shape.iter().fold(1, |count, &extent| count.saturating_mul(extent.unsigned_abs()))
}

/// Text about the number of differing cells among the compared ones.
fn difference_text(result: &Differences, array: &ArrayEntry) -> String {
    let (compared, all) = (result.compared(), cell_count(array));
    if compared == all {
        return whole_text(result.cells);
    }
    let strides: Vec<String> = result.of().stride.iter().map(i64::to_string).collect();
    let sample = format!("{compared} cells were recorded, one of every {}", strides.join(" × "));
    match result.cells {
        0 => format!("{sample}: all of these are the same bits"),
        cells => format!("{sample}: {cells} of these differ"),
    }
}

/// Text about the number of differing cells of a whole array.
pub(super) fn whole_text(cells: u64) -> String {
    match cells {
        0 => "all cells are the same bits".into(),
        cells => format!("{cells} cells differ in all"),
    }
}

/// Shows a text about differing cells, and a button that goes to the first differing cell.
pub(super) fn line(ui: &mut Ui, text: &str, first: Option<&[i64]>, array: &ArrayEntry, view_state: &mut ViewState) {
    let Some(first) = first else { return drop(ui.label(text)) };
    ui.label(format!("{text}, the first at {}", format::index(first)));
    if ui.button("Go to the first").clicked() {
        view_state.go_to(array, first);
    }
}
