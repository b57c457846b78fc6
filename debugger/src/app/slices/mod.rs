//! The cells of an array: a slice, a mosaic, three planes, a line, a table of numbers, a volume.

mod bar;
mod content;
mod difference;
mod layer;
mod line;
mod overlay;
mod pane;
mod plane;
mod saving;
mod sheet;
mod tiles;
mod volume;

use std::collections::HashMap;

use zippy::debug::protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::{Ui, vec2};

use super::pick::Picks;
use super::sense;
use super::store::Store;
use super::style::{Known, Style};
use super::words;
use crate::look::{Colouring, Mosaic, Quantity, Slice, Subvolume, Values};
use bar::Mode;
pub use difference::Difference;
use line::Line;
pub use overlay::{GHOSTS, MOVES, Overlays};
use pane::{Given, Pane};
pub use saving::Saving;
use tiles::Tiles;
use volume::{Painter, Volume};

/// Tiles of a mosaic at most.
const MOST_TILES: i64 = 100;
/// Arrays whose settings are remembered.
const MOST_LOOKS: usize = 256;

/// How each array was looked at last.
#[derive(Default)]
pub struct Slices {
    looks: HashMap<String, Look>,
    pub overlays: Overlays,
    painter: Painter,
    pub saving: Saving,
}

/// How an array is looked at.
pub struct Look {
    mode: Mode,
    slice: Slice,
    quantity: Quantity,
    /// The third axis, of a mosaic and of a volume.
    along: Option<usize>,
    /// How many times as wide as high it is shown.
    aspect: f64,
    /// Whether one chunk is shown with its ghost cells, and which.
    alone: bool,
    chunk: u64,
    pub style: Style,
    panes: [Pane; 3],
    line: Line,
    volume: Volume,
}

impl Look {
    fn new(array: &ArrayEntry, quantity: Quantity) -> Self {
        Self {
            mode: if array.shape.len() == 1 { Mode::Line } else { Mode::Slice },
            slice: Slice::new(&array.shape),
            quantity,
            along: None,
            aspect: 1.0,
            alone: false,
            chunk: 0,
            style: Style::default(),
            panes: Default::default(),
            line: Line::default(),
            volume: Volume::default(),
        }
    }

    /// The numbers that are shown, and the style that colours them.
    fn seen(&mut self) -> (Option<&Values>, &mut Style) {
        let values = match self.mode {
            Mode::Volume => self.volume.values(),
            Mode::Line => self.line.values(),
            _ => self.panes[0].layer.values(),
        };
        (values, &mut self.style)
    }

    /// What is known of the numbers that are shown.
    pub fn known(&mut self, store: &mut Store, array: &ArrayEntry) -> Known {
        let quantity = self.quantity;
        let (seen, style) = self.seen();
        Known::new(store, array, quantity, style, seen)
    }

    /// The colours as they are now.
    pub fn colouring(&mut self, known: &Known) -> Option<Colouring> {
        let (seen, style) = self.seen();
        style.colouring(known, seen?).ok()
    }

    /// How a volume is rendered, if it is one.
    pub fn volume(&mut self) -> Option<&mut Volume> {
        (self.mode == Mode::Volume).then_some(&mut self.volume)
    }

    /// The third axis: the one that was chosen, or the first that is not shown.
    fn third(&self) -> Option<usize> {
        self.along.filter(|axis| !self.slice.shows(*axis)).or_else(|| self.slice.fixed().next())
    }

    /// The slice that is looked at, and which numbers of it.
    pub fn slice(&self) -> (&Slice, Quantity) {
        (&self.slice, self.quantity)
    }

    /// What was asked for last to show the slice, if it is a slice.
    pub fn request(&self) -> Option<&ViewRequest> {
        self.panes[0].asked.as_ref().filter(|_| self.mode == Mode::Slice && !self.alone)
    }

    /// Shows this cell.
    pub fn go_to(&mut self, array: &ArrayEntry, at: &[i64]) {
        if at.len() == array.shape.len() {
            self.slice.at = at.to_vec();
            self.slice = self.slice.within(&array.shape);
        }
    }
}

