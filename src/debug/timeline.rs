//! What all ranks did when.

use super::protocol::{Span, Timeline, frame};
use crate::error::Result;
use crate::trace;
use crate::transport::{decoded, encoded};
use crate::world::World;

/// Bytes of a span beside its name, at most.
const SPAN_BYTES: usize = 40;

/// What all ranks did after `since`, in microseconds of the run: on rank 0 the latest
/// [`MOST_SPANS`](super::protocol::MOST_SPANS) spans of each rank, fewer where those of all ranks would take more bytes than
/// `room`, or than an answer. From the first call on, ranks keep spans, so that the first
/// answer may have none. Each span is told once to who asks from `until` of the last answer on. Collective; an all-reduce of
/// one number and a gather of what is told.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn timeline(world: &World, since: u64, room: u64) -> Result<Option<Timeline>> {
    world.keep_spans();
    // What ends in this very microsecond may still come.
    let mut until = [world.micros().saturating_sub(1)];
    world.inner().all_reduce(&mut until, |least, more| *least = (*least).min(*more))?;
    let room = room.min(frame::MOST_TOLD as u64 / 2) as usize / world.size();
    let own: Vec<Span> = latest(world.spans_since(since, until[0]), room).iter().map(span).collect();
    let Some(all) = world.inner().gather(0, encoded(&own)?)? else { return Ok(None) };
    let ranks = all.iter().map(decoded).collect::<Result<_>>()?;
    Ok(Some(Timeline { until: until[0], ranks }))
}

/// The last of them that have room.
fn latest(mut spans: Vec<trace::Span>, room: usize) -> Vec<trace::Span> {
    let mut bytes = 0;
    let fits = |span: &trace::Span| {
        bytes += SPAN_BYTES + span.what.len();
        bytes <= room
    };
    let kept = spans.iter().rev().map(fits).take_while(|fits| *fits).count();
    spans.split_off(spans.len() - kept)
}

/// As it is told. Both ends are cut to microseconds, so that spans that nest or lie apart still do.
fn span(of: &trace::Span) -> Span {
    let (start, end) = (of.start / 1000, of.end / 1000);
    Span { kind: of.kind, what: of.what.to_string(), start, length: end - start, peer: of.peer }
}
