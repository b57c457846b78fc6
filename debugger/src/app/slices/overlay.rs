//! What is drawn over cells: borders of chunks, whose they are, what their ghost cells are, and what was moved.

use zippy::debug::protocol::{ArrayEntry, ChunkEntry, GhostEntry, GhostState, MoveEntry, Moves};
use zippy_view::egui::{Align2, Color32, FontId, Painter, Rect, Stroke, StrokeKind, vec2};

use super::plane::on_screen;
use super::tiles::Tile;
use crate::app::words::rank_colour;
use crate::app::{sense, words};
use crate::look::{Slice, Viewport, box_in_plane};

/// Boxes that are drawn at most.
const MOST: usize = 1 << 14;
/// Of more moves the bytes are not written on the cells, only in the list.
const MOST_NOTES: usize = 64;
const BORDER: Color32 = Color32::from_rgb(255, 255, 255);
const STALE: Color32 = Color32::from_rgb(255, 150, 30);
const NEVER: Color32 = Color32::from_rgb(255, 40, 200);
const FRESH: Color32 = Color32::from_rgb(90, 210, 120);
const FROM: Color32 = Color32::from_rgb(90, 190, 255);
const TO: Color32 = Color32::from_rgb(255, 220, 60);

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlays {
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

/// Where it is drawn.
pub struct Canvas<'a> {
    pub painter: &'a Painter,
    pub port: &'a Viewport,
    pub tile: &'a Tile,
}

impl Canvas<'_> {
    /// A box of the slice on the screen, if any of it is seen.
    fn place(&self, [low, high]: [[i64; 2]; 2]) -> Option<Rect> {
        let shifted = |at: [i64; 2]| [at[0] + self.tile.offset[0], at[1] + self.tile.offset[1]];
        let place = on_screen(self.port, [shifted(low), shifted(high)]);
        place.intersects(self.painter.clip_rect()).then_some(place)
    }

    fn label(&self, place: Rect, text: String, colour: Color32) {
        if place.width() > 90.0 && place.height() > 24.0 {
            let at = place.intersect(self.painter.clip_rect()).left_top() + vec2(4.0, 3.0);
            let painter = self.painter.with_clip_rect(place.intersect(self.painter.clip_rect()));
            let galley = painter.layout_no_wrap(text, FontId::proportional(11.0), colour);
            let behind = Rect::from_min_size(at, galley.size()).expand2(vec2(3.0, 1.0));
            painter.rect_filled(behind, 3.0, Color32::from_black_alpha(150));
            painter.galley(at, galley, colour);
        }
    }

    /// A text in the middle of a box, however narrow that is.
    fn note(&self, place: Rect, text: String, colour: Color32) {
        let seen = place.intersect(self.painter.clip_rect());
        let galley = self.painter.layout_no_wrap(text, FontId::proportional(11.0), colour);
        let at = Align2::CENTER_BOTTOM.anchor_size(seen.center() - vec2(0.0, 6.0), galley.size());
        self.painter.rect_filled(at.expand2(vec2(3.0, 1.0)), 3.0, Color32::from_black_alpha(170));
        self.painter.galley(at.min, galley, colour);
    }

    /// The index of a tile along its axis.
    pub fn index(&self, axis: usize) {
        if let (Some(place), Some(at)) = (self.place(self.tile.bounds), self.tile.slice.at.get(axis)) {
            self.label(place, format!("{} = {at}", words::axis(axis)), Color32::WHITE);
        }
    }

    /// Chunks with their borders and owners.
    pub fn chunks(&self, array: &ArrayEntry, overlays: Overlays) {
        let none: &[i64] = &[];
        for (number, chunk) in array.chunks.iter().enumerate() {
            let Some(place) = box_in_plane(&self.tile.slice, chunk, [none, none]).and_then(|cells| self.place(cells))
            else {
                continue;
            };
            if overlays.owners {
                self.painter.rect_filled(place, 0.0, rank_colour(chunk.rank).gamma_multiply(0.25));
            }
            if overlays.borders {
                let stroke = Stroke::new(1.0, BORDER.gamma_multiply(0.8));
                self.painter.rect_stroke(place, 0.0, stroke, StrokeKind::Middle);
            }
            if overlays.owners {
                self.label(place, format!("rank {}, chunk {number}", chunk.rank), Color32::WHITE);
            }
        }
    }

    /// What is known of ghost cells, drawn where they lie: around their chunks. Fresh ones are drawn of one chunk only.
    pub fn ghosts(&self, array: &ArrayEntry, ghosts: &[GhostEntry], only: Option<u64>) {
        let seen = |ghost: &&GhostEntry| match only {
            Some(chunk) => ghost.chunk == chunk,
            None => ghost.state != GhostState::Fresh,
        };
        for ghost in ghosts.iter().filter(seen).take(MOST) {
            let chunk = usize::try_from(ghost.chunk).ok().and_then(|number| array.chunks.get(number));
            let Some(place) = chunk
                .and_then(|chunk| side(array, chunk, &ghost.side))
                .and_then(|part| box_in_plane(&self.tile.slice, &part, [&[], &[]]))
                .and_then(|cells| self.place(cells))
            else {
                continue;
            };
            let colour = state_colour(ghost.state);
            self.painter.rect_filled(place, 0.0, colour.gamma_multiply(0.3));
            self.painter.rect_stroke(place.shrink(1.0), 0.0, Stroke::new(1.5, colour), StrokeKind::Inside);
            if ghost.state != GhostState::Fresh {
                hatch(&self.painter.with_clip_rect(place.intersect(self.painter.clip_rect())), place, colour);
            }
        }
    }

    /// Boxes that were moved within this array, to it or from it.
    pub fn moves(&self, array: &ArrayEntry, moves: &Moves) {
        for entry in moves.moves.iter().take(MOST) {
            let from = (entry.from.0 == Some(array.array)).then(|| self.moved(&entry.from.3, &entry.extents)).flatten();
            let to = (entry.to.0 == Some(array.array)).then(|| self.moved(&entry.to.3, &entry.extents)).flatten();
            let width = if entry.from.2 == entry.to.2 { 1.0 } else { 2.0 };
            for (place, colour) in [(from, FROM), (to, TO)] {
                let Some(place) = place else { continue };
                self.painter.rect_filled(place, 0.0, colour.gamma_multiply(0.12));
                self.painter.rect_stroke(place, 0.0, Stroke::new(width, colour), StrokeKind::Inside);
            }
            if let (Some(from), Some(to)) = (from, to) {
                let by = to.center() - from.center();
                self.painter.arrow(from.center(), by, Stroke::new(width, TO));
            }
            if let (Some(place), true) = (to, moves.moves.len() <= MOST_NOTES) {
                self.note(place, moved(entry), TO);
            }
        }
    }

    fn moved(&self, start: &[i64], extents: &[i64]) -> Option<Rect> {
        if !sense::places(start) || !sense::places(extents) {
            return None;
        }
        let end = start.iter().zip(extents).map(|(start, extent)| start.saturating_add(*extent)).collect();
        let part = ChunkEntry { rank: 0, start: start.to_vec(), end, writes: 0 };
        self.place(box_in_plane(&self.tile.slice, &part, [&[], &[]])?)
    }

    /// A cross where a cell is pinned, a frame around the one that is pointed at.
    pub fn cell(&self, at: [i64; 2], pinned: bool) {
        let Some(place) = self.place([at, [at[0] + 1, at[1] + 1]]) else { return };
        let shown = Rect::from_center_size(place.center(), place.size().max(vec2(5.0, 5.0)));
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

    /// Where two other slices cut this one.
    pub fn cross(&self, slice: &Slice, whole: [[i64; 2]; 2]) {
        let at = slice.shadow(&slice.at);
        let stroke = Stroke::new(1.0, Color32::from_white_alpha(110));
        if let Some(place) = self.place([[at[0], whole[0][1]], [at[0] + 1, whole[1][1]]]) {
            self.painter.vline(place.center().x, place.y_range(), stroke);
        }
        if let Some(place) = self.place([[whole[0][0], at[1]], [whole[1][0], at[1] + 1]]) {
            self.painter.hline(place.x_range(), place.center().y, stroke);
        }
    }
}

