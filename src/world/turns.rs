//! When the local moves of a job take their turn.

use std::collections::HashMap;
use std::ops::Range;

use super::job::Job;
use super::transfer::{End, Lane};

/// When local moves are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// While messages are under way.
    AtOnce,
    /// In their turn among what is received.
    InTurn,
    /// The same, but their sources are read at once.
    InTurnFromAside,
}

/// When the local moves of an operation that blocks are done. What has no order among itself can be done at once in the
/// first job; others read their sources as they come, unless an earlier job, lane or wave may have written them.
pub(super) fn when(job: &Job, lane: &Lane, first: bool, read_after: bool) -> When {
    let in_order = !lane.waves.is_empty() || job.transfer.lanes.len() > 1;
    match lane.waves.is_empty() {
        _ if read_after || job.overlap && in_order => When::InTurnFromAside,
        true if first => When::AtOnce,
        _ => When::InTurn,
    }
}

/// For each job, whether one before it may write what it reads.
pub(super) fn reads_what_is_written(jobs: &[Job]) -> Vec<bool> {
    let mut out = vec![false; jobs.len()];
    if jobs.len() < 2 {
        return out;
    }
    let mut written: HashMap<u64, Vec<Range<u64>>> = HashMap::new();
    for (job, reads) in jobs.iter().zip(&mut out) {
        let place = |end: &End| {
            let of = job.box_of(end);
            (of.buffer.id(), of.view.range())
        };
        let meets = |end: &End| {
            let (chunk, read) = place(end);
            let meets = |write: &Range<u64>| write.start < read.end && read.start < write.end;
            written.get(&chunk).is_some_and(|writes| writes.iter().any(meets))
        };
        let lanes = &job.transfer.lanes;
        *reads = !written.is_empty() && lanes.iter().flat_map(Lane::sources).any(meets);
        for end in lanes.iter().flat_map(Lane::destinations) {
            let (chunk, write) = place(end);
            written.entry(chunk).or_default().push(write);
        }
    }
    out
}
