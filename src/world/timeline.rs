//! What this rank did when, for those who look into a program.

use super::World;
use crate::trace::{self, LATEST_SPANS, Span};

impl World {
    /// From now on this rank keeps its latest spans. Local; once it was said, more often does no harm.
    pub(crate) fn keep_spans(&self) {
        trace::keep(LATEST_SPANS);
    }

    /// Microseconds since the run began.
    pub(crate) fn micros(&self) -> u64 {
        trace::now_nanos() / 1000
    }

    /// The spans of this rank that ended later than `since` and not later than `until`, in microseconds since the run began:
    /// in the order in which they began, an outer one before those in it. At most the latest [`LATEST_SPANS`] that were kept
    /// since [`keep_spans`](Self::keep_spans). Local.
    pub(crate) fn spans_since(&self, since: u64, until: u64) -> Vec<Span> {
        let mut spans = trace::spans_after(since.saturating_mul(1000));
        spans.retain(|span| span.end / 1000 > since && span.end / 1000 <= until);
        if let Some(more) = spans.len().checked_sub(LATEST_SPANS) {
            spans.drain(..more);
        }
        spans
    }
}
