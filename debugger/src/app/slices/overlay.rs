//! Overlays on the cells: chunk borders, owners, states of ghost cells, and moves.

use zippy_protocol::{ArrayEntry, ChunkEntry, GhostEntry, GhostState, MoveEntry, Moves};
use zippy_view::egui::{Align2, Color32, FontId, Painter, Rect, Stroke, StrokeKind, vec2};

use super::plane::on_screen;
use super::tiles::Tile;
use crate::app::format::rank_colour;
use crate::app::{format, validate};
use crate::imaging::{Slice, Viewport, box_in_plane};

const MAX_BOXES: usize = 1 << 14;
/// Maximum number of moves with a text on the cells; the list shows the texts of all moves.
const MAX_MOVE_TEXTS: usize = 64;
const BORDER_COLOUR: Color32 = Color32::from_rgb(255, 255, 255);
const STALE_COLOUR: Color32 = Color32::from_rgb(255, 150, 30);
const NEVER_FILLED_COLOUR: Color32 = Color32::from_rgb(255, 40, 200);
const FRESH_COLOUR: Color32 = Color32::from_rgb(90, 210, 120);
const SOURCE_COLOUR: Color32 = Color32::from_rgb(90, 190, 255);
const DESTINATION_COLOUR: Color32 = Color32::from_rgb(255, 220, 60);

/// Overlays on the cells that the user has selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overlays {
    pub borders: bool,
    pub owners: bool,
    pub ghosts: bool,
    pub moves: bool,
}

impl Default for Overlays {
    fn default() -> Self {
        Self { borders: true, owners: false, ghosts: false, moves: false }
    }
}

/// A tile on the screen that overlays are drawn on.
pub(super) struct Canvas<'a> {
    pub painter: &'a Painter,
    pub port: &'a Viewport,
    pub tile: &'a Tile,
}

