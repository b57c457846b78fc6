//! Display of the cells of an array: a slice, a mosaic, three planes, a line, a table of numbers or
//! a volume.

mod bar;
mod content;
mod difference;
mod layer;
mod line;
mod number_table;
mod overlay;
mod pane;
mod plane;
mod saving;
mod tiles;
mod volume;

use std::collections::HashMap;

use zippy_protocol::{ArrayEntry, ViewRequest};
use zippy_view::egui::{Ui, vec2};

use super::format;
use super::pick::Picks;
use super::store::Store;
use super::style::{NumberStatistics, Style};
use super::validate;
use crate::imaging::{Colouring, Mosaic, Quantity, Slice, Subvolume, Values};
use bar::Mode;
pub(super) use difference::Difference;
use line::Line;
pub(super) use overlay::{GHOSTS, MOVES, Overlays};
use pane::{Pane, PaneContext};
pub(super) use saving::Saving;
use tiles::Tiles;
use volume::{Painter, Volume};

const MAX_TILES: i64 = 100;
/// Maximum number of arrays whose display settings are remembered.
const MAX_ARRAYS: usize = 256;

/// Display settings of each array, and display state that all arrays share.
#[derive(Default)]
pub(super) struct Slices {
    view_states: HashMap<String, ViewState>,
    pub overlays: Overlays,
    painter: Painter,
    pub saving: Saving,
}

pub(super) struct ViewState {
    mode: Mode,
    slice: Slice,
    quantity: Quantity,
    /// Third axis of a mosaic or of a volume. `None`: the first axis that the slice does not show.
    along: Option<usize>,
    /// Ratio of width to height of the screen area.
    aspect: f64,
    /// True if the display shows the single chunk `chunk` with its ghost cells.
    is_single_chunk: bool,
    chunk: u64,
    pub style: Style,
    panes: [Pane; 3],
    line: Line,
    volume: Volume,
}

impl ViewState {
    fn new(array: &ArrayEntry, quantity: Quantity) -> Self {
        Self {
            mode: if array.shape.len() == 1 { Mode::Line } else { Mode::Slice },
            slice: Slice::new(&array.shape),
            quantity,
            along: None,
            aspect: 1.0,
            is_single_chunk: false,
            chunk: 0,
            style: Style::default(),
            panes: Default::default(),
            line: Line::default(),
            volume: Volume::default(),
        }
    }

    fn values_and_style(&mut self) -> (Option<&Values>, &mut Style) {
        let values = match self.mode {
            Mode::Volume => self.volume.values(),
            Mode::Line => self.line.values(),
            _ => self.panes[0].layer.values(),
        };
        (values, &mut self.style)
    }

    /// Returns the statistics of the visible quantity.
    pub(super) fn statistics(&mut self, store: &mut Store, array: &ArrayEntry) -> NumberStatistics {
        let quantity = self.quantity;
        let (values, style) = self.values_and_style();
        NumberStatistics::new(store, array, quantity, style, values)
    }

    pub(super) fn colouring(&mut self, statistics: &NumberStatistics) -> Option<Colouring> {
        let (values, style) = self.values_and_style();
        style.colouring(statistics, values?).ok()
    }

    /// Returns the rendering settings in the volume mode.
    pub(super) fn volume(&mut self) -> Option<&mut Volume> {
        (self.mode == Mode::Volume).then_some(&mut self.volume)
    }

    /// Returns the third axis: the user's choice, or the first axis that the slice does not show.
    fn third_axis(&self) -> Option<usize> {
        self.along.filter(|axis| !self.slice.shows(*axis)).or_else(|| self.slice.fixed().next())
    }

    pub(super) fn slice(&self) -> (&Slice, Quantity) {
        (&self.slice, self.quantity)
    }

    /// Returns the latest request for the slice, in the slice mode of the whole array.
    pub(super) fn request(&self) -> Option<&ViewRequest> {
        self.panes[0].request.as_ref().filter(|_| self.mode == Mode::Slice && !self.is_single_chunk)
    }

    pub(super) fn go_to(&mut self, array: &ArrayEntry, at: &[i64]) {
        if at.len() == array.shape.len() {
            self.slice.at = at.to_vec();
            self.slice = self.slice.within(&array.shape);
        }
    }
}

