//! [`Span`]: what a rank did when. Kept while somebody wants to know: for a file, or for a viewer.
//!
//! The log belongs to the thread of the rank, as do its device, its group and its world, which know nothing of one another.
//! While nobody wants spans, each costs a look at one flag.
//!
//! Spans of one rank nest or do not overlap. Times count from the beginning of the run. Ranks that are threads have one
//! clock. Under MPI each process counts from when it has heard of all others at the start: what two of them call zero
//! differs by the time of a few small messages, tens of microseconds where each rank has a core, more where it has none; and
//! clocks of different machines drift by some microseconds a second.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The latest spans that are kept of a rank for a viewer.
pub const LATEST_SPANS: usize = 1 << 14;
/// And for a file: some 30 MB of it.
pub const FILE_SPANS: usize = 1 << 18;

/// Names are cut after so many bytes.
const NAME_BYTES: usize = 200;
/// So many names are looked up; then the looking up begins anew.
const NAMES: usize = 4096;
/// So many kernels are named in a wait for the device.
const NAMED_KERNELS: usize = 3;

/// What a rank did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SpanKind {
    /// A kernel was recorded, commands were submitted, or the host waited for its device.
    Kernel,
    /// A plan was built.
    Plan,
    /// Boxes were read into messages.
    Pack,
    /// Boxes moved between chunks of the rank.
    Local,
    /// The rank waited for others.
    Wait,
    /// Messages were written into chunks.
    Unpack,
    /// The rank was in a debug point.
    Debug,
}

/// Something that a rank did for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Kind of the activity.
    pub kind: SpanKind,
    /// Its operation or kernel.
    pub what: Rc<str>,
    /// Nanoseconds since the run began.
    pub start: u64,
    /// Nanoseconds from the begin of the run to the end of the span.
    pub end: u64,
    /// The rank of the run that it waited for.
    pub peer: Option<u32>,
}

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

struct Log {
    zero: Instant,
    most: usize,
    /// In the order in which they ended.
    spans: VecDeque<Span>,
    forgotten: u64,
    names: HashSet<Rc<str>>,
    /// Kernels that the host has not waited for: some names, and how many calls there are of others.
    queued: (Vec<Rc<str>>, usize),
}

impl Log {
    fn new(zero: Instant) -> Self {
        Self {
            zero,
            most: 0,
            spans: VecDeque::new(),
            forgotten: 0,
            names: HashSet::new(),
            queued: (Vec::with_capacity(NAMED_KERNELS), 0),
        }
    }

    fn nanos(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.zero).as_nanos()).unwrap_or(u64::MAX)
    }

    /// One copy of each name that is in use.
    fn name(&mut self, text: &str) -> Rc<str> {
        let text = &text[..text.floor_char_boundary(NAME_BYTES)];
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        if self.names.len() >= NAMES {
            self.names.clear();
        }
        let name: Rc<str> = text.into();
        self.names.insert(name.clone());
        name
    }

    fn add(&mut self, span: Span) {
        while self.spans.len() >= self.most.max(1) {
            self.spans.pop_front();
            self.forgotten += 1;
        }
        self.spans.push_back(span);
    }
}

/// While it lives, this thread is that of a rank, and keeps spans when it is told to.
pub struct Kept(PhantomData<*const ()>);

impl Kept {
    /// For a run that began then.
    pub fn begin(zero: Instant) -> Self {
        ON.set(false);
        LOG.set(Some(Log::new(zero)));
        Self(PhantomData)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        ON.set(false);
        LOG.set(None);
    }
}

/// From now on this rank keeps its spans, so many at least; when there are more, the oldest go. Does nothing on a thread that
/// is not a rank's.
pub fn keep(most: usize) {
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.most = log.most.max(most);
            ON.set(true);
        }
    });
}

/// Whether spans are kept.
#[inline]
pub fn is_on() -> bool {
    ON.get()
}

/// Adds a span.
pub fn add(kind: SpanKind, what: &str, start: Instant, end: Instant, peer: Option<usize>) {
    if !is_on() {
        return;
    }
    LOG.with_borrow_mut(|log| {
        let Some(log) = log else { return };
        let (what, start, end) = (log.name(what), log.nanos(start), log.nanos(end));
        log.add(Span { kind, what, start, end, peer: peer.and_then(|peer| u32::try_from(peer).ok()) });
    });
}

/// What is done until it is dropped is a span. `what` is asked for its name then.
pub struct OpenSpan<F: FnOnce() -> String>(Option<(SpanKind, Instant, F)>);

/// Begins a span, if spans are kept.
#[inline]
pub fn span<F: FnOnce() -> String>(kind: SpanKind, what: F) -> OpenSpan<F> {
    OpenSpan(is_on().then(|| (kind, Instant::now(), what)))
}

impl<F: FnOnce() -> String> Drop for OpenSpan<F> {
    fn drop(&mut self) {
        if let Some((kind, start, what)) = self.0.take() {
            let end = Instant::now();
            add(kind, &what(), start, end, None);
        }
    }
}

/// A kernel was recorded, and the host will wait for it some time.
pub fn queued(kernel: &Rc<str>) {
    if !is_on() {
        return;
    }
    LOG.with_borrow_mut(|log| {
        let Some(Log { queued: (names, more), .. }) = log else { return };
        match names.contains(kernel) {
            true => {}
            false if names.len() < NAMED_KERNELS => names.push(kernel.clone()),
            false => *more += 1,
        }
    });
}

