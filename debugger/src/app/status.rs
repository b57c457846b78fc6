//! The status line: program, debug point, connection and messages.

use zippy_view::egui::{Color32, RichText, Ui};

use super::format;
use super::store::Store;
use crate::session::{Session, State};

/// Colour of a running program and of success.
pub(super) const GOOD: Color32 = Color32::from_rgb(120, 200, 130);
/// Colour of a state that waits for a person or for the program.
pub(super) const WAITS: Color32 = Color32::from_rgb(240, 190, 90);

/// Maximum widths of names and of messages in points. The whole text is a hover text.
const NAME_WIDTH: f32 = 240.0;
const MESSAGE_WIDTH: f32 = 640.0;

/// Shows the status line. `shows_message` is true while the middle of the window shows the full
/// state of the connection; the status line then shows a short form.
pub(super) fn show(
    ui: &mut Ui,
    store: &Store,
    session: &dyn Session,
    saved: Option<&Result<String, String>>,
    shows_message: bool,
) {
    ui.horizontal_wrapped(|ui| {
        show_connection(ui, store, session, shows_message);
        if let Some(point) = &store.point {
            ui.separator();
            let recorded = !session.steps().is_empty();
            let gone = store.end.is_some() || session.state() != State::Open;
            match (recorded, gone, point.paused) {
                (true, ..) => ui.label("recorded"),
                (_, true, _) => ui.weak("last seen at"),
                (_, _, true) => ui.colored_label(WAITS, "paused"),
                (..) => ui.colored_label(GOOD, "running"),
            };
            ui.label(format!("step {}", point.step));
            format::label(ui, RichText::new(&point.name).strong(), NAME_WIDTH);
            let line = format!("{}:{}", format::file(&point.file), point.line);
            ui.monospace(line).on_hover_text(format!("{}:{}", point.file, point.line));
            ui.weak(format::micros(point.micros)).on_hover_text("since the run began");
            if !point.reason.is_empty() {
                ui.separator();
                format::label(ui, RichText::new(&point.reason).color(WAITS), MESSAGE_WIDTH);
            }
        }
        // The text of a closed connection contains the end of the program.
        if let Some(end) = store.end.as_ref().filter(|_| session.state() == State::Open) {
            ui.separator();
            format::label(ui, format!("ended: {end}"), MESSAGE_WIDTH);
        }
        let error = ui.visuals().error_fg_color;
        let show_text = |ui: &mut Ui, text: &str, colour: Color32| {
            ui.separator();
            format::label(ui, RichText::new(text).color(colour), MESSAGE_WIDTH);
        };
        if let Some(notice) = session.notice() {
            show_text(ui, &notice, WAITS);
        }
        if let Some(refused) = &store.refused {
            show_text(ui, refused, error);
        }
        match saved {
            Some(Ok(text)) => show_text(ui, text, GOOD),
            Some(Err(text)) => show_text(ui, text, error),
            None => {}
        }
        if store.is_waiting() {
            ui.weak("loading …");
        }
    });
}

fn show_connection(ui: &mut Ui, store: &Store, session: &dyn Session, shows_message: bool) {
    let text = match session.state() {
        State::Open => None,
        State::Connecting(why) if why.is_empty() || shows_message => Some("connecting …".into()),
        State::Connecting(why) => Some(format!("connecting: {why}")),
        State::Closed(_) if shows_message => Some("closed".into()),
        State::Closed(how) => Some(format!("closed: {how}")),
    };
    if let Some(text) = text {
        format::label(ui, RichText::new(text).color(WAITS), MESSAGE_WIDTH);
    }
    let Some(program) = session.program() else { return };
    format::label(ui, RichText::new(&program.name).strong(), NAME_WIDTH);
    let ranks = if program.ranks == 1 { "1 rank".into() } else { format!("{} ranks", program.ranks) };
    ui.label(ranks);
    format::label(ui, program.adapters.join(", "), NAME_WIDTH).on_hover_text("the adapters of the ranks");
    let checked = if program.checked { "checked" } else { "not checked" };
    ui.weak(checked).on_hover_text("Only checked runs know stale ghost cells");
    if store.point.is_none() && session.state() == State::Open {
        ui.weak("no debug point yet");
    }
}
