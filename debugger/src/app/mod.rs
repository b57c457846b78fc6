//! The viewer's window: control above, arrays to the left, cells in the middle, what they are to the right, and below
//! breakpoints, histories, comparisons, moves and the timeline.

mod arrays;
mod compare;
mod control;
mod moves;
mod pick;
mod rules;
mod sense;
mod slices;
mod status;
mod store;
mod style;
mod table;
mod task;
mod timeline;
mod words;

use std::sync::Arc;

use zippy_view::eframe;
use zippy_view::egui::{CentralPanel, CollapsingHeader, Panel, ScrollArea, Sense, Ui, vec2};

use crate::session::{Session, State, Waker};
use arrays::Arrays;
use compare::Compare;
use control::Controls;
use pick::Picks;
use rules::Breakpoints;
use slices::{GHOSTS, MOVES, Slices};
use store::Store;
use timeline::Lanes;

/// The width of a scroll bar in points.
const SCROLL_BAR: f32 = 12.0;
/// The window's size in points when it opens.
const WINDOW: [f32; 2] = [1440.0, 900.0];

/// Opens a window on a program or a recording and shows it until the window is closed. Must be called on the main thread.
///
/// # Errors
/// There is no display, or it refuses.
pub fn open(session: Box<dyn Session>) -> Result<(), zippy_view::WindowError> {
    let title = session.program().map_or_else(
        || "Zippy debugger".into(),
        |program| format!("{} – Zippy debugger", words::cut(&program.name, words::IN_LISTS)),
    );
    zippy_view::open(&title, WINDOW, |_| Box::new(App::new(session)))
}

/// What is in the window.
pub struct App {
    session: Box<dyn Session>,
    store: Store,
    controls: Controls,
    breakpoints: Breakpoints,
    arrays: Arrays,
    slices: Slices,
    picks: Picks,
    compare: Compare,
    lanes: Lanes,
    tab: Tab,
    /// Whether the session wakes the window.
    wakes: bool,
}

/// Draws a window anew when something has come.
fn waker(ui: &Ui) -> Waker {
    let context = ui.ctx().clone();
    Arc::new(move || context.request_repaint())
}

/// What is seen below.
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
    /// Shows this session.
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
            lanes: Lanes::default(),
            tab: Tab::Breakpoints,
            wakes: false,
        }
    }

    /// Shows everything. To be called in each frame. Nothing is drawn again without a request of
    /// the session, a thread or a person.
    pub fn show(&mut self, ui: &mut Ui) {
        if !std::mem::replace(&mut self.wakes, true) {
            self.session.set_waker(waker(ui));
        }
        self.store.begin(&mut *self.session);
        self.breakpoints.renew(&mut self.store);
        let listed = self.store.arrays();
        let arrays = listed.arrays().map_or(&[][..], Vec::as_slice);
        // A new run is known as one by its first list.
        if listed.arrays().is_some() {
            self.arrays.renew(&self.store, arrays);
        }
        self.picks.update(&mut self.store, arrays);
        self.slices.saving.go_on(&mut self.store);

        Panel::top("control").show(ui, |ui| {
            ui.add_space(4.0);
            self.controls.show(ui, &mut self.store, &mut *self.session);
            ui.add_space(2.0);
        });
        let is_told = self.arrays.chosen(arrays).is_none();
        Panel::bottom("status").show(ui, |ui| {
            status::show(ui, &self.store, &*self.session, self.slices.saving.said(), is_told);
        });
        let below = (ui.available_height() * 0.26).clamp(100.0, 200.0);
        Panel::bottom("tabs").resizable(true).default_size(below).size_range(80.0..=700.0).show(ui, |ui| {
            // Panels are as large as what is in them.
            ui.set_min_size(ui.available_size());
            self.tabs(ui, arrays);
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
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.look(ui, arrays));
            },
        );
        // Told anew by whoever shows cells.
        self.picks.hovered = None;
        CentralPanel::default().show(ui, |ui| match self.arrays.chosen(arrays) {
            Some(array) => self.slices.show(ui, &mut self.store, array, &mut self.picks),
            None => drop(ui.centered_and_justified(|ui| ui.label(empty(&listed, &*self.session)))),
        });

        self.store.finish(&mut *self.session);
    }

    fn tabs(&mut self, ui: &mut Ui, arrays: &[zippy::debug::protocol::ArrayEntry]) {
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
            Tab::Compare => match self.arrays.chosen(arrays) {
                Some(array) => self.compare.show(ui, &mut self.store, arrays, array, &mut self.slices),
                None => drop(ui.weak("There is no array to compare.")),
            },
            Tab::Moves => moves::show(ui, &mut self.store, arrays),
            Tab::Timeline => self.lanes.show(ui, &mut self.store),
        }
    }

    /// What is under the pointer.
    fn cell(&mut self, ui: &mut Ui, arrays: &[zippy::debug::protocol::ArrayEntry]) {
        CollapsingHeader::new("Cell").default_open(true).show(ui, |ui| {
            self.picks.pointed(ui, &mut self.store, arrays);
        });
    }

    /// What is under the pointer, how numbers become colours, and what is drawn over them.
    fn look(&mut self, ui: &mut Ui, arrays: &[zippy::debug::protocol::ArrayEntry]) {
        ui.add_space(4.0);
        // Nothing that can be dragged lies under the scroll bar.
        ui.set_max_width(ui.available_width() - SCROLL_BAR);
        let chosen = self.arrays.chosen(arrays);
        let look = chosen.and_then(|array| self.slices.look(array).ok().map(|look| (array, look)));
        match look {
            Some((array, look)) => {
                let known = look.known(&mut self.store, array);
                let colouring = look.colouring(&known);
                // Of a volume no cell is pointed at.
                match look.volume() {
                    Some(volume) => {
                        CollapsingHeader::new("Volume").default_open(true).show(ui, |ui| volume.settings(ui));
                    }
                    None => self.cell(ui, arrays),
                }
                if let Ok(look) = self.slices.look(array) {
                    CollapsingHeader::new("Colours").default_open(true).show(ui, |ui| {
                        look.style.show(ui, &known, colouring.as_ref());
                    });
                }
            }
            None => self.cell(ui, arrays),
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
                legend(ui, &GHOSTS);
            }
            ui.checkbox(&mut overlays.moves, "moves of the last transfer");
            if overlays.moves {
                legend(ui, &MOVES);
            }
        });
        CollapsingHeader::new("Pinned").default_open(true).show(ui, |ui| {
            self.picks.show(ui, &mut self.store, arrays);
        });
    }
}

fn legend(ui: &mut Ui, entries: &[(zippy_view::egui::Color32, &str)]) {
    ui.horizontal(|ui| {
        ui.add_space(20.0);
        for (colour, name) in entries {
            let (mark, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter().rect_filled(mark, 2.0, *colour);
            ui.weak(*name);
        }
    });
}

/// Why there is nothing to see.
fn empty(listed: &store::Found, session: &dyn Session) -> String {
    match (session.state(), listed.arrays()) {
        (State::Connecting(why), _) if why.is_empty() => "connecting …".into(),
        (State::Connecting(why), _) => format!("connecting: {why}"),
        (State::Closed(how), None) => how,
        (_, Some(_)) => "the program has no arrays yet".into(),
        (State::Open, None) => "asking for the arrays …".into(),
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        self.show(ui);
    }
}