impl Canvas<'_> {
    /// Returns the visible screen rectangle of a box of the slice.
    fn visible_rect(&self, [low, high]: [[i64; 2]; 2]) -> Option<Rect> {
        let shifted = |at: [i64; 2]| [at[0] + self.tile.offset[0], at[1] + self.tile.offset[1]];
        let rect = on_screen(self.port, [shifted(low), shifted(high)]);
        rect.intersects(self.painter.clip_rect()).then_some(rect)
    }

    fn draw_label(&self, rect: Rect, text: String, colour: Color32) {
        if rect.width() > 90.0 && rect.height() > 24.0 {
            let at = rect.intersect(self.painter.clip_rect()).left_top() + vec2(4.0, 3.0);
            let painter = self.painter.with_clip_rect(rect.intersect(self.painter.clip_rect()));
            let galley = painter.layout_no_wrap(text, FontId::proportional(11.0), colour);
            let backdrop = Rect::from_min_size(at, galley.size()).expand2(vec2(3.0, 1.0));
            painter.rect_filled(backdrop, 3.0, Color32::from_black_alpha(150));
            painter.galley(at, galley, colour);
        }
    }

    fn draw_centred_text(&self, rect: Rect, text: String, colour: Color32) {
        let visible = rect.intersect(self.painter.clip_rect());
        let galley = self.painter.layout_no_wrap(text, FontId::proportional(11.0), colour);
        let at = Align2::CENTER_BOTTOM.anchor_size(visible.center() - vec2(0.0, 6.0), galley.size());
        self.painter.rect_filled(at.expand2(vec2(3.0, 1.0)), 3.0, Color32::from_black_alpha(170));
        self.painter.galley(at.min, galley, colour);
    }

    /// Writes the tile's index along its axis.
    pub(super) fn index(&self, axis: usize) {
        if let (Some(rect), Some(at)) = (self.visible_rect(self.tile.bounds), self.tile.slice.at.get(axis)) {
            self.draw_label(rect, format!("{} = {at}", format::axis(axis)), Color32::WHITE);
        }
    }

    /// Draws the borders and owners of chunks.
    pub(super) fn chunks(&self, array: &ArrayEntry, overlays: Overlays) {
        let none: &[i64] = &[];
        for (number, chunk) in array.chunks.iter().enumerate() {
            let Some(rect) =
                box_in_plane(&self.tile.slice, chunk, [none, none]).and_then(|cells| self.visible_rect(cells))
            else {
                continue;
            };
            if overlays.owners {
                self.painter.rect_filled(rect, 0.0, rank_colour(chunk.rank).gamma_multiply(0.25));
            }
            if overlays.borders {
                let stroke = Stroke::new(1.0, BORDER_COLOUR.gamma_multiply(0.8));
                self.painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Middle);
            }
            if overlays.owners {
                self.draw_label(rect, format!("rank {}, chunk {number}", chunk.rank), Color32::WHITE);
            }
        }
    }

    /// Draws the states of ghost cells at their positions around the chunks. Fresh ghost cells are
    /// drawn for a single chunk only.
    pub(super) fn ghosts(&self, array: &ArrayEntry, ghosts: &[GhostEntry], only: Option<u64>) {
        let visible = |ghost: &&GhostEntry| match only {
            Some(chunk) => ghost.chunk == chunk,
            None => ghost.state != GhostState::Fresh,
        };
        for ghost in ghosts.iter().filter(visible).take(MAX_BOXES) {
            let chunk = usize::try_from(ghost.chunk).ok().and_then(|number| array.chunks.get(number));
            let Some(rect) = chunk
                .and_then(|chunk| ghost_side_box(array, chunk, &ghost.side))
                .and_then(|ghost_box| box_in_plane(&self.tile.slice, &ghost_box, [&[], &[]]))
                .and_then(|cells| self.visible_rect(cells))
            else {
                continue;
            };
            let colour = state_colour(ghost.state);
            self.painter.rect_filled(rect, 0.0, colour.gamma_multiply(0.3));
            self.painter.rect_stroke(rect.shrink(1.0), 0.0, Stroke::new(1.5, colour), StrokeKind::Inside);
            if ghost.state != GhostState::Fresh {
                draw_hatching(&self.painter.with_clip_rect(rect.intersect(self.painter.clip_rect())), rect, colour);
            }
        }
    }

    /// Draws the moves from and to this array.
    pub(super) fn moves(&self, array: &ArrayEntry, moves: &Moves) {
        for entry in moves.moves.iter().take(MAX_BOXES) {
            let from =
                (entry.from.0 == Some(array.array)).then(|| self.move_rect(&entry.from.3, &entry.extents)).flatten();
            let to = (entry.to.0 == Some(array.array)).then(|| self.move_rect(&entry.to.3, &entry.extents)).flatten();
            let width = if entry.from.2 == entry.to.2 { 1.0 } else { 2.0 };
            for (rect, colour) in [(from, SOURCE_COLOUR), (to, DESTINATION_COLOUR)] {
                let Some(rect) = rect else { continue };
                self.painter.rect_filled(rect, 0.0, colour.gamma_multiply(0.12));
                self.painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), StrokeKind::Inside);
            }
            if let (Some(from), Some(to)) = (from, to) {
                let by = to.center() - from.center();
                self.painter.arrow(from.center(), by, Stroke::new(width, DESTINATION_COLOUR));
            }
            if let (Some(rect), true) = (to, moves.moves.len() <= MAX_MOVE_TEXTS) {
                self.draw_centred_text(rect, move_text(entry), DESTINATION_COLOUR);
            }
        }
    }

    fn move_rect(&self, start: &[i64], extents: &[i64]) -> Option<Rect> {
        if !validate::are_in_range(start) || !validate::are_in_range(extents) {
            return None;
        }
        let end = start.iter().zip(extents).map(|(start, extent)| start.saturating_add(*extent)).collect();
        let moved_box = ChunkEntry { rank: 0, start: start.to_vec(), end, writes: 0 };
        self.visible_rect(box_in_plane(&self.tile.slice, &moved_box, [&[], &[]])?)
    }

    /// Draws a frame around a cell, and a cross in a pinned cell.
    pub(super) fn cell(&self, at: [i64; 2], pinned: bool) {
        let Some(rect) = self.visible_rect([at, [at[0] + 1, at[1] + 1]]) else { return };
        let shown = Rect::from_center_size(rect.center(), rect.size().max(vec2(5.0, 5.0)));
        self.painter.rect_stroke(shown, 0.0, Stroke::new(1.0, Color32::BLACK), StrokeKind::Outside);
        self.painter.rect_stroke(shown.expand(1.0), 0.0, Stroke::new(1.0, Color32::WHITE), StrokeKind::Outside);
        if pinned {
            let stroke = Stroke::new(1.5, Color32::WHITE);
            let reach = shown.width().clamp(7.0, 14.0) / 2.0;
            for sign in [1.0, -1.0] {
                let by = vec2(reach, sign * reach);
                self.painter.line_segment([shown.center() - by, shown.center() + by], stroke);
            }
        }
    }

    /// Draws the lines where the other two orthogonal planes cut this plane.
    pub(super) fn cross(&self, slice: &Slice, whole: [[i64; 2]; 2]) {
        let at = slice.shadow(&slice.at);
        let stroke = Stroke::new(1.0, Color32::from_white_alpha(110));
        if let Some(rect) = self.visible_rect([[at[0], whole[0][1]], [at[0] + 1, whole[1][1]]]) {
            self.painter.vline(rect.center().x, rect.y_range(), stroke);
        }
        if let Some(rect) = self.visible_rect([[whole[0][0], at[1]], [whole[1][0], at[1] + 1]]) {
            self.painter.hline(rect.x_range(), rect.center().y, stroke);
        }
    }
}

