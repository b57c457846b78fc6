//! Two arrays, or two steps of one, beside each other: what differs.

use zippy::debug::protocol::{ArrayEntry, ArrayRef, Request, View, ViewRequest};
use zippy_view::egui::{ComboBox, Ui, vec2};

use super::slices::{Difference, Slices};
use super::store::Store;
use super::words;
use crate::look::{Differences, Measure};

const MEASURES: [(&str, Measure); 4] = [
    ("absolute", Measure::Absolute),
    ("signed", Measure::Signed),
    ("relative", Measure::Relative),
    ("ULP", Measure::Ulp),
];

/// What is compared with the array that is looked at.
#[derive(Default)]
pub struct Compare {
    with: With,
    measure: usize,
    kept: Option<Kept>,
    picture: Difference,
    run: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum With {
    #[default]
    Nothing,
    Array(ArrayRef),
    Kept,
}

/// What was seen of an array in another step.
struct Kept {
    array: ArrayRef,
    view: View,
}

impl Compare {
    /// Shows where the array that is looked at differs from another one, or from itself before.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        arrays: &[ArrayEntry],
        array: &ArrayEntry,
        slices: &mut Slices,
    ) {
        if self.run != store.run {
            *self = Self { run: store.run, ..Self::default() };
        }
        let request = slices.look(array).ok().and_then(|look| look.request().cloned());
        self.choice(ui, store, arrays, array, request.as_ref());
        match self.with {
            With::Nothing => drop(ui.weak("Choose what to compare with, or keep what is seen and go on.")),
            With::Array(other) => match arrays.iter().find(|entry| entry.array == other) {
                Some(other) => self.arrays(ui, store, array, other, request, slices),
                None => drop(ui.weak("the other array is gone")),
            },
            With::Kept => self.steps(ui, store, array, slices),
        }
    }

    fn choice(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        arrays: &[ArrayEntry],
        array: &ArrayEntry,
        request: Option<&ViewRequest>,
    ) {
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("{} with", words::title(array)));
            let alike = |entry: &&ArrayEntry| {
                entry.array != array.array && entry.shape == array.shape && entry.element == array.element
            };
            let chosen = match self.with {
                With::Nothing => "…".into(),
                With::Kept => "what was kept".into(),
                With::Array(other) => {
                    arrays.iter().find(|entry| entry.array == other).map_or_else(|| "?".into(), words::title)
                }
            };
            ComboBox::new("compare with", "")
                .selected_text(chosen)
                .width(140.0)
                .show_ui(ui, |ui| {
                    for entry in arrays.iter().filter(alike) {
                        ui.selectable_value(&mut self.with, With::Array(entry.array), words::title(entry));
                    }
                    if let Some(kept) = self.kept.as_ref().filter(|kept| kept.array == array.array) {
                        let text = format!("itself in step {}", kept.view.step);
                        ui.selectable_value(&mut self.with, With::Kept, text);
                    }
                })
                .response
                .accessible_name("compare with");
            let found = request.map(|request| store.view(request.clone()));
            let view = found.as_ref().and_then(|found| found.view().filter(|_| found.fresh));
            let keep = ui.add_enabled(view.is_some(), zippy_view::egui::Button::new("Keep this step"));
            if let Some(view) = view.filter(|_| keep.on_hover_text("To compare later steps with it").clicked()) {
                self.kept = Some(Kept { array: array.array, view: view.clone() });
                self.with = With::Kept;
            }
            for (number, (name, _)) in MEASURES.iter().enumerate() {
                ui.radio_value(&mut self.measure, number, *name);
            }
        });
    }

    /// All cells of both by the program, those that are seen here.
    fn arrays(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        array: &ArrayEntry,
        other: &ArrayEntry,
        request: Option<ViewRequest>,
        slices: &mut Slices,
    ) {
        let whole = store.want(Request::Compare(array.array, other.array));
        if let Some(error) = &whole.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        if let Some(difference) = whole.difference() {
            let text = match &difference.first {
                Some(first) => {
                    format!("{} cells differ in all, the first at {}", difference.cells, words::place(first))
                }
                None => "all cells are the same bits".into(),
            };
            ui.horizontal(|ui| {
                ui.label(text);
                if let Some(first) = &difference.first
                    && ui.button("Go to the first").clicked()
                    && let Ok(look) = slices.look(array)
                {
                    look.go_to(array, first);
                }
            });
        }
        let Some(request) = request else {
            ui.weak("Look at a slice to see where they differ.");
            return;
        };
        let one = store.view(request.clone());
        let two = store.view(ViewRequest { array: other.array, ..request });
        if let (Some(one), Some(two)) = (one.view(), two.view()) {
            self.difference(ui, array, (one, two), slices);
        }
        for error in [one.error, two.error].into_iter().flatten() {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
    }

    /// The same box as was kept, now.
    fn steps(&mut self, ui: &mut Ui, store: &mut Store, array: &ArrayEntry, slices: &mut Slices) {
        let Some(kept) = self.kept.take() else { return };
        if kept.array == array.array {
            let now = store.view(kept.view.of.clone());
            match (now.view(), now.error.as_ref()) {
                (_, Some(error)) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
                (Some(view), _) => {
                    ui.label(format!("step {} less step {}", view.step, kept.view.step));
                    self.difference(ui, array, (&kept.view, view), slices);
                }
                _ => drop(ui.weak("asking …")),
            }
        } else {
            ui.weak("What was kept is of another array.");
        }
        self.kept = Some(kept);
    }

    fn difference(&mut self, ui: &mut Ui, array: &ArrayEntry, (one, two): (&View, &View), slices: &mut Slices) {
        let Ok(look) = slices.look(array) else { return };
        let (slice, quantity) = look.slice();
        let slice = slice.clone();
        let element = &array.element;
        let differences = match Differences::new((one, element), (two, element), quantity) {
            Ok(differences) => differences,
            Err(error) => {
                ui.colored_label(ui.visuals().error_fg_color, error);
                return;
            }
        };
        ui.horizontal_wrapped(|ui| {
            let shown = |value: Option<f64>| value.map_or_else(|| "none".into(), words::short);
            ui.label(format!("{} cells differ of those seen", differences.cells));
            ui.weak(format!("largest: {}", shown(differences.largest)));
            ui.weak(format!("relative {}", shown(differences.largest_relative)));
            ui.weak(format!("ULP {}", shown(differences.largest_ulp)));
            if differences.nans > 0 {
                ui.colored_label(ui.visuals().warn_fg_color, format!("NaN on one side: {}", differences.nans));
            }
        });
        let size = ui.available_size().max(vec2(40.0, 40.0));
        let values = differences.values(MEASURES[self.measure.min(MEASURES.len() - 1)].1);
        self.picture.show(ui, size, array, &slice, quantity, values);
    }
}
