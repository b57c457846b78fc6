//! Two arrays, two steps of one, or an array and a recording of it, beside each other: what differs.

mod recording;
mod seen;
mod whole;

use std::rc::Rc;

use zippy::debug::protocol::{Answer, ArrayEntry, ArrayRef, Request, ViewRequest};
use zippy_view::egui::{Button, ComboBox, ScrollArea, Ui, UiBuilder};

use super::slices::Slices;
use super::store::Store;
use super::words;
use recording::Recording;
use seen::{Seen, view};

/// The share of the width that texts have.
const TEXTS: f32 = 0.55;

/// What is compared with the array that is looked at.
#[derive(Default)]
pub struct Compare {
    with: With,
    kept: Option<Kept>,
    recording: Recording,
    seen: Seen,
    run: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum With {
    #[default]
    Nothing,
    Array(ArrayRef),
    Kept,
    Recording,
}

/// What was seen of an array in another step.
struct Kept {
    array: ArrayRef,
    request: ViewRequest,
    step: u64,
    answer: Rc<Answer>,
}

impl Compare {
    /// Shows where the array that is looked at differs from another one, or from itself at another time.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        arrays: &[ArrayEntry],
        array: &ArrayEntry,
        slices: &mut Slices,
    ) {
        if self.run != store.run {
            // Numbers of arrays are of one run; a recording stays what it is.
            (self.kept, self.seen, self.run) = (None, Seen::default(), store.run);
            if self.with != With::Recording {
                self.with = With::Nothing;
            }
        }
        let request = slices.look(array).ok().and_then(|look| look.request().cloned());
        // Texts to the left, the picture to the right: both need the height.
        let room = ui.available_rect_before_wrap();
        let middle = room.left() + room.width() * TEXTS;
        let texts = UiBuilder::new().max_rect(room.with_max_x(middle - 8.0));
        ScrollArea::vertical().auto_shrink(false).show(&mut ui.new_child(texts), |ui| {
            self.choice(ui, store, arrays, array, request.as_ref());
            match self.with {
                With::Nothing => drop(ui.weak("Choose what to compare with, or keep what is seen and go on.")),
                With::Array(other) => match arrays.iter().find(|entry| entry.array == other) {
                    Some(other) => self.arrays(ui, store, array, other, request, slices),
                    None => drop(ui.weak("the other array is gone")),
                },
                With::Kept => self.steps(ui, store, array, slices),
                With::Recording => self.recording.show(ui, store, array, request, slices, &mut self.seen),
            }
        });
        let picture = UiBuilder::new().max_rect(room.with_min_x(middle));
        self.seen.picture(&mut ui.new_child(picture), array);
        ui.advance_cursor_after_rect(room);
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
            words::name(ui, words::title(array), 200.0);
            ui.label("with");
            let alike = |entry: &&ArrayEntry| {
                entry.array != array.array && entry.shape == array.shape && entry.element == array.element
            };
            let chosen = match self.with {
                With::Nothing => "…".into(),
                With::Kept => "what was kept".into(),
                With::Recording => "a recording".into(),
                With::Array(other) => {
                    arrays.iter().find(|entry| entry.array == other).map_or_else(|| "?".into(), words::title)
                }
            };
            ComboBox::new("compare with", "")
                .selected_text(words::cut(&chosen, 32))
                .width(140.0)
                .show_ui(ui, |ui| {
                    for entry in arrays.iter().filter(alike) {
                        words::entry(ui, &mut self.with, With::Array(entry.array), &words::title(entry));
                    }
                    if let Some(kept) = self.kept.as_ref().filter(|kept| kept.array == array.array) {
                        let text = format!("itself in step {}", kept.step);
                        ui.selectable_value(&mut self.with, With::Kept, text);
                    }
                    ui.selectable_value(&mut self.with, With::Recording, "a recording");
                })
                .response
                .accessible_name("compare with");
            let found = request.map(|request| store.view(request.clone()));
            let there = found.as_ref().filter(|found| found.fresh).and_then(|found| found.answer());
            let keep = ui.add_enabled(there.is_some(), Button::new("Keep this step"));
            if let Some(answer) = there.filter(|_| keep.on_hover_text("To compare later steps with it").clicked())
                && let Some(view) = view(answer)
            {
                let (array, request, step) = (array.array, view.of.clone(), view.step);
                self.kept = Some(Kept { array, request, step, answer: Rc::clone(answer) });
                self.with = With::Kept;
            }
            self.seen.measures(ui);
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
        let Ok(look) = slices.look(array) else { return };
        if let Some(difference) = whole.difference() {
            let first = difference.first.as_deref();
            ui.horizontal(|ui| whole::line(ui, &whole::whole_text(difference.cells), first, array, look));
        }
        let Some(request) = request else {
            ui.weak("Look at a slice to see where they differ.");
            return;
        };
        let one = store.view(request.clone());
        let two = store.view(ViewRequest { array: other.array, ..request });
        // Both of one step, whichever it is.
        let step = one.view().map_or(0, |view| view.step);
        self.seen.show(ui, array, [&one, &two], [step; 2], look);
    }

    /// The same box as was kept, now.
    fn steps(&mut self, ui: &mut Ui, store: &mut Store, array: &ArrayEntry, slices: &mut Slices) {
        let (Some(kept), Ok(look)) = (&self.kept, slices.look(array)) else { return };
        if kept.array != array.array {
            ui.weak("What was kept is of another array.");
            return;
        }
        let now = store.view(kept.request.clone());
        match (now.answer(), now.error.as_ref()) {
            (_, Some(error)) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
            (Some(answer), _) => {
                let step = view(answer).map_or(0, |view| view.step);
                ui.label(format!("step {step} less step {}", kept.step));
                self.seen.pair(ui, array, [&kept.answer, answer], look);
            }
            _ => drop(ui.weak("asking …")),
        }
    }
}
