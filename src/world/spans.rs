//! Timeline of this rank: its latest spans, for debuggers.

use super::World;
use crate::trace::{self, LATEST_SPANS, Span};

impl World {
    /// Starts to record the latest spans of this rank. Local; repeated calls have no effect.
    pub(crate) fn keep_spans(&self) {
        trace::keep(LATEST_SPANS);
    }

    /// Microseconds since the start of the run.
    pub(crate) fn micros(&self) -> u64 {
        trace::now_nanos() / 1000
    }

    /// The spans of this rank with an end in `since + 1..=until`, in microseconds since the start
    /// of the run. Local.
    ///
    /// The spans are sorted by start, outer spans before inner ones. At most the latest
    /// [`LATEST_SPANS`] since [`keep_spans`](Self::keep_spans) are returned.
    pub(crate) fn spans_since(&self, since: u64, until: u64) -> Vec<Span> {
        let mut spans = trace::spans_after(since.saturating_mul(1000));
        spans.retain(|span| span.end / 1000 > since && span.end / 1000 <= until);
        if let Some(more) = spans.len().checked_sub(LATEST_SPANS) {
            spans.drain(..more);
        }
        spans
    }
}
