//! [`Pane`]: a plane with its picture and overlays.

use zippy_protocol::{ArrayEntry, Request, ViewRequest};
use zippy_view::egui::{Align, Align2, Color32, FontId, Frame, Layout, Painter, Rect, Ui, UiBuilder, Vec2, vec2};

use super::layer::Layer;
use super::overlay::{Canvas, Overlays, message};
use super::plane::{Plane, PlaneResponse};
use super::tiles::Tiles;
use crate::app::format;
use crate::app::pick::{Cell, Picks};
use crate::app::store::Store;
use crate::app::style::{NumberStatistics, Style};
use crate::imaging::{Quantity, Values};

/// Data that every display of cells needs.
pub(crate) struct PaneContext<'a> {
    pub store: &'a mut Store,
    pub array: &'a ArrayEntry,
    pub picks: &'a mut Picks,
    pub overlays: Overlays,
    pub statistics: &'a NumberStatistics,
}

/// A plane on the screen, with the texture of its cells.
#[derive(Default)]
pub(super) struct Pane {
    pub plane: Plane,
    pub layer: Layer,
    /// Latest request for the visible cells.
    pub request: Option<ViewRequest>,
    /// True to draw the positions of the other two planes as lines.
    pub crosshair: bool,
}

impl Pane {
    /// Shows the plane with its picture and overlays. Returns a cell if the user moves the other
    /// two orthogonal planes to it.
    #[allow(clippy::too_many_arguments, reason = "parts of one frame")]
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        size: Vec2,
        tiles: &Tiles,
        name: &str,
        quantity: Quantity,
        style: &mut Style,
        context: &mut PaneContext<'_>,
    ) -> Option<Vec<i64>> {
        let array = context.array;
        let bounds = tiles.bounds(array).unwrap_or_default();
        let plane = self.plane.show(ui, size, bounds, name);
        self.request = tiles.request(array, &plane.port, ui.ctx().pixels_per_point().into(), quantity);
        if let Some(request) = self.request.clone() {
            let found = context.store.view(request);
            self.layer.take(&found, array, quantity, tiles);
        }
        let painter = ui.painter_at(plane.response.rect);
        let mut problem = self.layer.error.clone();
        match self.layer.values().map(|values| style.colouring(context.statistics, values)) {
            Some(Ok(colouring)) => self.layer.paint(ui, &painter, &plane.port, array, colouring),
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
        if let (Some(request), Some(values)) = (&self.request, self.layer.values())
            && let Some(text) = coarse_recording_note(request, values)
        {
            draw_note(ui, plane.response.rect, &text);
        }
        self.draw_overlays(ui, &plane, tiles, context);
        draw_axis_names(&painter, plane.response.rect, tiles.axes(), ui.visuals().text_color());
        let centre = apply_clicks(&plane, tiles, context);
        let colours = ui.visuals();
        if let Some(problem) = problem.or_else(|| self.layer.error.clone()) {
            message(&painter, plane.response.rect, &problem, colours.error_fg_color);
        } else if self.layer.values().is_none() && self.request.is_some() {
            message(&painter, plane.response.rect, "loading …", colours.weak_text_color());
        }
        centre
    }

    fn draw_overlays(&self, ui: &Ui, plane: &PlaneResponse, tiles: &Tiles, context: &mut PaneContext<'_>) {
        let (array, overlays) = (context.array, context.overlays);
        let ghosts = overlays.ghosts.then(|| context.store.ghosts(array.array));
        let moves = overlays.moves.then(|| context.store.want(Request::Moves));
        let painter = ui.painter_at(plane.response.rect);
        for tile in tiles.all(array) {
            let canvas = Canvas { painter: &painter, port: &plane.port, tile: &tile };
            canvas.chunks(array, overlays);
            if let Tiles::Mosaic(mosaic) = tiles {
                canvas.index(mosaic.axis());
            }
            if let Some(ghosts) = ghosts.as_ref().and_then(|found| found.ghosts()) {
                canvas.ghosts(array, ghosts, tiles.chunk());
            }
            if let Some(moves) = moves.as_ref().and_then(|found| found.moves()) {
                canvas.moves(array, moves);
            }
            if let (Tiles::Slice(slice), true) = (tiles, self.crosshair) {
                canvas.cross(slice, tile.bounds);
            }
        }
        let mut errors = [ghosts, moves].into_iter().flatten().filter_map(|found| found.error);
        if let Some(error) = errors.next() {
            let strip = plane.response.rect;
            let strip = strip.with_max_y(strip.top() + 48.0);
            message(&painter, strip, &error, ui.visuals().warn_fg_color);
        }
        // Draw cell marks last, in the coordinates of the plane.
        if let Some(tile) = tiles.all(array).first() {
            let mut whole = tile.clone();
            whole.offset = [0, 0];
            let canvas = Canvas { painter: &painter, port: &plane.port, tile: &whole };
            let is_visible = |cell: &&Cell| cell.array == array.array && cell.chunk == tiles.chunk();
            for cell in context.picks.pinned().filter(is_visible) {
                if let Some(at) = tiles.position(&cell.at) {
                    canvas.cell(at, true);
                }
            }
            if let Some(at) = plane.cell.filter(|at| tiles.index(array, *at).is_some()) {
                canvas.cell(at, false);
            }
        }
    }
}

