//! [`Pane`]: a plane with its picture and what is drawn over it.

use zippy::debug::protocol::{ArrayEntry, Request, ViewRequest};
use zippy_view::egui::{Align, Align2, Color32, FontId, Frame, Layout, Painter, Rect, Ui, UiBuilder, Vec2, vec2};

use super::layer::Layer;
use super::overlay::{Canvas, Overlays, message};
use super::plane::{Done, Plane};
use super::tiles::Tiles;
use crate::app::pick::{Cell, Picks};
use crate::app::store::Store;
use crate::app::style::{Known, Style};
use crate::app::words;
use crate::look::{Quantity, Values};

/// What a part of the window has to show cells with.
pub struct Given<'a> {
    pub store: &'a mut Store,
    pub array: &'a ArrayEntry,
    pub picks: &'a mut Picks,
    pub overlays: Overlays,
    pub known: &'a Known,
}

/// A plane on the screen.
#[derive(Default)]
pub struct Pane {
    pub plane: Plane,
    pub layer: Layer,
    /// What is asked for to show it.
    pub asked: Option<ViewRequest>,
    /// Whether lines show where its slice is along the other axes.
    pub crossed: bool,
}

impl Pane {
    /// Shows it; the cell that other planes are to be moved to, if one was chosen.
    #[allow(clippy::too_many_arguments)]
    pub fn show(
        &mut self,
        ui: &mut Ui,
        size: Vec2,
        tiles: &Tiles,
        name: &str,
        quantity: Quantity,
        style: &mut Style,
        given: &mut Given,
    ) -> Option<Vec<i64>> {
        let array = given.array;
        let bounds = tiles.bounds(array).unwrap_or_default();
        let done = self.plane.show(ui, size, bounds, name);
        self.asked = tiles.request(array, &done.port, ui.ctx().pixels_per_point().into(), quantity);
        if let Some(request) = self.asked.clone() {
            let found = given.store.view(request);
            self.layer.take(&found, array, quantity, tiles);
        }
        let painter = ui.painter_at(done.response.rect);
        let mut problem = self.layer.error.clone();
        match self.layer.values().map(|values| style.colouring(given.known, values)) {
            Some(Ok(colouring)) => self.layer.paint(ui, &painter, &done.port, array, colouring),
            Some(Err(error)) => problem = problem.or(Some(error)),
            None => {}
        }
        if tiles.bounds(array).is_none() {
            problem = Some(match tiles.chunk().and_then(|chunk| array.chunks.get(chunk as usize)) {
                Some(chunk) => {
                    format!("this slice does not cut the chunk: it goes from {:?} to {:?}", chunk.start, chunk.end)
                }
                None => "the chunks of this array are not listed".into(),
            });
        }
        if let (Some(asked), Some(values)) = (&self.asked, self.layer.values())
            && let Some(text) = coarser(asked, values)
        {
            note(ui, done.response.rect, &text);
        }
        self.overlays(ui, &done, tiles, given);
        names(&painter, done.response.rect, tiles.axes(), ui.visuals().text_color());
        let taken = picked(&done, tiles, given);
        let colours = ui.visuals();
        if let Some(problem) = problem.or_else(|| self.layer.error.clone()) {
            message(&painter, done.response.rect, &problem, colours.error_fg_color);
        } else if self.layer.values().is_none() && self.asked.is_some() {
            message(&painter, done.response.rect, "asking …", colours.weak_text_color());
        }
        taken
    }