/// Returns the box of ghost cells on one side of a chunk, or `None` for an invalid side.
fn ghost_side_box(array: &ArrayEntry, chunk: &ChunkEntry, side: &[i8]) -> Option<ChunkEntry> {
    let axes = array.shape.len();
    let [before, after] = &array.ghosts;
    let whole = [side.len(), chunk.start.len(), chunk.end.len(), before.len(), after.len()];
    if whole.iter().any(|length| *length != axes) {
        return None;
    }
    let along = |axis: usize| {
        let (start, end) = (chunk.start[axis], chunk.end[axis]);
        match side[axis].signum() {
            -1 => (start - before[axis], start),
            1 => (end, end + after[axis]),
            _ => (start, end),
        }
    };
    let (start, end) = (0..axes).map(along).unzip();
    Some(ChunkEntry { start, end, ..chunk.clone() })
}

fn state_colour(state: GhostState) -> Color32 {
    match state {
        GhostState::Fresh => FRESH_COLOUR,
        GhostState::Stale => STALE_COLOUR,
        GhostState::NeverFilled => NEVER_FILLED_COLOUR,
    }
}

pub(crate) const GHOSTS: [(Color32, &str); 3] =
    [(FRESH_COLOUR, "fresh"), (STALE_COLOUR, "stale"), (NEVER_FILLED_COLOUR, "never filled")];
pub(crate) const MOVES: [(Color32, &str); 2] = [(SOURCE_COLOUR, "from"), (DESTINATION_COLOUR, "to")];

fn draw_hatching(painter: &Painter, rect: Rect, colour: Color32) {
    let rect = rect.intersect(painter.clip_rect());
    let stroke = Stroke::new(1.0, colour);
    let mut x = (rect.left() - rect.height()) - (rect.left() - rect.height()).rem_euclid(8.0);
    while x < rect.right() {
        let (low, high) = (rect.left_bottom(), rect.left_top());
        painter.line_segment([(x, low.y).into(), (x + rect.height(), high.y).into()], stroke);
        x += 8.0;
    }
}

fn move_text(entry: &MoveEntry) -> String {
    let ranks = if entry.from.2 == entry.to.2 {
        format!("on rank {}", entry.to.2)
    } else {
        format!("rank {} to {}", entry.from.2, entry.to.2)
    };
    format!("{ranks}, {}", format::bytes(entry.bytes))
}

/// Draws a text in the middle of an empty area.
pub(super) fn message(painter: &Painter, area: Rect, text: &str, colour: Color32) {
    let galley = painter.layout(text.into(), FontId::proportional(14.0), colour, (area.width() - 24.0).max(40.0));
    let at = Align2::CENTER_CENTER.anchor_size(area.center(), galley.size());
    painter.rect_filled(at.expand(6.0), 4.0, Color32::from_black_alpha(190));
    painter.galley(at.min, galley, colour);
}

#[cfg(test)]
mod tests {
    use zippy_protocol::{ArrayKind, ArrayRef, ElementType};

    use super::*;

    #[test]
    fn sides_of_chunks_are_where_their_ghost_cells_are() {
        let element = ElementType { name: "f32".into(), bytes: 4, numbers: Vec::new() };
        let chunk = ChunkEntry { rank: 2, start: vec![4, 0], end: vec![8, 6], writes: 0 };
        let array = ArrayEntry {
            array: ArrayRef { rank: None, number: 0 },
            name: "u".into(),
            kind: ArrayKind::Global,
            element,
            shape: vec![8, 6],
            ghosts: [vec![1, 2], vec![3, 2]],
            periodic: vec![true, true],
            chunk_count: 1,
            grid: None,
            chunks: vec![chunk.clone()],
            bytes: 0,
            writes: 0,
            last_write: None,
        };
        let found = |direction: &[i8]| {
            ghost_side_box(&array, &chunk, direction).map(|ghost_box| (ghost_box.start, ghost_box.end))
        };
        assert_eq!(found(&[-1, 0]), Some((vec![3, 0], vec![4, 6])));
        assert_eq!(found(&[1, 1]), Some((vec![8, 6], vec![11, 8])));
        assert_eq!(found(&[0, -1]), Some((vec![4, -2], vec![8, 0])));
        assert_eq!(found(&[1]), None, "wrong number of axes");
    }
}
