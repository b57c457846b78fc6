//! The viewer's window. Controls are at the top, the list of arrays on the left, the cells in the
//! middle and the display settings on the right. Tabs at the bottom show breakpoints, histories,
//! comparisons, moves and the timeline.

mod arrays;
mod breakpoints;
mod compare;
mod control;
mod format;
mod moves;
mod pick;
mod slices;
mod status;
mod store;
mod style;
mod table;
mod task;
mod timeline_panel;
mod validate;

use std::sync::Arc;

use zippy_view::eframe;
use zippy_view::egui::{CentralPanel, CollapsingHeader, Panel, ScrollArea, Sense, Ui, vec2};

use crate::session::{Session, State, Waker};
use arrays::Arrays;
use breakpoints::Breakpoints;
use compare::Compare;
use control::Controls;
use pick::Picks;
use slices::{GHOSTS, MOVES, Slices};
use store::Store;
use timeline_panel::TimelinePanel;

const SCROLL_BAR: f32 = 12.0;
const WINDOW_SIZE: [f32; 2] = [1440.0, 900.0];

/// Opens a window on a program or a recording, and returns when the user closes it. Call it on the
/// main thread.
///
/// # Errors
/// There is no display, or the display refuses the window.
pub fn open(session: Box<dyn Session>) -> Result<(), zippy_view::WindowError> {
    let title = session.program().map_or_else(
        || "Zippy debugger".into(),
        |program| format!("{} – Zippy debugger", format::shorten(&program.name, format::LIST_LETTERS)),
    );
    zippy_view::open(&title, WINDOW_SIZE, |_| Box::new(App::new(session)))
}

pub struct App {
    session: Box<dyn Session>,
    store: Store,
    controls: Controls,
    breakpoints: Breakpoints,
    arrays: Arrays,
    slices: Slices,
    picks: Picks,
    compare: Compare,
    timeline: TimelinePanel,
    tab: Tab,
    /// True after the session has received the waker that repaints the window.
    has_waker: bool,
}

fn repaint_waker(ui: &Ui) -> Waker {
    let context = ui.ctx().clone();
    Arc::new(move || context.request_repaint())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Breakpoints,
    History,
    Compare,
    Moves,
    Timeline,
}

const TABS: [(Tab, &str); 5] = [
    (Tab::Breakpoints, "Breakpoints"),
    (Tab::History, "History"),
    (Tab::Compare, "Compare"),
    (Tab::Moves, "Moves"),
    (Tab::Timeline, "Timeline"),
];

impl App {
    /// Creates the content of a window on `session`.
    pub fn new(session: Box<dyn Session>) -> Self {
        Self {
            session,
            store: Store::default(),
            controls: Controls::default(),
            breakpoints: Breakpoints::default(),
            arrays: Arrays::default(),
            slices: Slices::default(),
            picks: Picks::default(),
            compare: Compare::default(),
            timeline: TimelinePanel::default(),
            tab: Tab::Breakpoints,
            has_waker: false,
        }
    }

    /// Draws the window. Must be called once per frame. The window repaints only on user input or
    /// on a request of the session or of a thread.
    pub fn show(&mut self, ui: &mut Ui) {
        if !std::mem::replace(&mut self.has_waker, true) {
            self.session.set_waker(repaint_waker(ui));
        }
        self.store.begin(&mut *self.session);
        self.breakpoints.send_to_new_run(&mut self.store);
        let listed = self.store.arrays();
        let arrays = listed.arrays().map_or(&[][..], Vec::as_slice);
        // The first list of arrays after a reconnect starts a new run.
        if listed.arrays().is_some() {
            self.arrays.update_run(&self.store, arrays);
        }
        self.picks.update(&mut self.store, arrays);
        self.slices.saving.poll(&mut self.store);

        Panel::top("control").show(ui, |ui| {
            ui.add_space(4.0);
            self.controls.show(ui, &mut self.store, &mut *self.session);
            ui.add_space(2.0);
        });
        let shows_message = self.arrays.selected(arrays).is_none();
        Panel::bottom("status").show(ui, |ui| {
            status::show(ui, &self.store, &*self.session, self.slices.saving.result(), shows_message);
        });
        let below = (ui.available_height() * 0.26).clamp(100.0, 200.0);
        Panel::bottom("tabs").resizable(true).default_size(below).size_range(80.0..=700.0).show(ui, |ui| {
            // A panel shrinks to its content unless the content claims the full size.
            ui.set_min_size(ui.available_size());
            self.show_tabs(ui, arrays);
        });
        // Most of a small window is for the cells.
        let [left, right] = [ui.available_width() * 0.36, ui.available_width() * 0.24];
        Panel::left("arrays").resizable(true).default_size(left.min(488.0)).size_range(160.0..=900.0).show(ui, |ui| {
            ui.set_min_size(ui.available_size());
            ui.add_space(4.0);
            if let Some(error) = &listed.error {
                ui.colored_label(ui.visuals().error_fg_color, error);
            }
            self.arrays.show(ui, &mut self.store, arrays);
        });
        Panel::right("look").resizable(true).default_size(right.clamp(220.0, 310.0)).size_range(220.0..=700.0).show(
            ui,
            |ui| {
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.settings(ui, arrays));
            },
        );
        // Views of cells set the hovered cell again in each frame.
        self.picks.hovered = None;
        CentralPanel::default().show(ui, |ui| match self.arrays.selected(arrays) {
            Some(array) => self.slices.show(ui, &mut self.store, array, &mut self.picks),
            None => drop(ui.centered_and_justified(|ui| ui.label(empty_text(&listed, &*self.session)))),
        });