    fn overlays(&self, ui: &Ui, done: &Done, tiles: &Tiles, given: &mut Given) {
        let (array, overlays) = (given.array, given.overlays);
        let ghosts = overlays.ghosts.then(|| given.store.ghosts(array.array));
        let moves = overlays.moves.then(|| given.store.want(Request::Moves));
        let painter = ui.painter_at(done.response.rect);
        for tile in tiles.all(array) {
            let canvas = Canvas { painter: &painter, port: &done.port, tile: &tile };
            canvas.chunks(array, overlays);
            if let Tiles::Many(mosaic) = tiles {
                canvas.index(mosaic.axis());
            }
            if let Some(ghosts) = ghosts.as_ref().and_then(|found| found.ghosts()) {
                canvas.ghosts(array, ghosts, tiles.chunk());
            }
            if let Some(moves) = moves.as_ref().and_then(|found| found.moves()) {
                canvas.moves(array, moves);
            }
            if let (Tiles::One(slice), true) = (tiles, self.crossed) {
                canvas.cross(slice, tile.bounds);
            }
        }
        let mut errors = [ghosts, moves].into_iter().flatten().filter_map(|found| found.error);
        if let Some(error) = errors.next() {
            let strip = done.response.rect;
            let strip = strip.with_max_y(strip.top() + 48.0);
            message(&painter, strip, &error, ui.visuals().warn_fg_color);
        }
        // On top of everything, in the plane's own coordinates.
        if let Some(tile) = tiles.all(array).first() {
            let mut whole = tile.clone();
            whole.offset = [0, 0];
            let canvas = Canvas { painter: &painter, port: &done.port, tile: &whole };
            let here = |cell: &&Cell| cell.array == array.array && cell.chunk == tiles.chunk();
            for cell in given.picks.pinned().filter(here) {
                if let Some(at) = tiles.position(&cell.at) {
                    canvas.cell(at, true);
                }
            }
            if let Some(at) = done.cell.filter(|at| tiles.index(array, *at).is_some()) {
                canvas.cell(at, false);
            }
        }
    }
}

/// The names of the axes, at the end that they go to.
fn names(painter: &Painter, area: Rect, [across, up]: [Option<usize>; 2], colour: Color32) {
    let font = FontId::proportional(11.0);
    if let Some(axis) = across {
        let corner = area.right_bottom() - vec2(3.0, 0.0);
        painter.text(corner, Align2::RIGHT_BOTTOM, words::axis(axis), font.clone(), colour);
    }
    if let Some(axis) = up {
        painter.text(area.left_top() + vec2(3.0, 0.0), Align2::LEFT_TOP, words::axis(axis), font, colour);
    }
}

/// A text at the lower edge of a picture.
fn note(ui: &mut Ui, area: Rect, text: &str) {
    let strip = area.shrink(6.0);
    let mut within = ui.new_child(UiBuilder::new().max_rect(strip).layout(Layout::bottom_up(Align::Min)));
    Frame::new().fill(Color32::from_black_alpha(190)).corner_radius(3.0).inner_margin(4.0).show(&mut within, |ui| {
        ui.colored_label(ui.visuals().warn_fg_color, text);
    });
}

/// What is shown in place of what was asked for, where a recording has only every so-manyth cell.
fn coarser(asked: &ViewRequest, values: &Values) -> Option<String> {
    let axes = asked.start.len().min(values.extents.len());
    let larger: Vec<String> = (0..axes)
        .filter(|&axis| values.of.stride[axis] > asked.stride[axis] && asked.end[axis] - asked.start[axis] > 1)
        .map(|axis| format!("{} {}", words::axis(axis), values.of.stride[axis]))
        .collect();
    let other: Vec<String> = (0..axes)
        .filter(|&axis| asked.end[axis] - asked.start[axis] == 1 && values.of.start[axis] != asked.start[axis])
        .map(|axis| format!("{} = {} in place of {}", words::axis(axis), values.of.start[axis], asked.start[axis]))
        .collect();
    let every = (!larger.is_empty()).then(|| format!("only every so-manyth cell was recorded: {}", larger.join(", ")));
    let shown = (!other.is_empty()).then(|| format!("shown is {}, which was recorded", other.join(", ")));
    let text = [every, shown].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

/// Tells what is pointed at; the cell to move other planes to.
fn picked(done: &Done, tiles: &Tiles, given: &mut Given) -> Option<Vec<i64>> {
    let at = tiles.index(given.array, done.cell?)?;
    let cell = Cell { array: given.array.array, chunk: tiles.chunk(), at: at.clone() };
    given.picks.hovered = Some(cell.clone());
    if done.pinned {
        given.picks.toggle(given.array, cell);
    }
    done.taken.then_some(at)
}