impl Slices {
    /// Returns the display settings of an array.
    ///
    /// # Errors
    /// The array has no cells or no numbers, or its entry is invalid.
    pub(super) fn view_state(&mut self, array: &ArrayEntry) -> Result<&mut ViewState, String> {
        validate::array(array)?;
        let Some(first) = Quantity::first(&array.element) else {
            return Err(format!("cells of {} have no numbers", array.element.name));
        };
        if self.view_states.len() >= MAX_ARRAYS {
            self.view_states.clear();
        }
        let view_state = self.view_states.entry(format::title(array)).or_insert_with(|| ViewState::new(array, first));
        let fits = view_state.slice.at.len() == array.shape.len() && view_state.quantity.of(&array.element).is_some();
        if !fits {
            *view_state = ViewState::new(array, first);
        }
        // The ghost cells of a chunk may lie outside of the array.
        if !(view_state.is_single_chunk && view_state.mode == Mode::Slice) {
            view_state.slice = view_state.slice.within(&array.shape);
        }
        Ok(view_state)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store, array: &ArrayEntry, picks: &mut Picks) {
        let overlays = self.overlays;
        let (mut painter, mut saving) = (std::mem::take(&mut self.painter), std::mem::take(&mut self.saving));
        match self.view_state(array) {
            Ok(view_state) => {
                view_state.bar(ui, array, &mut saving);
                let statistics = view_state.statistics(store, array);
                let step = store.point.as_ref().map_or(0, |point| point.step);
                saving.show(ui, || view_state.saved_content(array, &statistics, step));
                view_state.show_cells(
                    ui,
                    PaneContext { store, array, picks, overlays, statistics: &statistics },
                    &mut painter,
                );
            }
            Err(error) => drop(ui.centered_and_justified(|ui| ui.label(error))),
        }
        (self.painter, self.saving) = (painter, saving);
    }
}

impl ViewState {
    fn show_cells(&mut self, ui: &mut Ui, mut context: PaneContext<'_>, painter: &mut Painter) {
        let size = ui.available_size();
        match self.mode {
            Mode::Slice => {
                let tiles = if self.is_single_chunk {
                    Tiles::Chunk(self.slice.clone(), self.chunk)
                } else {
                    Tiles::Slice(self.slice.clone())
                };
                let name = format!("slice of {}", format::title(context.array));
                self.panes[0].crosshair = false;
                self.panes[0].show(ui, size, &tiles, &name, self.quantity, &mut self.style, &mut context);
            }
            Mode::Mosaic => {
                self.aspect = f64::from(size.x / size.y.max(1.0));
                match self.mosaic_of_slices(context.array) {
                    Some(mosaic) => {
                        let name = format!("{} slices of {}", mosaic.count(), format::title(context.array));
                        let tiles = Tiles::Mosaic(mosaic);
                        self.panes[0].show(ui, size, &tiles, &name, self.quantity, &mut self.style, &mut context);
                    }
                    None => drop(ui.label("a mosaic needs a third axis")),
                }
            }
            Mode::Planes => self.show_planes(ui, context),
            Mode::Volume => match self.third_axis().and_then(|deep| Subvolume::new(&self.slice, deep)) {
                Some(subvolume) => {
                    self.volume.show(ui, &subvolume, self.quantity, &mut self.style, &mut context, painter)
                }
                None => drop(ui.label("a volume needs three axes")),
            },
            Mode::Line => self.line.show(ui, &self.slice, self.quantity, context),
            Mode::Numbers => number_table::show(ui, &self.slice, self.quantity, context),
        }
    }

    /// Returns the mosaic of slices along the third axis, in a grid that fits the screen area.
    fn mosaic_of_slices(&self, array: &ArrayEntry) -> Option<Mosaic> {
        Mosaic::new(&self.slice, self.third_axis()?, &array.shape, MAX_TILES, self.aspect)
    }

    fn show_planes(&mut self, ui: &mut Ui, mut context: PaneContext<'_>) {
        let Some(planes) = Slice::orthogonal(&self.slice.at) else {
            ui.label("three planes need three axes");
            return;
        };
        let gap = ui.spacing().item_spacing;
        let size = ((ui.available_size() - gap) / 2.0).max(vec2(40.0, 40.0));
        let mut centre = None;
        let mut show_plane = |ui: &mut Ui, number: usize, pane: &mut Pane, style: &mut Style| {
            let slice = planes[number].clone();
            pane.crosshair = true;
            let name =
                format!("plane {}{}", format::axis(slice.across), slice.up.map_or_else(String::new, format::axis));
            centre =
                pane.show(ui, size, &Tiles::Slice(slice), &name, self.quantity, style, &mut context).or(centre.take());
        };
        let [front, side, top] = &mut self.panes;
        ui.horizontal(|ui| {
            show_plane(ui, 0, front, &mut self.style);
            show_plane(ui, 1, side, &mut self.style);
        });
        ui.horizontal(|ui| {
            show_plane(ui, 2, top, &mut self.style);
            ui.vertical(|ui| {
                ui.weak("A right click moves the planes there.");
            });
        });
        if let Some(at) = centre {
            self.slice.at = at;
        }
    }
}
