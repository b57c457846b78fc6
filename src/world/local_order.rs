//! [`LocalOrder`]: time of local moves relative to the messages of a job.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::job::Job;
use super::message_part::ChunkBox;
use super::transfer::TypedTransfer;

/// Time of local moves relative to the received messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocalOrder {
    /// While messages are in transit.
    Immediate,
    /// In order with the received messages, directly from their sources.
    InOrder,
    /// In order with the received messages, from sources that are staged first.
    InOrderFromStaged,
}

/// Returns the time of the local moves in a blocking operation.
///
/// Unordered moves of the first job are immediate. Other moves read their sources in order, unless
/// an earlier job, typed transfer or wave may write these sources: then the sources are staged
/// first.
pub(super) fn local_order(job: &Job, typed: &TypedTransfer, is_first: bool, reads_written: bool) -> LocalOrder {
    let has_order = !typed.waves.is_empty() || job.transfer.typed_transfers.len() > 1;
    if reads_written || job.may_overlap && has_order {
        LocalOrder::InOrderFromStaged
    } else if is_first && typed.waves.is_empty() {
        LocalOrder::Immediate
    } else {
        LocalOrder::InOrder
    }
}

/// For each job, returns true if an earlier job may write a source of the job.
pub(super) fn reads_written_cells(jobs: &[Job]) -> Vec<bool> {
    let mut reads_written = vec![false; jobs.len()];
    if jobs.len() < 2 {
        return reads_written;
    }
    let mut written: HashMap<u64, BTreeMap<u64, u64>> = HashMap::new();
    for (job, reads) in jobs.iter().zip(&mut reads_written) {
        let memory = |chunk_box: &ChunkBox| {
            let memory = job.buffer_box(chunk_box);
            (memory.buffer.id(), memory.view.range())
        };
        let is_written = |chunk_box: &ChunkBox| {
            let (chunk, read) = memory(chunk_box);
            let last_before = written.get(&chunk).and_then(|writes| writes.range(..read.end).next_back());
            last_before.is_some_and(|(_, &end)| end > read.start)
        };
        let typed_transfers = &job.transfer.typed_transfers;
        *reads = !written.is_empty() && typed_transfers.iter().flat_map(TypedTransfer::sources).any(is_written);
        for chunk_box in typed_transfers.iter().flat_map(TypedTransfer::destinations) {
            let (chunk, write) = memory(chunk_box);
            add_range(written.entry(chunk).or_default(), write);
        }
    }
    reads_written
}

/// Adds a range to disjoint ranges, given as a map from starts to ends.
fn add_range(ranges: &mut BTreeMap<u64, u64>, Range { mut start, mut end }: Range<u64>) {
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
    fn adjacent_ranges_are_merged() {
        let mut all = BTreeMap::new();
        for range in [5..7, 1..2, 7..9, 20..30, 2..3, 22..23] {
            add_range(&mut all, range);
        }
        assert_eq!(all, BTreeMap::from([(1, 3), (5, 9), (20, 30)]));
        add_range(&mut all, 3..25);
        assert_eq!(all, BTreeMap::from([(1, 30)]));
    }
}