        self.store.finish(&mut *self.session);
    }

    fn show_tabs(&mut self, ui: &mut Ui, arrays: &[zippy_protocol::ArrayEntry]) {
        ui.horizontal(|ui| {
            for (tab, name) in TABS {
                let name = match self.breakpoints.count() {
                    count if tab == Tab::Breakpoints && count > 0 => format!("{name} ({count})"),
                    _ => name.into(),
                };
                ui.selectable_value(&mut self.tab, tab, name);
            }
        });
        ui.separator();
        match self.tab {
            Tab::Breakpoints => {
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.breakpoints.show(ui, &mut self.store));
            }
            Tab::History => self.picks.plot(ui),
            Tab::Compare => match self.arrays.selected(arrays) {
                Some(array) => self.compare.show(ui, &mut self.store, arrays, array, &mut self.slices),
                None => drop(ui.weak("There is no array to compare.")),
            },
            Tab::Moves => moves::show(ui, &mut self.store, arrays),
            Tab::Timeline => self.timeline.show(ui, &mut self.store),
        }
    }

    fn show_hovered_cell(&mut self, ui: &mut Ui, arrays: &[zippy_protocol::ArrayEntry]) {
        CollapsingHeader::new("Cell").default_open(true).show(ui, |ui| {
            self.picks.show_hovered(ui, &mut self.store, arrays);
        });
    }

    /// Shows the cell under the pointer, the colour settings, the overlays and the pinned cells.
    fn settings(&mut self, ui: &mut Ui, arrays: &[zippy_protocol::ArrayEntry]) {
        ui.add_space(4.0);
        // Keep draggable widgets out of the scroll bar.
        ui.set_max_width(ui.available_width() - SCROLL_BAR);
        let chosen = self.arrays.selected(arrays);
        let view_state =
            chosen.and_then(|array| self.slices.view_state(array).ok().map(|view_state| (array, view_state)));
        match view_state {
            Some((array, view_state)) => {
                let statistics = view_state.statistics(&mut self.store, array);
                let colouring = view_state.colouring(&statistics);
                // The pointer selects no single cell of a volume.
                match view_state.volume() {
                    Some(volume) => {
                        CollapsingHeader::new("Volume").default_open(true).show(ui, |ui| volume.settings(ui));
                    }
                    None => self.show_hovered_cell(ui, arrays),
                }
                if let Ok(view_state) = self.slices.view_state(array) {
                    CollapsingHeader::new("Colours").default_open(true).show(ui, |ui| {
                        view_state.style.show(ui, &statistics, colouring.as_ref());
                    });
                }
            }
            None => self.show_hovered_cell(ui, arrays),
        }
        if chosen.is_none() {
            return;
        }
        CollapsingHeader::new("Overlays").default_open(true).show(ui, |ui| {
            let overlays = &mut self.slices.overlays;
            ui.checkbox(&mut overlays.borders, "borders of chunks");
            ui.checkbox(&mut overlays.owners, "owners");
            ui.checkbox(&mut overlays.ghosts, "ghost cells that are not fresh");
            if overlays.ghosts {
                show_legend(ui, &GHOSTS);
            }
            ui.checkbox(&mut overlays.moves, "moves of the last transfer");
            if overlays.moves {
                show_legend(ui, &MOVES);
            }
        });
        CollapsingHeader::new("Pinned").default_open(true).show(ui, |ui| {
            self.picks.show(ui, &mut self.store, arrays);
        });
    }
}

fn show_legend(ui: &mut Ui, entries: &[(zippy_view::egui::Color32, &str)]) {
    ui.horizontal(|ui| {
        ui.add_space(20.0);
        for (colour, name) in entries {
            let (mark, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter().rect_filled(mark, 2.0, *colour);
            ui.weak(*name);
        }
    });
}

/// Text for the empty middle of the window.
fn empty_text(listed: &store::CachedAnswer, session: &dyn Session) -> String {
    match (session.state(), listed.arrays()) {
        (State::Connecting(why), _) if why.is_empty() => "connecting …".into(),
        (State::Connecting(why), _) => format!("connecting: {why}"),
        (State::Closed(how), None) => how,
        (_, Some(_)) => "the program has no arrays yet".into(),
        (State::Open, None) => "loading the arrays …".into(),
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        self.show(ui);
    }
}
