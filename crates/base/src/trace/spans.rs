//! [`Span`]: an activity of a rank with its start and end, recorded for a trace file or a viewer.
//!
//! The log is local to a rank's thread, as device, group and world of a rank share no other state.
//! While recording is off, a span costs one test of a flag.
//!
//! Two spans of a rank are nested or disjoint. Times count from the start of the run. Rank threads
//! share one clock. Under MPI each process starts its clock after a message from every other
//! process: zero times differ by the duration of a few small messages (tens of microseconds with a
//! core per rank), and clocks of different machines drift by some microseconds per second.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Capacity of a rank's log for a viewer, in spans.
pub const LATEST_SPANS: usize = 1 << 14;
/// Capacity of a rank's log for a file, in spans: about 30 MB of the file.
pub const FILE_SPANS: usize = 1 << 18;

/// Maximum length of a name, in bytes; longer names are cut.
const MAX_NAME_BYTES: usize = 200;
/// Capacity of the table of shared names. A full table is cleared.
const MAX_SHARED_NAMES: usize = 4096;
/// Maximum number of kernel names in the text of a wait for the device.
const MAX_NAMED_KERNELS: usize = 3;

/// Kind of a rank's activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SpanKind {
    /// Recording a kernel, submitting commands, or waiting for the device.
    Kernel,
    /// Building a plan.
    Plan,
    /// Reading boxes from chunks into messages.
    Pack,
    /// Moving boxes between chunks of the rank.
    Local,
    /// Waiting for other ranks.
    Wait,
    /// Writing messages into chunks.
    Unpack,
    /// Running a debug point.
    Debug,
}

/// Activity of a rank from a start to an end time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Kind of the activity.
    pub kind: SpanKind,
    /// Name of the operation or the kernel.
    pub what: Rc<str>,
    /// Start, in nanoseconds since the start of the run.
    pub start: u64,
    /// End, in nanoseconds since the start of the run.
    pub end: u64,
    /// Awaited rank of a wait.
    pub peer: Option<u32>,
}