fn draw_axis_names(painter: &Painter, area: Rect, [across, up]: [Option<usize>; 2], colour: Color32) {
    let font = FontId::proportional(11.0);
    if let Some(axis) = across {
        let corner = area.right_bottom() - vec2(3.0, 0.0);
        painter.text(corner, Align2::RIGHT_BOTTOM, format::axis(axis), font.clone(), colour);
    }
    if let Some(axis) = up {
        painter.text(area.left_top() + vec2(3.0, 0.0), Align2::LEFT_TOP, format::axis(axis), font, colour);
    }
}

/// Draws a text at the lower edge of a picture.
fn draw_note(ui: &mut Ui, area: Rect, text: &str) {
    let strip = area.shrink(6.0);
    let mut within = ui.new_child(UiBuilder::new().max_rect(strip).layout(Layout::bottom_up(Align::Min)));
    Frame::new().fill(Color32::from_black_alpha(190)).corner_radius(3.0).inner_margin(4.0).show(&mut within, |ui| {
        ui.colored_label(ui.visuals().warn_fg_color, text);
    });
}

/// Returns a note if a coarse recording shows other cells than requested, or `None`.
fn coarse_recording_note(request: &ViewRequest, values: &Values) -> Option<String> {
    let axes = request.start.len().min(values.extents.len());
    let coarse_axes: Vec<String> = (0..axes)
        .filter(|&axis| values.of.stride[axis] > request.stride[axis] && request.end[axis] - request.start[axis] > 1)
        .map(|axis| format!("{} {}", format::axis(axis), values.of.stride[axis]))
        .collect();
    let moved_axes: Vec<String> = (0..axes)
        .filter(|&axis| request.end[axis] - request.start[axis] == 1 && values.of.start[axis] != request.start[axis])
        .map(|axis| format!("{} = {} in place of {}", format::axis(axis), values.of.start[axis], request.start[axis]))
        .collect();
    let every = (!coarse_axes.is_empty())
        .then(|| format!("only every so-manyth cell was recorded: {}", coarse_axes.join(", ")));
    let shown = (!moved_axes.is_empty()).then(|| format!("shown is {}, which was recorded", moved_axes.join(", ")));
    let text = [every, shown].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

/// Sets the hovered cell and pins or unpins a cell after clicks. Returns the cell to which the user
/// moves the other two orthogonal planes.
fn apply_clicks(plane: &PlaneResponse, tiles: &Tiles, context: &mut PaneContext<'_>) -> Option<Vec<i64>> {
    let at = tiles.index(context.array, plane.cell?)?;
    let cell = Cell { array: context.array.array, chunk: tiles.chunk(), at: at.clone() };
    context.picks.hovered = Some(cell.clone());
    if plane.pinned {
        context.picks.toggle(context.array, cell);
    }
    plane.centre.then_some(at)
}
