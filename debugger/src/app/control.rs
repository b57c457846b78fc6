//! Buttons that continue, pause, step and stop the program.

use zippy_protocol::{Control, Request};
use zippy_view::egui::{Button, ComboBox, DragValue, Key, Modifiers, Slider, TextEdit, Ui, vec2};

use super::format;
use super::store::Store;
use crate::session::{Session, State};

pub(super) struct Controls {
    steps: u64,
    to: String,
    /// True after the first click on Stop, until the user confirms or declines.
    confirm_stop: bool,
}

impl Default for Controls {
    fn default() -> Self {
        Self { steps: 10, to: String::new(), confirm_stop: false }
    }
}

impl Controls {
    /// Shows the buttons, and sends the command of a pressed button.
    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store, session: &mut dyn Session) {
        let open = session.state() == State::Open;
        let steps = session.steps().to_vec();
        let recorded = !steps.is_empty();
        let point = store.point.as_ref();
        let paused = open && (recorded || point.is_some_and(|point| point.paused));
        let running = open && !recorded && point.is_none_or(|point| !point.paused);
        ui.horizontal_wrapped(|ui| {
            if let Some(control) = self.run_buttons(ui, store, paused, running) {
                store.order(Request::Control(control));
            }
            if !recorded {
                ui.separator();
                if let Some(control) = self.end_buttons(ui, open) {
                    store.order(Request::Control(control));
                }
            }
        });
        if recorded {
            steps_slider(ui, store, session, &steps, "recorded step");
        }
    }

    fn run_buttons(&mut self, ui: &mut Ui, store: &Store, paused: bool, running: bool) -> Option<Control> {
        let mut pressed = None;
        let mut button = |ui: &mut Ui, enabled: bool, name: &str, key: Option<Key>, control: Control| {
            let response = ui.add_enabled(enabled, Button::new(name).min_size(vec2(72.0, 24.0)));
            let by_key =
                enabled && key.is_some_and(|key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)));
            let response = match key {
                Some(key) => response.on_hover_text(key.name()),
                None => response,
            };
            if response.clicked() || by_key {
                pressed = Some(control);
            }
        };
        button(ui, paused, "Continue", Some(Key::F5), Control::Continue);
        button(ui, running, "Pause", Some(Key::F6), Control::Pause);
        button(ui, paused, "Step", Some(Key::F10), Control::Step(1));
        ui.separator();
        ui.add(DragValue::new(&mut self.steps).range(1..=1_000_000_000_u64)).accessible_name("number of steps");
        button(ui, paused, "Steps", None, Control::Step(self.steps));
        ui.separator();
        ui.add(TextEdit::singleline(&mut self.to).desired_width(140.0).hint_text("name of a debug point"))
            .accessible_name("debug point to run to");
        ComboBox::new("names of points", "")
            .selected_text("seen")
            .width(60.0)
            .show_ui(ui, |ui| {
                for name in &store.names {
                    format::list_entry(ui, &mut self.to, name.clone(), name);
                }
            })
            .response
            .accessible_name("debug points seen so far");
        let named = !self.to.trim().is_empty();
        button(ui, paused && named, "Run to", None, Control::RunTo(self.to.trim().into()));
        pressed
    }

    fn end_buttons(&mut self, ui: &mut Ui, open: bool) -> Option<Control> {
        let detach =
            ui.add_enabled(open, Button::new("Detach")).on_hover_text("The program continues without the viewer");
        if detach.clicked() {
            return Some(Control::Detach);
        }
        self.confirm_stop &= open;
        if !self.confirm_stop {
            let stop = ui.add_enabled(open, Button::new("Stop")).on_hover_text("Its debug point returns an error");
            self.confirm_stop = stop.clicked();
            return None;
        }
        ui.label("End the program?");
        let yes = ui.button("End it").clicked();
        self.confirm_stop = !yes && !ui.button("Keep it").clicked();
        yes.then_some(Control::Stop)
    }
}

/// Shows a slider over the debug points of a recording. A change goes to the selected debug point.
pub(super) fn steps_slider(ui: &mut Ui, store: &Store, session: &mut dyn Session, steps: &[u64], name: &str) {
    let current = store.point.as_ref().map_or(0, |point| steps.partition_point(|step| *step < point.step));
    let last = steps.len() - 1;
    let mut index = current.min(last);
    ui.horizontal(|ui| {
        if ui.add_enabled(index > 0, Button::new("Back")).on_hover_text("the debug point before").clicked() {
            index -= 1;
        }
        ui.spacing_mut().slider_width = (ui.available_width() - 180.0).max(60.0);
        let shown = |index: f64, _| steps.get(index as usize).map_or_else(String::new, u64::to_string);
        let parsed = |text: &str| {
            let step = text.trim().parse::<u64>().ok()?;
            Some(steps.partition_point(|known| *known < step).min(last) as f64)
        };
        let slider = Slider::new(&mut index, 0..=last).custom_formatter(shown).custom_parser(parsed);
        ui.add(slider).accessible_name(name);
        ui.label(format!("of {}", steps[last]));
    });
    if index != current {
        session.go_to(steps[index]);
    }
}
