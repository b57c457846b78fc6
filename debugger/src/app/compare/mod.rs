//! Comparison of two arrays, of two steps of one array, or of an array with a recording.

mod recording;
mod view_difference;
mod whole_array;

use std::rc::Rc;

use zippy_protocol::{Answer, ArrayEntry, ArrayRef, Request, ViewRequest};
use zippy_view::egui::{Button, ComboBox, ScrollArea, Ui, UiBuilder};

use super::format;
use super::slices::Slices;
use super::store::Store;
use recording::Recording;
use view_difference::{ViewDifference, view};

/// Fraction of the tab's width for texts. The picture has the remaining width.
const TEXT_WIDTH_FRACTION: f32 = 0.55;

/// The Compare tab: the comparison target, which the user selects, and the differences from it.
#[derive(Default)]
pub(super) struct Compare {
    other: ComparisonTarget,
    kept_view: Option<KeptView>,
    recording: Recording,
    differences: ViewDifference,
    run: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum ComparisonTarget {
    #[default]
    Nothing,
    Array(ArrayRef),
    KeptView,
    Recording,
}

/// View of an array that the user kept for comparison with later steps.
struct KeptView {
    array: ArrayRef,
    request: ViewRequest,
    step: u64,
    answer: Rc<Answer>,
}

impl Compare {
    /// Shows the differences between the selected array and the comparison target.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        arrays: &[ArrayEntry],
        array: &ArrayEntry,
        slices: &mut Slices,
    ) {
        if self.run != store.run {
            // Array references are valid in one run; a recording is independent of runs.
            (self.kept_view, self.differences, self.run) = (None, ViewDifference::default(), store.run);
            if self.other != ComparisonTarget::Recording {
                self.other = ComparisonTarget::Nothing;
            }
        }
        let request = slices.view_state(array).ok().and_then(|view_state| view_state.request().cloned());
        // Texts on the left and the picture on the right, because both need the full height.
        let room = ui.available_rect_before_wrap();
        let middle = room.left() + room.width() * TEXT_WIDTH_FRACTION;
        let texts = UiBuilder::new().max_rect(room.with_max_x(middle - 8.0));
        ScrollArea::vertical().auto_shrink(false).show(&mut ui.new_child(texts), |ui| {
            self.choose_target(ui, store, arrays, array, request.as_ref());
            match self.other {
                ComparisonTarget::Nothing => {
                    drop(ui.weak("Choose what to compare with, or keep what is seen and go on."))
                }
                ComparisonTarget::Array(other) => match arrays.iter().find(|entry| entry.array == other) {
                    Some(other) => self.compare_arrays(ui, store, array, other, request, slices),
                    None => drop(ui.weak("the other array is gone")),
                },
                ComparisonTarget::KeptView => self.compare_steps(ui, store, array, slices),
                ComparisonTarget::Recording => {
                    self.recording.show(ui, store, array, request, slices, &mut self.differences)
                }
            }
        });
        let picture = UiBuilder::new().max_rect(room.with_min_x(middle));
        self.differences.picture(&mut ui.new_child(picture), array);
        ui.advance_cursor_after_rect(room);
    }

    fn choose_target(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        arrays: &[ArrayEntry],
        array: &ArrayEntry,
        request: Option<&ViewRequest>,
    ) {
        ui.horizontal_wrapped(|ui| {
            format::label(ui, format::title(array), 200.0);
            ui.label("with");
            let alike = |entry: &&ArrayEntry| {
                entry.array != array.array && entry.shape == array.shape && entry.element == array.element
            };
            let chosen = match self.other {
                ComparisonTarget::Nothing => "…".into(),
                ComparisonTarget::KeptView => "what was kept".into(),
                ComparisonTarget::Recording => "a recording".into(),
                ComparisonTarget::Array(other) => {
                    arrays.iter().find(|entry| entry.array == other).map_or_else(|| "?".into(), format::title)
                }
            };
            ComboBox::new("compare with", "")
                .selected_text(format::shorten(&chosen, 32))
                .width(140.0)
                .show_ui(ui, |ui| {
                    for entry in arrays.iter().filter(alike) {
                        format::list_entry(
                            ui,
                            &mut self.other,
                            ComparisonTarget::Array(entry.array),
                            &format::title(entry),
                        );
                    }
                    if let Some(kept_view) = self.kept_view.as_ref().filter(|kept_view| kept_view.array == array.array)
                    {
                        let text = format!("itself in step {}", kept_view.step);
                        ui.selectable_value(&mut self.other, ComparisonTarget::KeptView, text);
                    }
                    ui.selectable_value(&mut self.other, ComparisonTarget::Recording, "a recording");
                })
                .response
                .accessible_name("compare with");
            let found = request.map(|request| store.view(request.clone()));
            let there = found.as_ref().filter(|found| found.is_fresh).and_then(|found| found.answer());
            let keep = ui.add_enabled(there.is_some(), Button::new("Keep this step"));
            if let Some(answer) = there.filter(|_| keep.on_hover_text("To compare later steps with it").clicked())
                && let Some(view) = view(answer)
            {
                let (array, request, step) = (array.array, view.of.clone(), view.step);
                self.kept_view = Some(KeptView { array, request, step, answer: Rc::clone(answer) });
                self.other = ComparisonTarget::KeptView;
            }
            self.differences.measures(ui);
        });
    }

    /// Shows the number of differing cells of two whole arrays, counted by the program, and the
    /// differences in the visible slice.
    fn compare_arrays(
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
        let Ok(view_state) = slices.view_state(array) else { return };
        if let Some(difference) = whole.difference() {
            let first = difference.first.as_deref();
            ui.horizontal(|ui| {
                whole_array::line(ui, &whole_array::whole_text(difference.cells), first, array, view_state)
            });
        }
        let Some(request) = request else {
            ui.weak("Look at a slice to see where they differ.");
            return;
        };
        let first_view = store.view(request.clone());
        let second_view = store.view(ViewRequest { array: other.array, ..request });
        // The session may be between two steps: compare only answers of the same step.
        let step = first_view.view().map_or(0, |view| view.step);
        self.differences.show(ui, array, [&first_view, &second_view], [step; 2], view_state);
    }

    /// Shows the differences between the kept view and the current values of the same box.
    fn compare_steps(&mut self, ui: &mut Ui, store: &mut Store, array: &ArrayEntry, slices: &mut Slices) {
        let (Some(kept_view), Ok(view_state)) = (&self.kept_view, slices.view_state(array)) else { return };
        if kept_view.array != array.array {
            ui.weak("The kept step is of another array.");
            return;
        }
        let now = store.view(kept_view.request.clone());
        match (now.answer(), now.error.as_ref()) {
            (_, Some(error)) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
            (Some(answer), _) => {
                let step = view(answer).map_or(0, |view| view.step);
                ui.label(format!("step {step} less step {}", kept_view.step));
                self.differences.pair(ui, array, [&kept_view.answer, answer], view_state);
            }
            _ => drop(ui.weak("loading …")),
        }
    }
}
