//! When the local moves of a job take their turn.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::job::Job;
use super::parcels::End;
use super::transfer::Lane;

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
    let mut written: HashMap<u64, BTreeMap<u64, u64>> = HashMap::new();
    for (job, reads) in jobs.iter().zip(&mut out) {
        let place = |end: &End| {
            let of = job.box_of(end);
            (of.buffer.id(), of.view.range())
        };
        let meets = |end: &End| {
            let (chunk, read) = place(end);
            let before = written.get(&chunk).and_then(|writes| writes.range(..read.end).next_back());
            before.is_some_and(|(_, &end)| end > read.start)
        };
        let lanes = &job.transfer.lanes;
        *reads = !written.is_empty() && lanes.iter().flat_map(Lane::sources).any(meets);
        for end in lanes.iter().flat_map(Lane::destinations) {
            let (chunk, write) = place(end);
            add(written.entry(chunk).or_default(), write);
        }
    }
    out
}

/// Adds a range to disjoint ones, starts with their ends.
fn add(ranges: &mut BTreeMap<u64, u64>, Range { mut start, mut end }: Range<u64>) {
    while let Some((&before, &until)) = ranges.range(..=end).next_back().filter(|&(_, &until)| until >= start) {
        (start, end) = (start.min(before), end.max(until));
        ranges.remove(&before);
    }
    ranges.insert(start, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut all = BTreeMap::new();
        for range in [5..7, 1..2, 7..9, 20..30, 2..3, 22..23] {
            add(&mut all, range);
        }
        assert_eq!(all, BTreeMap::from([(1, 3), (5, 9), (20, 30)]));
        add(&mut all, 3..25);
        assert_eq!(all, BTreeMap::from([(1, 30)]));
    }
}
