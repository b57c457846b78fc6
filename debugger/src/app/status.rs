//! The status line: what is looked at, where it is, and how the connection stands.

use zippy_view::egui::{Color32, RichText, Ui};

use super::store::Store;
use super::words;
use crate::session::{Session, State};

/// What goes on.
pub const GOOD: Color32 = Color32::from_rgb(120, 200, 130);
/// What waits for somebody.
pub const WAITS: Color32 = Color32::from_rgb(240, 190, 90);

/// Shows it, on one line where it fits.
pub fn show(ui: &mut Ui, store: &Store, session: &dyn Session, saved: Option<&Result<String, String>>) {
    ui.horizontal_wrapped(|ui| {
        connection(ui, store, session);
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
            ui.label(RichText::new(&point.name).strong());
            let line = format!("{}:{}", words::file(&point.file), point.line);
            ui.monospace(line).on_hover_text(format!("{}:{}", point.file, point.line));
            ui.weak(words::micros(point.micros)).on_hover_text("since the run began");
            if !point.reason.is_empty() {
                ui.separator();
                ui.colored_label(WAITS, &point.reason);
            }
        }
        if let Some(end) = &store.end {
            ui.separator();
            ui.label(format!("ended: {end}"));
        }
        if let Some(notice) = session.notice() {
            ui.separator();
            ui.colored_label(WAITS, notice);
        }
        if let Some(refused) = &store.refused {
            ui.separator();
            ui.colored_label(ui.visuals().error_fg_color, refused);
        }
        if let Some(saved) = saved {
            ui.separator();
            match saved {
                Ok(text) => ui.colored_label(GOOD, text),
                Err(text) => ui.colored_label(ui.visuals().error_fg_color, text),
            };
        }
        if store.is_waiting() {
            ui.weak("asking …");
        }
    });
}

fn connection(ui: &mut Ui, store: &Store, session: &dyn Session) {
    match session.state() {
        State::Open => {}
        State::Connecting(why) if why.is_empty() => drop(ui.colored_label(WAITS, "connecting …")),
        State::Connecting(why) => drop(ui.colored_label(WAITS, format!("connecting: {why}"))),
        State::Closed(how) => drop(ui.colored_label(WAITS, format!("closed: {how}"))),
    }
    let Some(program) = session.program() else { return };
    ui.label(RichText::new(&program.name).strong());
    let ranks = if program.ranks == 1 { "1 rank".into() } else { format!("{} ranks", program.ranks) };
    ui.label(ranks);
    ui.label(program.adapters.join(", ")).on_hover_text("the adapters of the ranks");
    let checked = if program.checked { "checked" } else { "not checked" };
    ui.weak(checked).on_hover_text("Only checked runs know stale ghost cells");
    if store.point.is_none() && session.state() == State::Open {
        ui.weak("no debug point yet");
    }
}
