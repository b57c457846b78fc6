//! The status line: what is looked at, where it is, and how the connection stands.

use zippy_view::egui::{Color32, RichText, Ui};

use super::store::Store;
use super::words;
use crate::session::{Session, State};

/// What goes on.
pub const GOOD: Color32 = Color32::from_rgb(120, 200, 130);
/// What waits for somebody.
pub const WAITS: Color32 = Color32::from_rgb(240, 190, 90);

/// The widths of names and of messages in points; the rest is seen under the pointer.
const NAME: f32 = 240.0;
const MESSAGE: f32 = 640.0;

/// Shows it, on one line where it fits. How the connection stands is said in a word where the
/// middle of the window says it all (`is_told`).
pub fn show(ui: &mut Ui, store: &Store, session: &dyn Session, saved: Option<&Result<String, String>>, is_told: bool) {
    ui.horizontal_wrapped(|ui| {
        connection(ui, store, session, is_told);
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
            words::name(ui, RichText::new(&point.name).strong(), NAME);
            let line = format!("{}:{}", words::file(&point.file), point.line);
            ui.monospace(line).on_hover_text(format!("{}:{}", point.file, point.line));
            ui.weak(words::micros(point.micros)).on_hover_text("since the run began");
            if !point.reason.is_empty() {
                ui.separator();
                words::name(ui, RichText::new(&point.reason).color(WAITS), MESSAGE);
            }
        }
        // A connection that is closed has said how.
        if let Some(end) = store.end.as_ref().filter(|_| session.state() == State::Open) {
            ui.separator();
            words::name(ui, format!("ended: {end}"), MESSAGE);
        }
        let error = ui.visuals().error_fg_color;
        let said = |ui: &mut Ui, text: &str, colour: Color32| {
            ui.separator();
            words::name(ui, RichText::new(text).color(colour), MESSAGE);
        };
        if let Some(notice) = session.notice() {
            said(ui, &notice, WAITS);
        }
        if let Some(refused) = &store.refused {
            said(ui, refused, error);
        }
        match saved {
            Some(Ok(text)) => said(ui, text, GOOD),
            Some(Err(text)) => said(ui, text, error),
            None => {}
        }
        if store.is_waiting() {
            ui.weak("asking …");
        }
    });
}

fn connection(ui: &mut Ui, store: &Store, session: &dyn Session, is_told: bool) {
    let text = match session.state() {
        State::Open => None,
        State::Connecting(why) if why.is_empty() || is_told => Some("connecting …".into()),
        State::Connecting(why) => Some(format!("connecting: {why}")),
        State::Closed(_) if is_told => Some("closed".into()),
        State::Closed(how) => Some(format!("closed: {how}")),
    };
    if let Some(text) = text {
        words::name(ui, RichText::new(text).color(WAITS), MESSAGE);
    }
    let Some(program) = session.program() else { return };
    words::name(ui, RichText::new(&program.name).strong(), NAME);
    let ranks = if program.ranks == 1 { "1 rank".into() } else { format!("{} ranks", program.ranks) };
    ui.label(ranks);
    words::name(ui, program.adapters.join(", "), NAME).on_hover_text("the adapters of the ranks");
    let checked = if program.checked { "checked" } else { "not checked" };
    ui.weak(checked).on_hover_text("Only checked runs know stale ghost cells");
    if store.point.is_none() && session.state() == State::Open {
        ui.weak("no debug point yet");
    }
}
