//! [`Whole`]: all cells of an array held against all of a recording, fetched and compared beside the window.

use zippy::debug::protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::Ui;

use super::seen::largest;
use crate::app::slices::Look;
use crate::app::store::Store;
use crate::app::task::Task;
use crate::app::words;
use crate::look::{Differences, Quantity};

/// Arrays of no more bytes are compared whole unasked.
const UNASKED: u64 = 4 << 20;
/// Larger ones would take too much memory here, as would more cells: each is a few `f64`.
const MOST: u64 = 256 << 20;
const MOST_CELLS: u64 = 32 << 20;

/// What it is of: another debug point or array makes it another comparison.
#[derive(Clone, PartialEq)]
pub struct Key {
    pub epochs: [u64; 2],
    pub quantity: Quantity,
    pub requests: [ViewRequest; 2],
}

/// The comparison, or what has come of it.
#[derive(Default)]
pub struct Whole {
    key: Option<Key>,
    task: Option<Task<Differences>>,
    found: Option<Result<Differences, String>>,
}

impl Whole {
    /// Goes on with it, and shows what there is. The first store and request are those of the recording.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        key: Key,
        array: &ArrayEntry,
        stores: [&mut Store; 2],
        waits: bool,
        look: &mut Look,
    ) {
        if self.key.as_ref() != Some(&key) {
            *self = Self { key: Some(key.clone()), ..Self::default() };
        }
        ui.horizontal_wrapped(|ui| {
            if array.bytes > MOST || count(array) > MOST_CELLS {
                let most = words::bytes(MOST);
                ui.weak(format!("more than {most} or {MOST_CELLS} cells are compared whole by the command `compare`"));
            } else if self.task.is_none() && self.found.is_none() {
                let pressed = ui.button("Compare all cells").clicked();
                if pressed || (waits && array.bytes <= UNASKED) {
                    self.start(ui, key, array);
                }
            }
            let done = self.task.as_mut().and_then(|task| {
                let [one, other] = stores;
                task.go_on(&mut [one, other])
            });
            if let Some(done) = done {
                (self.task, self.found) = (None, Some(done));
            }
            if let Some(task) = &self.task {
                ui.weak(format!("comparing … {} have come", words::bytes(task.fetched as u64)));
                if ui.button("Cancel").clicked() {
                    (self.task, self.found) = (None, Some(Err("not compared".into())));
                }
            }
            match &self.found {
                Some(Ok(found)) => {
                    line(ui, &text(found, array), found.first.as_deref(), array, look);
                    largest(ui, found);
                }
                Some(Err(error)) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
                None => {}
            }
        });
    }

    fn start(&mut self, ui: &Ui, key: Key, array: &ArrayEntry) {
        let element = array.element.clone();
        let started = Task::start(ui.ctx(), move |source| {
            let Key { quantity, requests: [one, other], .. } = key;
            let one = source.cells(0, &one, element.bytes as usize)?;
            // A recording has what it has.
            let same = ViewRequest { array: other.array, ..one.of.clone() };
            let other = source.cells(1, &same, element.bytes as usize)?;
            Differences::new((&one, &element), (&other, &element), quantity)
        });
        match started {
            Ok(task) => self.task = Some(task),
            Err(error) => self.found = Some(Err(error)),
        }
    }
}

fn count(array: &ArrayEntry) -> u64 {
    array.shape.iter().fold(1, |count, &extent| count.saturating_mul(extent.unsigned_abs()))
}

/// How many cells differ of those that were compared.
fn text(found: &Differences, array: &ArrayEntry) -> String {
    let (compared, all) = (found.compared(), count(array));
    if compared == all {
        return whole_text(found.cells);
    }
    let strides: Vec<String> = found.of().stride.iter().map(i64::to_string).collect();
    let of = format!("{compared} cells were recorded, one of every {}", strides.join(" × "));
    match found.cells {
        0 => format!("{of}: all of these are the same bits"),
        cells => format!("{of}: {cells} of these differ"),
    }
}

/// How many cells differ of all.
pub fn whole_text(cells: u64) -> String {
    match cells {
        0 => "all cells are the same bits".into(),
        cells => format!("{cells} cells differ in all"),
    }
}

/// A text about cells that differ, and the way to the first of them.
pub fn line(ui: &mut Ui, text: &str, first: Option<&[i64]>, array: &ArrayEntry, look: &mut Look) {
    let Some(first) = first else { return drop(ui.label(text)) };
    ui.label(format!("{text}, the first at {}", words::place(first)));
    if ui.button("Go to the first").clicked() {
        look.go_to(array, first);
    }
}
