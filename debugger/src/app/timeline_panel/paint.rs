//! Painting of spans as boxes, one row per rank.

use zippy_protocol::{Span, SpanKind, Timeline};
use zippy_view::egui::{Align2, Color32, FontId, Mesh, Painter, Rect, Shape, Stroke, StrokeKind, Ui, pos2};

use super::axis::Axis;
use super::lane::{TIMES, kind, row};
use crate::app::format;

/// Draws the visible part of the timeline. `selected` is a rank and the index of a span of this
/// rank.
pub(super) fn rows(ui: &Ui, area: Rect, axis: &Axis, timeline: &Timeline, selected: Option<(usize, usize)>) {
    let painter = ui.painter_at(area);
    painter.rect_filled(area, 2.0, ui.visuals().extreme_bg_color);
    let weak = ui.visuals().weak_text_color();
    draw_time_labels(&painter, area, axis, weak);
    let inner = painter.with_clip_rect(axis.area.intersect(painter.clip_rect()));
    for (rank, spans) in timeline.ranks.iter().enumerate() {
        let lane = row(area, rank);
        if !lane.intersects(painter.clip_rect()) {
            continue;
        }
        let at = lane.left_center() + [6.0, 0.0].into();
        painter.text(at, Align2::LEFT_CENTER, format!("rank {rank}"), FontId::proportional(12.0), weak);
        draw_spans(&inner, axis, lane, spans);
    }
    if let Some((rank, number)) = selected
        && let Some(span) = timeline.ranks.get(rank).and_then(|spans| spans.get(number))
    {
        draw_selected_span(&inner, axis, area, rank, span, timeline.ranks.len());
    }
}

fn draw_time_labels(painter: &Painter, area: Rect, axis: &Axis, colour: Color32) {
    for time in axis.ticks() {
        let x = axis.x(time);
        painter.vline(x, area.top() + TIMES..=area.bottom(), Stroke::new(1.0, colour.gamma_multiply(0.25)));
        let text = format::micros(time as u64);
        painter.text(pos2(x, area.top() + 4.0), Align2::CENTER_TOP, text, FontId::proportional(11.0), colour);
    }
}

/// Draws the spans of a rank. Spans narrower than a point are drawn at most once per point, so that
/// the cost is limited by the width.
fn draw_spans(painter: &Painter, axis: &Axis, lane: Rect, spans: &[Span]) {
    let mut mesh = Mesh::default();
    let mut labels = Vec::new();
    let mut reached = f32::NEG_INFINITY;
    let end = spans.partition_point(|span| (span.start as f64) < axis.visible.1);
    for span in &spans[..end] {
        let left = axis.x(span.start as f64);
        let right = axis.x(span.start as f64 + span.length as f64).max(left + 1.0);
        if right < axis.area.left() || (right - left <= 1.0 && left < reached) {
            continue;
        }
        reached = right;
        let (_, colour) = kind(span.kind);
        let rect = Rect::from_min_max(pos2(left, lane.top() + 3.0), pos2(right, lane.bottom() - 3.0));
        mesh.add_colored_rect(rect, colour);
        if right - left > 40.0 {
            labels.push((rect, span));
        }
    }
    painter.add(Shape::mesh(mesh));
    for (rect, span) in labels {
        let rect = rect.intersect(axis.area);
        let inside = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
        let at = rect.left_center() + [4.0, 0.0].into();
        inside.text(at, Align2::LEFT_CENTER, span_label(span), FontId::proportional(11.0), Color32::from_gray(16));
    }
}

fn span_label(span: &Span) -> String {
    match (span.kind, span.peer) {
        (SpanKind::Wait, Some(peer)) => format!("{} of rank {peer}", span.what),
        _ => span.what.clone(),
    }
}

/// Draws a frame around a span, and an arrow to the rank that the span waits for.
fn draw_selected_span(painter: &Painter, axis: &Axis, area: Rect, rank: usize, span: &Span, ranks: usize) {
    let lane = row(area, rank);
    let left = axis.x(span.start as f64);
    let right = axis.x(span.start as f64 + span.length as f64).max(left + 1.0);
    let rect = Rect::from_min_max(pos2(left, lane.top() + 2.0), pos2(right, lane.bottom() - 2.0));
    let stroke = Stroke::new(1.5, Color32::WHITE);
    painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Outside);
    if let Some(peer) = span.peer.map(|peer| peer as usize).filter(|peer| *peer < ranks && *peer != rank) {
        let to = pos2(right, row(area, peer).center().y);
        painter.arrow(to, pos2(right, lane.center().y) - to, stroke);
    }
}
