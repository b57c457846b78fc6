//! [`Recording`]: comparison of the program with a recording, at each debug point.

use zippy_protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::{Key, TextEdit, Ui};

use super::view_difference::ViewDifference;
use super::whole_array::{self, WholeComparison};
use crate::app::control::steps_slider;
use crate::app::slices::Slices;
use crate::app::store::Store;
use crate::app::{format, repaint_waker};
use crate::client::replay;
use crate::session::Session;

/// Field for the path of a recording, and the open recording.
#[derive(Default)]
pub(super) struct Recording {
    path: String,
    open: Option<OpenRecording>,
    error: Option<String>,
}

struct OpenRecording {
    session: Box<dyn Session>,
    store: Store,
    /// True if the recording moves to each debug point of the program.
    is_following: bool,
    whole_array: WholeComparison,
}

impl Recording {
    /// Shows the differences between an array and the array of the same name in the recording.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        array: &ArrayEntry,
        request: Option<ViewRequest>,
        slices: &mut Slices,
        differences: &mut ViewDifference,
    ) {
        ui.horizontal(|ui| {
            let field = ui.add(TextEdit::singleline(&mut self.path).desired_width(300.0).hint_text("run.zrec"));
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            field.accessible_name("recording to compare with");
            if ui.button("Open").clicked() || entered {
                match replay(self.path.trim()) {
                    Ok(mut session) => {
                        session.set_waker(repaint_waker(ui));
                        let (store, whole_array) = (Store::default(), WholeComparison::default());
                        self.open = Some(OpenRecording { session, store, is_following: true, whole_array });
                        self.error = None;
                    }
                    Err(error) => (self.open, self.error) = (None, Some(error)),
                }
            }
            if let Some(open) = &mut self.open {
                ui.checkbox(&mut open.is_following, "same debug point").on_hover_text("By its number");
            }
        });
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        if let Some(open) = &mut self.open {
            open.store.begin(&mut *open.session);
            if let Err(error) = open.compare(ui, store, array, request, slices, differences) {
                ui.colored_label(ui.visuals().warn_fg_color, error);
            }
            open.store.finish(&mut *open.session);
        }
    }
}

impl OpenRecording {
    fn compare(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        array: &ArrayEntry,
        request: Option<ViewRequest>,
        slices: &mut Slices,
        differences: &mut ViewDifference,
    ) -> Result<(), String> {
        let steps = self.session.steps().to_vec();
        let [Some(first), Some(last)] = [steps.first(), steps.last()] else {
            return Err("the recording has no debug point".into());
        };
        let point = store.point.clone();
        if self.is_following {
            let wanted = point.as_ref().map_or(*first, |point| point.step);
            if !steps.contains(&wanted) {
                return Err(format!(
                    "the recording has no debug point {wanted}; it has {} from {first} to {last}: choose one, without “same \
                     debug point”",
                    steps.len()
                ));
            }
            if self.store.point.as_ref().is_none_or(|point| point.step != wanted) {
                self.session.go_to(wanted);
            }
        } else {
            steps_slider(ui, &self.store, &mut *self.session, &steps, "debug point of the recording");
        }
        let listed = self.store.arrays();
        let Some(arrays) = listed.arrays() else {
            return listed.error.map_or(Ok(()), Err);
        };
        let title = format::title(array);
        let other = arrays.iter().find(|entry| format::title(entry) == title);
        let other = other.ok_or_else(|| format!("the recording has no array {title} here"))?.clone();
        if other.shape != array.shape || other.element != array.element {
            let description = |entry: &ArrayEntry| format!("{} {}", format::shape(&entry.shape), entry.element.name);
            return Err(format!("{title} is {} and in the recording {}", description(array), description(&other)));
        }
        let Ok(view_state) = slices.view_state(array) else { return Ok(()) };
        let recorded_step = self.store.point.as_ref().map_or(0, |point| point.step);
        let program_step = point.as_ref().map_or(0, |point| point.step);
        ui.weak(format!("debug point {program_step} less debug point {recorded_step} of the recording"));
        let key = whole_array::Key {
            epochs: [self.store.epoch(), store.epoch()],
            quantity: view_state.slice().1,
            requests: [ViewRequest::whole(&other), ViewRequest::whole(array)],
        };
        let waits = point.is_some_and(|point| point.paused);
        self.whole_array.show(ui, key, array, [&mut self.store, store], waits, view_state);
        let Some(request) = request else {
            ui.weak("Look at a slice to see where they differ.");
            return Ok(());
        };
        let recorded_view = self.store.view(ViewRequest { array: other.array, ..request.clone() });
        // The recorded view may be coarser: request the same cells from the program.
        let recorded_request = recorded_view.view().map_or(request, |view| view.of.clone());
        let program_view = store.view(ViewRequest { array: array.array, ..recorded_request });
        differences.show(ui, array, [&recorded_view, &program_view], [recorded_step, program_step], view_state);
        Ok(())
    }
}
