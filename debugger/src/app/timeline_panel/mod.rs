//! The timeline: activities of the ranks over time, and waits for other ranks.

mod axis;
mod lane;
mod paint;

use zippy_protocol::{Request, Span, Timeline};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{EventFilter, Key, Response, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use super::format;
use super::store::Store;
use axis::Axis;
use lane::{KINDS, NAMES, ROW, TIMES, kind};

/// Maximum number of spans per rank. The oldest spans are dropped.
const MAX_SPANS: usize = 1 << 14;
/// Initially visible time in microseconds.
const INITIAL_RANGE: f64 = 1e6;

/// Received part of the timeline, and its visible range.
#[derive(Default)]
pub(super) struct TimelinePanel {
    timeline: Timeline,
    /// Epoch and start time of the latest request.
    request: Option<(u64, u64)>,
    is_received: bool,
    run: u64,
    /// Description of the span under the pointer.
    hovered_text: String,
    /// Visible range in microseconds. `None`: the latest time.
    visible: Option<(f64, f64)>,
}

impl TimelinePanel {
    /// Shows the timeline, and requests the spans since the last debug point.
    pub(super) fn show(&mut self, ui: &mut Ui, store: &mut Store) {
        if self.run != store.run {
            *self = Self { run: store.run, ..Self::default() };
        }
        let error = self.request_spans(store);
        ui.horizontal_wrapped(|ui| {
            if ui.selectable_label(self.visible.is_none(), "follow").on_hover_text("see the latest").clicked() {
                self.visible = None;
            }
            if ui.button("all").on_hover_text("see all that is known").clicked() {
                self.visible = Some(self.whole_range());
            }
            for (_, name, colour) in KINDS {
                let (mark, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
                ui.painter().rect_filled(mark, 2.0, colour);
                ui.weak(name);
            }
        });
        ui.label(if self.hovered_text.is_empty() { "Point at a box to see what it is." } else { &self.hovered_text });
        match error {
            Some(error) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
            None if self.timeline.ranks.is_empty() => drop(ui.weak("The timeline is empty.")),
            None => drop(ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.show_rows(ui))),
        }
    }

    fn request_spans(&mut self, store: &mut Store) -> Option<String> {
        let (_, from) = match self.request {
            Some((epoch, from)) if epoch == store.epoch() || !self.is_received => (epoch, from),
            _ => {
                self.is_received = false;
                *self.request.insert((store.epoch(), self.timeline.until))
            }
        };
        let found = store.want(Request::Timeline(from));
        if found.is_fresh && !self.is_received {
            self.is_received = true;
            if let Some(more) = found.timeline() {
                self.add_spans(from, more);
            }
        }
        found.error
    }

    /// Adds new spans. They replace known spans that began at `from` or later.
    fn add_spans(&mut self, from: u64, more: &Timeline) {
        let ranks = more.ranks.len().max(self.timeline.ranks.len());
        self.timeline.ranks.resize(ranks, Vec::new());
        for (spans, more) in self.timeline.ranks.iter_mut().zip(&more.ranks) {
            spans.truncate(spans.partition_point(|span| span.start < from));
            let last = spans.last().map_or(0, |span| span.start);
            spans.extend(more.iter().filter(|span| span.start >= from.max(last)).cloned());
            spans.drain(..spans.len().saturating_sub(MAX_SPANS));
        }
        self.timeline.until = more.until;
    }

    fn whole_range(&self) -> (f64, f64) {
        let first = self.timeline.ranks.iter().filter_map(|spans| spans.first()).map(|span| span.start).min();
        let first = first.unwrap_or(0) as f64;
        (first, (self.timeline.until as f64).max(first + 1.0))
    }

    fn show_rows(&mut self, ui: &mut Ui) {
        let size = vec2(ui.available_width(), TIMES + ROW * self.timeline.ranks.len() as f32);
        let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let name = format!("timeline of {} ranks", self.timeline.ranks.len());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
        let whole = self.whole_range();
        let mut axis =
            Axis { area: area.with_min_x((area.left() + NAMES).min(area.right())), visible: self.visible_range() };
        if self.handle_input(ui, &response, &axis, whole) {
            axis.visible = self.visible_range();
        }
        let hovered = response.hover_pos().and_then(|at| self.span_at(&axis, at.x, at.y));
        paint::rows(ui, area, &axis, &self.timeline, hovered.map(|(rank, number, _)| (rank, number)));
        self.hovered_text = hovered.map_or_else(String::new, |(rank, _, span)| span_text(rank, span));
    }

    fn visible_range(&self) -> (f64, f64) {
        let until = self.timeline.until as f64;
        self.visible.unwrap_or(((until - INITIAL_RANGE).max(0.0), until.max(1.0)))
    }

    /// Handles wheel, drag and keys. Returns true if the visible range has changed.
    fn handle_input(&mut self, ui: &Ui, response: &Response, axis: &Axis, whole: (f64, f64)) -> bool {
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        let before = self.visible;
        if response.double_clicked() {
            self.visible = Some(whole);
        } else if response.dragged() && response.drag_delta().x != 0.0 {
            self.visible = Some(axis.panned(response.drag_delta().x));
        } else if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta(), f64::from(input.zoom_delta())));
            let by_wheel = if ui.input(|input| input.modifiers.shift) { 0.0 } else { f64::from(scroll.y) };
            let factor = (-by_wheel / 200.0).exp() / pinch;
            if factor != 1.0 {
                self.visible = Some(axis.zoomed(factor, pointer.x));
                ui.input_mut(|input| input.smooth_scroll_delta = vec2(scroll.x, 0.0));
            }
        }
        if response.has_focus() {
            self.keys(ui, response, axis, whole);
        }
        self.visible != before
    }

    fn keys(&mut self, ui: &Ui, response: &Response, axis: &Axis, whole: (f64, f64)) {
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let tenth = axis.area.width() / 10.0;
        let middle = axis.area.center().x;
        for (key, visible) in [
            (Key::ArrowLeft, axis.panned(tenth)),
            (Key::ArrowRight, axis.panned(-tenth)),
            (Key::Plus, axis.zoomed(0.8, middle)),
            (Key::Equals, axis.zoomed(0.8, middle)),
            (Key::Minus, axis.zoomed(1.25, middle)),
            (Key::Home, whole),
        ] {
            if pressed(key) {
                self.visible = Some(visible);
            }
        }
    }

    /// Returns the span at a screen position, with its rank and its index.
    fn span_at(&self, axis: &Axis, x: f32, y: f32) -> Option<(usize, usize, &Span)> {
        let row = (y - axis.area.top() - TIMES) / ROW;
        let rank = (row >= 0.0).then_some(row as usize)?;
        let spans = self.timeline.ranks.get(rank)?;
        let time = axis.time(x);
        let reach = axis.time(x + 2.0) - time;
        // The innermost span is the one that began last.
        let end = spans.partition_point(|span| span.start as f64 <= time + reach);
        let found = spans[..end].iter().enumerate().rev().take(4096);
        let covers = |span: &Span| span.start as f64 + span.length as f64 + reach >= time;
        found.filter(|(_, span)| covers(span)).map(|(number, span)| (rank, number, span)).next()
    }
}

fn span_text(rank: usize, span: &Span) -> String {
    let (name, _) = kind(span.kind);
    let peer = span.peer.map_or_else(String::new, |peer| format!(" for rank {peer}"));
    let (length, start) = (format::micros(span.length), format::micros(span.start));
    format!("rank {rank}: {name}{peer}, {}, {length}, from {start} on", span.what)
}

#[cfg(test)]
mod tests {
    use zippy_protocol::SpanKind;

    use super::*;

    fn span(start: u64) -> Span {
        Span { kind: SpanKind::Kernel, what: String::new(), start, length: 5, peer: None }
    }

    #[test]
    fn span_received_twice_is_kept_once() {
        let mut panel = TimelinePanel::default();
        panel.add_spans(0, &Timeline { until: 30, ranks: vec![vec![span(1), span(20)], vec![]] });
        panel.add_spans(20, &Timeline { until: 60, ranks: vec![vec![span(20), span(40)], vec![span(15), span(31)]] });
        let starts = |rank: usize| panel.timeline.ranks[rank].iter().map(|span| span.start).collect::<Vec<_>>();
        assert_eq!((starts(0), starts(1)), (vec![1, 20, 40], vec![31]));
        assert_eq!(panel.whole_range(), (1.0, 60.0));
    }
}