/// The ghost cells on a side of a chunk; none where it has none there.
fn side(array: &ArrayEntry, chunk: &ChunkEntry, side: &[i8]) -> Option<ChunkEntry> {
    let axes = array.shape.len();
    let [before, behind] = &array.ghosts;
    let whole = [side.len(), chunk.start.len(), chunk.end.len(), before.len(), behind.len()];
    if whole.iter().any(|length| *length != axes) {
        return None;
    }
    let along = |axis: usize| {
        let (start, end) = (chunk.start[axis], chunk.end[axis]);
        match side[axis].signum() {
            -1 => (start - before[axis], start),
            1 => (end, end + behind[axis]),
            _ => (start, end),
        }
    };
    let (start, end) = (0..axes).map(along).unzip();
    Some(ChunkEntry { start, end, ..chunk.clone() })
}

fn state_colour(state: GhostState) -> Color32 {
    match state {
        GhostState::Fresh => FRESH,
        GhostState::Stale => STALE,
        GhostState::NeverFilled => NEVER,
    }
}

/// Colours with their meaning, for the legend.
pub const GHOSTS: [(Color32, &str); 3] = [(FRESH, "fresh"), (STALE, "stale"), (NEVER, "never filled")];
/// The same for boxes that were moved.
pub const MOVES: [(Color32, &str); 2] = [(FROM, "from"), (TO, "to")];

fn hatch(painter: &Painter, place: Rect, colour: Color32) {
    let place = place.intersect(painter.clip_rect());
    let stroke = Stroke::new(1.0, colour);
    let mut x = (place.left() - place.height()) - (place.left() - place.height()).rem_euclid(8.0);
    while x < place.right() {
        let (low, high) = (place.left_bottom(), place.left_top());
        painter.line_segment([(x, low.y).into(), (x + place.height(), high.y).into()], stroke);
        x += 8.0;
    }
}

fn moved(entry: &MoveEntry) -> String {
    let ranks = match entry.from.2 == entry.to.2 {
        true => format!("on rank {}", entry.to.2),
        false => format!("rank {} to {}", entry.from.2, entry.to.2),
    };
    format!("{ranks}, {}", words::bytes(entry.bytes))
}

/// A text in the middle, where there is nothing to draw.
pub fn message(painter: &Painter, area: Rect, text: &str, colour: Color32) {
    let galley = painter.layout(text.into(), FontId::proportional(14.0), colour, (area.width() - 24.0).max(40.0));
    let at = Align2::CENTER_CENTER.anchor_size(area.center(), galley.size());
    painter.rect_filled(at.expand(6.0), 4.0, Color32::from_black_alpha(190));
    painter.galley(at.min, galley, colour);
}

#[cfg(test)]
mod tests {
    use zippy::debug::protocol::{ArrayKind, ArrayRef, ElementType};

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
        let found = |of: &[i8]| side(&array, &chunk, of).map(|part| (part.start, part.end));
        assert_eq!(found(&[-1, 0]), Some((vec![3, 0], vec![4, 6])));
        assert_eq!(found(&[1, 1]), Some((vec![8, 6], vec![11, 8])));
        assert_eq!(found(&[0, -1]), Some((vec![4, -2], vec![8, 0])));
        assert_eq!(found(&[1]), None, "of another array");
    }
}
