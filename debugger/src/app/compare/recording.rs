//! [`Recording`]: a recording that the program is held against, debug point by debug point.

use zippy::debug::protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::{Key, TextEdit, Ui};

use super::seen::Seen;
use super::whole::{self, Whole};
use crate::app::control::steps_slider;
use crate::app::slices::Slices;
use crate::app::store::Store;
use crate::app::{waker, words};
use crate::client::replay;
use crate::session::Session;

/// The line where a recording is named, and the one that is open.
#[derive(Default)]
pub struct Recording {
    path: String,
    open: Option<Open>,
    error: Option<String>,
}

struct Open {
    session: Box<dyn Session>,
    store: Store,
    /// Whether it follows the program, by the numbers of debug points.
    follows: bool,
    whole: Whole,
}

impl Recording {
    /// Shows how the array differs from the one of its name in the recording.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        array: &ArrayEntry,
        request: Option<ViewRequest>,
        slices: &mut Slices,
        seen: &mut Seen,
    ) {
        ui.horizontal(|ui| {
            let field = ui.add(TextEdit::singleline(&mut self.path).desired_width(300.0).hint_text("run.zrec"));
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            field.accessible_name("recording to compare with");
            if ui.button("Open").clicked() || entered {
                match replay(self.path.trim()) {
                    Ok(mut session) => {
                        session.set_waker(waker(ui));
                        let (store, whole) = (Store::default(), Whole::default());
                        self.open = Some(Open { session, store, follows: true, whole });
                        self.error = None;
                    }
                    Err(error) => (self.open, self.error) = (None, Some(error)),
                }
            }
            if let Some(open) = &mut self.open {
                ui.checkbox(&mut open.follows, "same debug point").on_hover_text("By its number");
            }
        });
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        if let Some(open) = &mut self.open {
            open.store.begin(&mut *open.session);
            if let Err(error) = open.compared(ui, store, array, request, slices, seen) {
                ui.colored_label(ui.visuals().warn_fg_color, error);
            }
            open.store.finish(&mut *open.session);
        }
    }
}

impl Open {
    fn compared(
        &mut self,
        ui: &mut Ui,
        store: &mut Store,
        array: &ArrayEntry,
        request: Option<ViewRequest>,
        slices: &mut Slices,
        seen: &mut Seen,
    ) -> Result<(), String> {
        let steps = self.session.steps().to_vec();
        let [Some(first), Some(last)] = [steps.first(), steps.last()] else {
            return Err("the recording has no debug point".into());
        };
        let now = store.point.clone();
        if self.follows {
            let wanted = now.as_ref().map_or(*first, |point| point.step);
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
        let title = words::title(array);
        let other = arrays.iter().find(|entry| words::title(entry) == title);
        let other = other.ok_or_else(|| format!("the recording has no array {title} here"))?.clone();
        if other.shape != array.shape || other.element != array.element {
            let what = |entry: &ArrayEntry| format!("{} {}", words::shape(&entry.shape), entry.element.name);
            return Err(format!("{title} is {} and in the recording {}", what(array), what(&other)));
        }
        let Ok(look) = slices.look(array) else { return Ok(()) };
        let there = self.store.point.as_ref().map_or(0, |point| point.step);
        let here = now.as_ref().map_or(0, |point| point.step);
        ui.weak(format!("debug point {here} less debug point {there} of the recording"));
        let key = whole::Key {
            epochs: [self.store.epoch(), store.epoch()],
            quantity: look.slice().1,
            requests: [ViewRequest::whole(&other), ViewRequest::whole(array)],
        };
        let waits = now.is_some_and(|point| point.paused);
        self.whole.show(ui, key, array, [&mut self.store, store], waits, look);
        let Some(request) = request else {
            ui.weak("Look at a slice to see where they differ.");
            return Ok(());
        };
        let theirs = self.store.view(ViewRequest { array: other.array, ..request.clone() });
        // A recording may have fewer cells: those are asked for.
        let of = theirs.view().map_or(request, |view| view.of.clone());
        let ours = store.view(ViewRequest { array: array.array, ..of });
        seen.show(ui, array, [&theirs, &ours], [there, here], look);
        Ok(())
    }
}
