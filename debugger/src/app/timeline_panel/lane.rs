//! Rows of the ranks, and colours of the spans.

use zippy_protocol::SpanKind;
use zippy_view::egui::{Color32, Rect};

/// Height of a rank's row in points.
pub(super) const ROW: f32 = 24.0;
/// Width of the names of the ranks in points.
pub(super) const NAMES: f32 = 64.0;
/// Height of the time labels in points.
pub(super) const TIMES: f32 = 20.0;
/// Kinds of spans with their names and colours.
pub(super) const KINDS: [(SpanKind, &str, Color32); 7] = [
    (SpanKind::Kernel, "kernel", Color32::from_rgb(86, 180, 120)),
    (SpanKind::Plan, "plan", Color32::from_rgb(170, 170, 170)),
    (SpanKind::Pack, "pack", Color32::from_rgb(230, 170, 60)),
    (SpanKind::Local, "local move", Color32::from_rgb(190, 140, 90)),
    (SpanKind::Unpack, "unpack", Color32::from_rgb(240, 220, 90)),
    (SpanKind::Wait, "wait", Color32::from_rgb(214, 84, 76)),
    (SpanKind::Debug, "debug point", Color32::from_rgb(96, 116, 170)),
];

/// Name and colour of a kind.
pub(super) fn kind(kind: SpanKind) -> (&'static str, Color32) {
    let known = KINDS.iter().find(|(known, ..)| *known == kind);
    known.map_or(("", Color32::GRAY), |(_, name, colour)| (*name, *colour))
}

/// Rectangle of a rank's row.
pub(super) fn row(area: Rect, rank: usize) -> Rect {
    let top = area.top() + TIMES + ROW * rank as f32;
    Rect::from_min_max([area.left(), top].into(), [area.right(), top + ROW].into())
}
