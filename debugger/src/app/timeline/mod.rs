//! The timeline: what the ranks did when, and who waited for whom.

mod axis;
mod lane;
mod paint;

use zippy::debug::protocol::{Request, Span, Timeline};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{EventFilter, Key, Response, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use super::store::Store;
use super::words;
use axis::Axis;
use lane::{KINDS, NAMES, ROW, TIMES, kind};

/// Spans of a rank that are kept: the latest.
const MOST_SPANS: usize = 1 << 14;
/// What is seen at first: a second.
const FIRST: f64 = 1e6;

/// What is known so far, and what of it is seen.
#[derive(Default)]
pub struct Lanes {
    known: Timeline,
    /// What is asked for, and at which debug point that was decided.
    asked: Option<(u64, u64)>,
    taken: bool,
    run: u64,
    /// What is under the pointer, in words.
    pointed: String,
    /// From when to when it is seen, in microseconds; follows the program where it is none.
    seen: Option<(f64, f64)>,
}

impl Lanes {
    /// Shows it; asks for what came to it since the last debug point.
    pub fn show(&mut self, ui: &mut Ui, store: &mut Store) {
        if self.run != store.run {
            *self = Self { run: store.run, ..Self::default() };
        }
        let error = self.fetch(store);
        ui.horizontal_wrapped(|ui| {
            if ui.selectable_label(self.seen.is_none(), "follow").on_hover_text("see the latest").clicked() {
                self.seen = None;
            }
            if ui.button("all").on_hover_text("see all that is known").clicked() {
                self.seen = Some(self.whole());
            }
            for (_, name, colour) in KINDS {
                let (mark, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
                ui.painter().rect_filled(mark, 2.0, colour);
                ui.weak(name);
            }
        });
        ui.label(if self.pointed.is_empty() { "Point at a box to see what it is." } else { &self.pointed });
        match error {
            Some(error) => drop(ui.colored_label(ui.visuals().error_fg_color, error)),
            None if self.known.ranks.is_empty() => drop(ui.weak("Nothing is known of what the ranks did.")),
            None => drop(ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.rows(ui))),
        }
    }

    fn fetch(&mut self, store: &mut Store) -> Option<String> {
        let (_, from) = match self.asked {
            Some((epoch, from)) if epoch == store.epoch() || !self.taken => (epoch, from),
            _ => {
                self.taken = false;
                *self.asked.insert((store.epoch(), self.known.until))
            }
        };
        let found = store.want(Request::Timeline(from));
        if found.fresh && !self.taken {
            self.taken = true;
            if let Some(more) = found.timeline() {
                self.add(from, more);
            }
        }
        found.error
    }

    /// What began before `from` stays.
    fn add(&mut self, from: u64, more: &Timeline) {
        let ranks = more.ranks.len().max(self.known.ranks.len());
        self.known.ranks.resize(ranks, Vec::new());
        for (known, more) in self.known.ranks.iter_mut().zip(&more.ranks) {
            known.truncate(known.partition_point(|span| span.start < from));
            let last = known.last().map_or(0, |span| span.start);
            known.extend(more.iter().filter(|span| span.start >= from.max(last)).cloned());
            known.drain(..known.len().saturating_sub(MOST_SPANS));
        }
        self.known.until = more.until;
    }

    fn whole(&self) -> (f64, f64) {
        let first = self.known.ranks.iter().filter_map(|spans| spans.first()).map(|span| span.start).min();
        let first = first.unwrap_or(0) as f64;
        (first, (self.known.until as f64).max(first + 1.0))
    }

    fn rows(&mut self, ui: &mut Ui) {
        let size = vec2(ui.available_width(), TIMES + ROW * self.known.ranks.len() as f32);
        let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let name = format!("timeline of {} ranks", self.known.ranks.len());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
        let whole = self.whole();
        let mut axis = Axis { area: area.with_min_x((area.left() + NAMES).min(area.right())), seen: self.range() };
        if self.moved(ui, &response, &axis, whole) {
            axis.seen = self.range();
        }
        let hovered = response.hover_pos().and_then(|at| self.at(&axis, at.x, at.y));
        paint::rows(ui, area, &axis, &self.known, hovered.map(|(rank, number, _)| (rank, number)));
        self.pointed = hovered.map_or_else(String::new, |(rank, _, span)| described(rank, span));
    }

    fn range(&self) -> (f64, f64) {
        let until = self.known.until as f64;
        self.seen.unwrap_or(((until - FIRST).max(0.0), until.max(1.0)))
    }

    /// Wheel, drag and keys; whether something else is seen now.
    fn moved(&mut self, ui: &Ui, response: &Response, axis: &Axis, whole: (f64, f64)) -> bool {
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        let before = self.seen;
        if response.double_clicked() {
            self.seen = Some(whole);
        } else if response.dragged() && response.drag_delta().x != 0.0 {
            self.seen = Some(axis.panned(response.drag_delta().x));
        } else if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta(), f64::from(input.zoom_delta())));
            let by_wheel = if ui.input(|input| input.modifiers.shift) { 0.0 } else { f64::from(scroll.y) };
            let factor = (-by_wheel / 200.0).exp() / pinch;
            if factor != 1.0 {
                self.seen = Some(axis.zoomed(factor, pointer.x));
                ui.input_mut(|input| input.smooth_scroll_delta = vec2(scroll.x, 0.0));
            }
        }
        if response.has_focus() {
            self.keys(ui, response, axis, whole);
        }
        self.seen != before
    }

    fn keys(&mut self, ui: &Ui, response: &Response, axis: &Axis, whole: (f64, f64)) {
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let tenth = axis.area.width() / 10.0;
        let middle = axis.area.center().x;
        for (key, seen) in [
            (Key::ArrowLeft, axis.panned(tenth)),
            (Key::ArrowRight, axis.panned(-tenth)),
            (Key::Plus, axis.zoomed(0.8, middle)),
            (Key::Equals, axis.zoomed(0.8, middle)),
            (Key::Minus, axis.zoomed(1.25, middle)),
            (Key::Home, whole),
        ] {
            if pressed(key) {
                self.seen = Some(seen);
            }
        }
    }

    /// The span at a place on the screen, with its rank and number.
    fn at(&self, axis: &Axis, x: f32, y: f32) -> Option<(usize, usize, &Span)> {
        let row = (y - axis.area.top() - TIMES) / ROW;
        let rank = (row >= 0.0).then_some(row as usize)?;
        let spans = self.known.ranks.get(rank)?;
        let time = axis.time(x);
        let reach = axis.time(x + 2.0) - time;
        // The innermost is the one that began last.
        let end = spans.partition_point(|span| span.start as f64 <= time + reach);
        let found = spans[..end].iter().enumerate().rev().take(4096);
        let covers = |span: &Span| span.start as f64 + span.length as f64 + reach >= time;
        found.filter(|(_, span)| covers(span)).map(|(number, span)| (rank, number, span)).next()
    }
}

fn described(rank: usize, span: &Span) -> String {
    let (name, _) = kind(span.kind);
    let whom = span.peer.map_or_else(String::new, |peer| format!(" for rank {peer}"));
    let (length, start) = (words::micros(span.length), words::micros(span.start));
    format!("rank {rank}: {name}{whom}, {}, {length}, from {start} on", span.what)
}

#[cfg(test)]
mod tests {
    use zippy::debug::protocol::SpanKind;

    use super::*;

    fn span(start: u64) -> Span {
        Span { kind: SpanKind::Kernel, what: String::new(), start, length: 5, peer: None }
    }

    #[test]
    fn what_is_told_twice_is_there_once() {
        let mut lanes = Lanes::default();
        lanes.add(0, &Timeline { until: 30, ranks: vec![vec![span(1), span(20)], vec![]] });
        lanes.add(20, &Timeline { until: 60, ranks: vec![vec![span(20), span(40)], vec![span(15), span(31)]] });
        let starts = |rank: usize| lanes.known.ranks[rank].iter().map(|span| span.start).collect::<Vec<_>>();
        assert_eq!((starts(0), starts(1)), (vec![1, 20, 40], vec![31]));
        assert_eq!(lanes.whole(), (1.0, 60.0));
    }
}