impl Slices {
    /// How an array is looked at; an error where it has nothing to look at.
    ///
    /// # Errors
    /// It has no cells or no numbers, or its entry makes no sense.
    pub fn look(&mut self, array: &ArrayEntry) -> Result<&mut Look, String> {
        sense::array(array)?;
        let Some(first) = Quantity::first(&array.element) else {
            return Err(format!("cells of {} have no numbers", array.element.name));
        };
        if self.looks.len() >= MOST_LOOKS {
            self.looks.clear();
        }
        let look = self.looks.entry(words::title(array)).or_insert_with(|| Look::new(array, first));
        let fits = look.slice.at.len() == array.shape.len() && look.quantity.of(&array.element).is_some();
        if !fits {
            *look = Look::new(array, first);
        }
        // Ghost cells of a chunk may lie outside of the array.
        if !(look.alone && look.mode == Mode::Slice) {
            look.slice = look.slice.within(&array.shape);
        }
        Ok(look)
    }

    /// Shows the array.
    pub fn show(&mut self, ui: &mut Ui, store: &mut Store, array: &ArrayEntry, picks: &mut Picks) {
        let overlays = self.overlays;
        let (mut painter, mut saving) = (std::mem::take(&mut self.painter), std::mem::take(&mut self.saving));
        match self.look(array) {
            Ok(look) => {
                look.bar(ui, array, &mut saving);
                let known = look.known(store, array);
                let step = store.point.as_ref().map_or(0, |point| point.step);
                saving.show(ui, || look.content(array, &known, step));
                look.body(ui, Given { store, array, picks, overlays, known: &known }, &mut painter);
            }
            Err(error) => drop(ui.centered_and_justified(|ui| ui.label(error))),
        }
        (self.painter, self.saving) = (painter, saving);
    }
}

impl Look {
    fn body(&mut self, ui: &mut Ui, mut given: Given, painter: &mut Painter) {
        let size = ui.available_size();
        match self.mode {
            Mode::Slice => {
                let tiles = match self.alone {
                    true => Tiles::Chunk(self.slice.clone(), self.chunk),
                    false => Tiles::One(self.slice.clone()),
                };
                let name = format!("slice of {}", words::title(given.array));
                self.panes[0].crossed = false;
                self.panes[0].show(ui, size, &tiles, &name, self.quantity, &mut self.style, &mut given);
            }
            Mode::Mosaic => {
                self.aspect = f64::from(size.x / size.y.max(1.0));
                match self.mosaic(given.array) {
                    Some(mosaic) => {
                        let name = format!("{} slices of {}", mosaic.count(), words::title(given.array));
                        let tiles = Tiles::Many(mosaic);
                        self.panes[0].show(ui, size, &tiles, &name, self.quantity, &mut self.style, &mut given);
                    }
                    None => drop(ui.label("a mosaic needs a third axis")),
                }
            }
            Mode::Planes => self.planes(ui, given),
            Mode::Volume => match self.third().and_then(|deep| Subvolume::new(&self.slice, deep)) {
                Some(subvolume) => {
                    self.volume.show(ui, &subvolume, self.quantity, &mut self.style, &mut given, painter)
                }
                None => drop(ui.label("a volume needs three axes")),
            },
            Mode::Line => self.line.show(ui, &self.slice, self.quantity, given),
            Mode::Sheet => sheet::show(ui, &self.slice, self.quantity, given),
        }
    }

    /// Slices along the third axis, in the form of the room that there is.
    fn mosaic(&self, array: &ArrayEntry) -> Option<Mosaic> {
        Mosaic::new(&self.slice, self.third()?, &array.shape, MOST_TILES, self.aspect)
    }

    /// Three planes through one cell.
    fn planes(&mut self, ui: &mut Ui, mut given: Given) {
        let Some(planes) = Slice::orthogonal(&self.slice.at) else {
            ui.label("three planes need three axes");
            return;
        };
        let gap = ui.spacing().item_spacing;
        let size = ((ui.available_size() - gap) / 2.0).max(vec2(40.0, 40.0));
        let mut taken = None;
        let mut one = |ui: &mut Ui, number: usize, pane: &mut Pane, style: &mut Style| {
            let slice = planes[number].clone();
            pane.crossed = true;
            let name = format!("plane {}{}", words::axis(slice.across), slice.up.map_or_else(String::new, words::axis));
            taken = pane.show(ui, size, &Tiles::One(slice), &name, self.quantity, style, &mut given).or(taken.take());
        };
        let [front, side, top] = &mut self.panes;
        ui.horizontal(|ui| {
            one(ui, 0, front, &mut self.style);
            one(ui, 1, side, &mut self.style);
        });
        ui.horizontal(|ui| {
            one(ui, 2, top, &mut self.style);
            ui.vertical(|ui| {
                ui.weak("A right click moves the planes there.");
            });
        });
        if let Some(at) = taken {
            self.slice.at = at;
        }
    }
}