thread_local! {
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

struct Log {
    run_start: Instant,
    capacity: usize,
    /// Spans in the order of their ends.
    spans: VecDeque<Span>,
    forgotten: u64,
    names: HashSet<Rc<str>>,
    queued: QueuedKernels,
}

/// Kernels that the host has not waited for.
struct QueuedKernels {
    /// Names of the first [`MAX_NAMED_KERNELS`] different kernels.
    names: Vec<Rc<str>>,
    /// Number of calls of further kernels.
    other_calls: usize,
}

impl Log {
    fn new(run_start: Instant) -> Self {
        Self {
            run_start,
            capacity: 0,
            spans: VecDeque::new(),
            forgotten: 0,
            names: HashSet::new(),
            queued: QueuedKernels { names: Vec::with_capacity(MAX_NAMED_KERNELS), other_calls: 0 },
        }
    }

    fn nanos(&self, time: Instant) -> u64 {
        u64::try_from(time.saturating_duration_since(self.run_start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Shared copy of a name, cut to [`MAX_NAME_BYTES`].
    fn name(&mut self, text: &str) -> Rc<str> {
        let text = &text[..text.floor_char_boundary(MAX_NAME_BYTES)];
        if let Some(shared) = self.names.get(text) {
            return shared.clone();
        }
        if self.names.len() >= MAX_SHARED_NAMES {
            self.names.clear();
        }
        let name: Rc<str> = text.into();
        self.names.insert(name.clone());
        name
    }

    fn add(&mut self, span: Span) {
        while self.spans.len() >= self.capacity.max(1) {
            self.spans.pop_front();
            self.forgotten += 1;
        }
        self.spans.push_back(span);
    }
}

/// Guard of the span log of a rank's thread. Its drop removes the log.
pub struct SpanLogGuard(PhantomData<*const ()>);

impl SpanLogGuard {
    /// Creates the log of this thread for a run that started at `run_start`. Recording is off until
    /// [`keep`].
    pub fn begin(run_start: Instant) -> Self {
        IS_RECORDING.set(false);
        LOG.set(Some(Log::new(run_start)));
        Self(PhantomData)
    }
}

impl Drop for SpanLogGuard {
    fn drop(&mut self) {
        IS_RECORDING.set(false);
        LOG.set(None);
    }
}

/// Starts recording on this rank, with a log of at least `capacity` spans. A full log discards its
/// oldest spans. No effect on a thread without a log.
pub fn keep(capacity: usize) {
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.capacity = log.capacity.max(capacity);
            IS_RECORDING.set(true);
        }
    });
}

/// True if this rank records spans.
#[inline]
pub fn is_on() -> bool {
    IS_RECORDING.get()
}

/// Records a span of the activity, if recording is on. `peer` is the awaited rank.
pub fn add(kind: SpanKind, activity: &str, start: Instant, end: Instant, peer: Option<usize>) {
    if !is_on() {
        return;
    }
    LOG.with_borrow_mut(|log| {
        let Some(log) = log else { return };
        let (what, start, end) = (log.name(activity), log.nanos(start), log.nanos(end));
        log.add(Span { kind, what, start, end, peer: peer.and_then(|peer| u32::try_from(peer).ok()) });
    });
}

/// Guard of a span. Its drop computes the name and ends the span.
pub struct OpenSpan<F: FnOnce() -> String>(Option<(SpanKind, Instant, F)>);

/// Begins a span, if recording is on. `activity` computes the name, at the end of the span.
#[inline]
pub fn span<F: FnOnce() -> String>(kind: SpanKind, activity: F) -> OpenSpan<F> {
    OpenSpan(is_on().then(|| (kind, Instant::now(), activity)))
}

impl<F: FnOnce() -> String> Drop for OpenSpan<F> {
    fn drop(&mut self) {
        if let Some((kind, start, activity)) = self.0.take() {
            let end = Instant::now();
            add(kind, &activity(), start, end, None);
        }
    }
}

/// Adds a recorded kernel to the kernels that the host has not waited for.
pub fn queued(kernel: &Rc<str>) {
    if !is_on() {
        return;
    }
    LOG.with_borrow_mut(|log| {
        let Some(Log { queued: QueuedKernels { names, other_calls }, .. }) = log else { return };
        if names.contains(kernel) {
            return;
        }
        if names.len() < MAX_NAMED_KERNELS {
            names.push(kernel.clone());
        } else {
            *other_calls += 1;
        }
    });
}

/// `verb` with the names of the queued kernels, such as `"waiting for heat.wgsl"`, or with
/// `otherwise` if no kernel is queued. With `done`, clears the queued kernels.
pub fn queued_text(verb: &str, otherwise: &str, done: bool) -> String {
    LOG.with_borrow_mut(|log| {
        let Some(Log { queued: QueuedKernels { names, other_calls }, .. }) = log else { return verb.to_owned() };
        let mut text = match names[..] {
            [] => format!("{verb} {otherwise}"),
            _ => format!("{verb} {}", names.join(", ")),
        };
        if *other_calls > 0 {
            text += &format!(" and {other_calls} more");
        }
        if done {
            names.clear();
            *other_calls = 0;
        }
        text
    })
}

/// Current time in nanoseconds since the start of the run; 0 on a thread without a log.
pub fn now_nanos() -> u64 {
    LOG.with_borrow(|log| log.as_ref().map_or(0, |log| log.nanos(Instant::now())))
}

/// Spans that ended after `nanos` nanoseconds, ordered by start, an outer span before its inner
/// spans.
pub fn spans_after(nanos: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = LOG.with_borrow(|log| {
        let spans = log.iter().flat_map(|log| &log.spans);
        spans.filter(|span| span.end > nanos).cloned().collect()
    });
    spans.reverse();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans
}

pub(super) fn forgotten() -> u64 {
    LOG.with_borrow(|log| log.as_ref().map_or(0, |log| log.forgotten))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn add_at(run_start: Instant, what: &str, [start, end]: [u64; 2]) {
        let time = |micros| run_start + Duration::from_micros(micros);
        add(SpanKind::Pack, what, time(start), time(end), Some(7));
    }

    /// Name, start and end of all spans, in microseconds.
    fn recorded() -> Vec<(String, u64, u64)> {
        spans_after(0).into_iter().map(|span| (span.what.to_string(), span.start / 1000, span.end / 1000)).collect()
    }

    #[test]
    fn spans_are_recorded_only_after_keep() {
        let run_start = Instant::now();
        keep(5);
        add_at(run_start, "no rank", [1, 2]);
        assert!(!is_on() && spans_after(0).is_empty());
        let kept = SpanLogGuard::begin(run_start);
        add_at(run_start, "not wanted", [1, 2]);
        assert!(!is_on() && spans_after(0).is_empty());
        keep(5);
        add_at(run_start, "wanted", [3, 4]);
        assert_eq!(recorded(), [("wanted".to_owned(), 3, 4)]);
        assert_eq!(spans_after(0)[0].peer, Some(7));
        drop(kept);
        assert!(!is_on() && spans_after(0).is_empty());
    }

    #[test]
    fn full_log_discards_oldest_spans() {
        let run_start = Instant::now();
        let _kept = SpanLogGuard::begin(run_start);
        keep(4);
        for number in 0..10 {
            add_at(run_start, &format!("span {number}"), [10 * number, 10 * number + 5]);
        }
        let latest: Vec<_> = (6..10).map(|number| (format!("span {number}"), 10 * number, 10 * number + 5)).collect();
        assert_eq!((recorded(), forgotten()), (latest, 6));
        keep(2);
        add_at(run_start, "one more", [200, 201]);
        assert_eq!((recorded().len(), forgotten()), (4, 7));
    }

    #[test]
    fn spans_after_returns_spans_ordered_by_start() {
        let run_start = Instant::now();
        let _kept = SpanLogGuard::begin(run_start);
        keep(10);
        // Ordered by end: inner spans first, with two spans of equal times.
        for (what, times) in [("a", [0, 2]), ("c", [5, 6]), ("c'", [5, 6]), ("d", [7, 9]), ("b", [5, 10])] {
            add_at(run_start, what, times);
        }
        let names: Vec<String> = recorded().into_iter().map(|(what, ..)| what).collect();
        assert_eq!(names, ["a", "b", "c'", "c", "d"]);
        let late: Vec<String> = spans_after(6000).iter().map(|span| span.what.to_string()).collect();
        assert_eq!(late, ["b", "d"], "spans that ended by then are not returned");
    }

    #[test]
    fn long_names_are_cut_and_shared() {
        let run_start = Instant::now();
        let _kept = SpanLogGuard::begin(run_start);
        keep(10_000);
        for _ in 0..2 {
            add_at(run_start, &"ä".repeat(150), [1, 2]);
        }
        let spans = spans_after(0);
        assert_eq!(&*spans[0].what, "ä".repeat(100));
        assert!(Rc::ptr_eq(&spans[0].what, &spans[1].what));
        for number in 0..2 * MAX_SHARED_NAMES {
            add_at(run_start, &format!("name {number}"), [3, 4]);
        }
        LOG.with_borrow(|log| assert!(log.as_ref().is_some_and(|log| log.names.len() <= MAX_SHARED_NAMES)));
    }

    #[test]
    fn queued_text_names_queued_kernels() {
        let _kept = SpanLogGuard::begin(Instant::now());
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