/// The kernels that were queued: `"waiting for heat.wgsl"`. Forgets them if they are `done`.
pub fn queued_text(verb: &str, otherwise: &str, done: bool) -> String {
    LOG.with_borrow_mut(|log| {
        let Some(Log { queued: (names, more), .. }) = log else { return verb.to_owned() };
        let mut text = match names[..] {
            [] => format!("{verb} {otherwise}"),
            _ => format!("{verb} {}", names.join(", ")),
        };
        if *more > 0 {
            text += &format!(" and {more} more");
        }
        if done {
            names.clear();
            *more = 0;
        }
        text
    })
}

/// What the clock shows, in nanoseconds since the run began.
pub fn now_nanos() -> u64 {
    LOG.with_borrow(|log| log.as_ref().map_or(0, |log| log.nanos(Instant::now())))
}

/// The spans that ended after so many nanoseconds, in the order in which they began, an outer one before those in it.
pub fn spans_after(nanos: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = LOG.with_borrow(|log| {
        let spans = log.iter().flat_map(|log| &log.spans);
        spans.filter(|span| span.end > nanos).cloned().collect()
    });
    // The inner one of two that are equal has ended first.
    spans.reverse();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans
}

/// How many spans have gone because there were more than are kept.
pub fn forgotten() -> u64 {
    LOG.with_borrow(|log| log.as_ref().map_or(0, |log| log.forgotten))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A span from one microsecond of a run to another.
    fn at(zero: Instant, what: &str, [start, end]: [u64; 2]) {
        let time = |micros| zero + Duration::from_micros(micros);
        add(SpanKind::Pack, what, time(start), time(end), Some(7));
    }

    fn shown() -> Vec<(String, u64, u64)> {
        spans_after(0).into_iter().map(|span| (span.what.to_string(), span.start / 1000, span.end / 1000)).collect()
    }

    #[test]
    fn nothing_is_kept_unless_it_is_wanted() {
        let zero = Instant::now();
        keep(5);
        at(zero, "no rank", [1, 2]);
        assert!(!is_on() && spans_after(0).is_empty());
        let kept = Kept::begin(zero);
        at(zero, "not wanted", [1, 2]);
        assert!(!is_on() && spans_after(0).is_empty());
        keep(5);
        at(zero, "wanted", [3, 4]);
        assert_eq!(shown(), [("wanted".to_owned(), 3, 4)]);
        assert_eq!(spans_after(0)[0].peer, Some(7));
        drop(kept);
        assert!(!is_on() && spans_after(0).is_empty());
    }

    #[test]
    fn the_oldest_go() {
        let zero = Instant::now();
        let _kept = Kept::begin(zero);
        keep(4);
        for number in 0..10 {
            at(zero, &format!("span {number}"), [10 * number, 10 * number + 5]);
        }
        let left: Vec<_> = (6..10).map(|number| (format!("span {number}"), 10 * number, 10 * number + 5)).collect();
        assert_eq!((shown(), forgotten()), (left, 6));
        // Fewer are never kept than someone else wants.
        keep(2);
        at(zero, "one more", [200, 201]);
        assert_eq!((shown().len(), forgotten()), (4, 7));
    }

    #[test]
    fn spans_come_in_the_order_in_which_they_began() {
        let zero = Instant::now();
        let _kept = Kept::begin(zero);
        keep(10);
        // As they end: inner ones first, and one of the same times.
        for (what, times) in [("a", [0, 2]), ("c", [5, 6]), ("c'", [5, 6]), ("d", [7, 9]), ("b", [5, 10])] {
            at(zero, what, times);
        }
        let names: Vec<String> = shown().into_iter().map(|(what, ..)| what).collect();
        assert_eq!(names, ["a", "b", "c'", "c", "d"]);
        let late: Vec<String> = spans_after(6000).iter().map(|span| span.what.to_string()).collect();
        assert_eq!(late, ["b", "d"], "what ended by then is not told again");
    }

    #[test]
    fn names_are_cut_and_kept_once() {
        let zero = Instant::now();
        let _kept = Kept::begin(zero);
        keep(10_000);
        for _ in 0..2 {
            at(zero, &"ä".repeat(150), [1, 2]);
        }
        let spans = spans_after(0);
        assert_eq!(&*spans[0].what, "ä".repeat(100));
        assert!(Rc::ptr_eq(&spans[0].what, &spans[1].what));
        for number in 0..2 * NAMES {
            at(zero, &format!("name {number}"), [3, 4]);
        }
        LOG.with_borrow(|log| assert!(log.as_ref().is_some_and(|log| log.names.len() <= NAMES)));
    }

    #[test]
    fn waits_for_the_device_name_kernels() {
        let _kept = Kept::begin(Instant::now());
        keep(10);
        assert_eq!(queued_text("waiting for", "the device", true), "waiting for the device");
        for name in ["a", "b", "a", "c", "d", "e", "a"] {
            queued(&name.into());
        }
        assert_eq!(queued_text("submitting", "commands", false), "submitting a, b, c and 2 more");
        assert_eq!(queued_text("waiting for", "the device", true), "waiting for a, b, c and 2 more");
        assert_eq!(queued_text("waiting for", "the device", true), "waiting for the device");
    }
}
