//! Timeline of the activities of all ranks.
use zippy_protocol::{Span, Timeline, frame};

use crate::error::Result;
use crate::trace::{self, LATEST_SPANS};
use crate::transport::{decoded, encoded};
use crate::world::{CollectiveWorld, World};

/// Largest number of bytes of a span without its name.
const SPAN_BYTES: usize = 40;

/// Gathers the activities of all ranks that ended after `since`, in microseconds since the start of
/// the run. Rank 0 returns the latest [`MOST_SPANS`](zippy_protocol::MOST_SPANS) spans of each
/// rank, or fewer if those of all ranks would exceed `room` bytes or the size of an answer. Ranks
/// keep spans from the first call on, so the first answer may have none. A caller that passes the
/// `until` of the last answer as `since` receives each span once. Collective: an all-reduce of one
/// number and a gather of the spans.
pub(super) fn gather_timeline(world: &World, since: u64, room: u64) -> Result<Option<Timeline>> {
    trace::keep(LATEST_SPANS);
    // More spans may still end in the present microsecond.
    let mut until = [(trace::now_nanos() / 1000).saturating_sub(1)];
    world.inner_group().all_reduce(&mut until, |least, more| *least = (*least).min(*more))?;
    let room = room.min(frame::MOST_TOLD as u64 / 2) as usize / world.size();
    let spans: Vec<Span> = keep_latest(spans_since(since, until[0]), room).iter().map(protocol_span).collect();
    let Some(all) = world.inner_group().gather(0, encoded(&spans)?)? else { return Ok(None) };
    let ranks = all.iter().map(decoded).collect::<Result<_>>()?;
    Ok(Some(Timeline { until: until[0], ranks }))
}

/// The spans of this rank with an end in `since + 1..=until`, in microseconds since the start of
/// the run: at most the latest [`LATEST_SPANS`]. The spans are sorted by start, outer spans before
/// inner ones.
fn spans_since(since: u64, until: u64) -> Vec<trace::Span> {
    let mut spans = trace::spans_after(since.saturating_mul(1000));
    spans.retain(|span| span.end / 1000 > since && span.end / 1000 <= until);
    if let Some(more) = spans.len().checked_sub(LATEST_SPANS) {
        spans.drain(..more);
    }
    spans
}

/// Keeps the latest spans whose total size is at most `room` bytes.
fn keep_latest(mut spans: Vec<trace::Span>, room: usize) -> Vec<trace::Span> {
    let mut bytes = 0;
    let fits = |span: &trace::Span| {
        bytes += SPAN_BYTES + span.what.len();
        bytes <= room
    };
    let kept = spans.iter().rev().map(fits).take_while(|fits| *fits).count();
    spans.split_off(spans.len() - kept)
}

/// Converts a span to the protocol. Both ends are rounded down to microseconds, which preserves the
/// nesting and the order of spans.
fn protocol_span(traced: &trace::Span) -> Span {
    let (start, end) = (traced.start / 1000, traced.end / 1000);
    Span { kind: traced.kind, what: traced.what.to_string(), start, length: end - start, peer: traced.peer }
}
