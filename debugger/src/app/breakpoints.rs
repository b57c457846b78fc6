//! Breakpoints of the program.

use zippy_protocol::Condition;
use zippy_protocol::{Request, Rule, When};
use zippy_view::egui::{Button, ComboBox, DragValue, Grid, Key, RichText, TextEdit, Ui};

use super::format;
use super::store::Store;

const WHEN_NAMES: [&str; 3] = ["always", "every", "if"];

/// The breakpoints of the program, and the input fields of a new breakpoint.
pub(super) struct Breakpoints {
    rules: Vec<Rule>,
    name: String,
    kind: usize,
    every: u64,
    condition: String,
    /// Parse error of the new breakpoint's condition.
    error: Option<String>,
    run: u64,
}

impl Default for Breakpoints {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            name: String::new(),
            kind: 0,
            every: 10,
            condition: String::new(),
            error: None,
            run: 0,
        }
    }
}

impl Breakpoints {
    pub(super) fn send_to_new_run(&mut self, store: &mut Store) {
        if self.run != store.run {
            self.run = store.run;
            if !self.rules.is_empty() {
                store.order(Request::Rules(self.rules.clone()));
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.rules.len()
    }

    /// Shows the breakpoints, and sends them after a change.
    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store) {
        let before = self.rules.clone();
        self.show_editor(ui, store);
        ui.separator();
        if self.rules.is_empty() {
            ui.weak("No breakpoints: the program pauses where it is asked to.");
        }
        let mut removed = None;
        Grid::new("breakpoints").num_columns(3).spacing([24.0, 4.0]).show(ui, |ui| {
            for (number, rule) in self.rules.iter().enumerate() {
                let name = rule.name.as_deref().map_or_else(|| "any debug point".into(), |name| format!("at {name:?}"));
                format::label(ui, name, 240.0);
                format::label(ui, RichText::new(condition_text(&rule.when)).monospace(), 420.0);
                let remove = ui.button("Remove").on_hover_text("The program does not pause there any more");
                if remove.accessible_name(format!("remove breakpoint {}", number + 1)).clicked() {
                    removed = Some(number);
                }
                ui.end_row();
            }
        });
        if let Some(number) = removed {
            self.rules.remove(number);
        }
        if self.rules != before {
            store.order(Request::Rules(self.rules.clone()));
        }
    }

    fn show_editor(&mut self, ui: &mut Ui, store: &Store) {
        let mut entered = false;
        ui.horizontal_wrapped(|ui| {
            ui.label("Pause at");
            ui.add(TextEdit::singleline(&mut self.name).desired_width(130.0).hint_text("any debug point"))
                .accessible_name("debug point of the breakpoint");
            ComboBox::new("names for breakpoints", "")
                .selected_text("seen")
                .width(60.0)
                .show_ui(ui, |ui| {
                    for name in &store.names {
                        format::list_entry(ui, &mut self.name, name.clone(), name);
                    }
                })
                .response
                .accessible_name("debug points seen, for the breakpoint");
            for (number, name) in WHEN_NAMES.iter().enumerate() {
                ui.radio_value(&mut self.kind, number, *name);
            }
            match self.kind {
                1 => {
                    ui.add(DragValue::new(&mut self.every).range(1..=1_000_000_000_u64).prefix("n = "))
                        .accessible_name("every so many debug points");
                }
                2 => {
                    let hint = "max(abs(u)) > 0.3, nan(f) > 0, a != b, stale(f) > 0";
                    let field = ui.add(TextEdit::singleline(&mut self.condition).desired_width(290.0).hint_text(hint));
                    entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                    field.accessible_name("condition");
                }
                _ => {}
            }
            let complete = self.kind != 2 || !self.condition.trim().is_empty();
            entered |= ui.add_enabled(complete, Button::new("Add breakpoint")).clicked();
            if entered && complete {
                // Check the condition here, so that the user sees the error at once.
                self.error = (self.kind == 2).then(|| self.condition.parse::<Condition>().err()).flatten();
                if self.error.is_none() {
                    self.rules.push(self.new_rule());
                    self.condition.clear();
                }
            }
        });
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
    }

    fn new_rule(&self) -> Rule {
        let name = self.name.trim();
        let when = match self.kind {
            0 => When::Always,
            1 => When::Every(self.every),
            _ => When::Condition(self.condition.trim().into()),
        };
        Rule { name: (!name.is_empty()).then(|| name.into()), when }
    }
}

fn condition_text(when: &When) -> String {
    match when {
        When::Always => "always".into(),
        When::Every(count) => format!("every {count} debug points"),
        When::Condition(condition) => format!("if {condition}"),
    }
}
