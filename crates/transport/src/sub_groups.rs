//! Comparison of the calls in sub-groups at the end of a run, where no message may reveal a
//! difference.
//!
//! Each rank keeps a sum of fingerprints (see `sub_group_history.rs`). The sum over all ranks is 0
//! if the members of each sub-group have made the same calls. Otherwise the ranks exchange reports
//! on their sub-groups.

use std::collections::BTreeMap;

use super::calls::{CallSummary, first_different_calls, last_calls};
use super::sub_group_history::{SubGroupId, SubGroupReport, group_fingerprint, summand};
use super::wait_report::{RankCall, differing_calls};
use super::{Group, ReservedTag};
use zippy_base::error::{Error, Result, TransportError};

impl Group {
    /// Compares the calls of all ranks in their sub-groups. Collective over all ranks of the run,
    /// at its end.
    ///
    /// Returns [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing) with two of the
    /// calls on every rank, or [`TransportError::Other`] if they are no longer recorded.
    pub(crate) fn compare_sub_groups(&self) -> Result<()> {
        let history = self.sub_group_history();
        if !history.has_sub_groups.get() {
            return Ok(());
        }
        let alive: Vec<Self> = self.sub_groups().into_iter().filter(|group| group.size() > 1).collect();
        let summands =
            alive.iter().map(|group| summand(group.sub_group_id(), group.is_lowest(), group.report().fingerprint));
        let mut sum = [summands.fold(history.sum.get(), u64::wrapping_add)];
        let tag = self.reserved_tag(ReservedTag::SubGroupSum);
        self.reduce_on(tag, tag, &mut sum, |a, b| *a = a.wrapping_add(*b))?;
        if sum == [0] { Ok(()) } else { Err(self.first_difference_error(&alive)?) }
    }

    fn report(&self) -> SubGroupReport {
        let (group, next) = (self.sub_group_id(), self.sequence());
        SubGroupReport { group, fingerprint: group_fingerprint(next, self.calls()), exchanges: next - group.start }
    }

    /// Error of the first recorded sub-group with different calls of its members. Collective.
    fn first_difference_error(&self, alive: &[Self]) -> Result<Error> {
        let former = self.sub_group_history().former.borrow();
        let own = || alive.iter().map(Self::report).chain(former.iter().map(|(report, _)| *report)).collect::<Vec<_>>();
        // First report on each sub-group, and first report that differs from it, with their ranks.
        let mut groups: BTreeMap<SubGroupId, [Option<(usize, SubGroupReport)>; 2]> = BTreeMap::new();
        for rank in 0..self.size() {
            for report in self.broadcast_value(rank, ReservedTag::SubGroupReports, own)? {
                let [first, other] = groups.entry(report.group).or_default();
                if first.get_or_insert((rank, report)).1.fingerprint != report.fingerprint {
                    other.get_or_insert((rank, report));
                }
            }
        }
        let differs = |(group, [one, other]): (SubGroupId, [Option<_>; 2])| Some((group, one?, other?));
        let Some((group, one, other)) = groups.into_iter().find_map(differs) else {
            let text =
                "ranks have called different operations in a group that they left long ago; ZIPPY_CHECK=1 names them";
            return Ok(TransportError::Other(text.into()).into());
        };
        let calls_here = || match alive.iter().find(|here| here.sub_group_id() == group) {
            Some(here) => here.calls().summaries(),
            None => former
                .iter()
                .find(|(report, _)| report.group == group)
                .map_or_else(Vec::new, |(_, calls)| calls.summaries()),
        };
        let calls = [one.0, other.0].map(|rank| self.broadcast_value(rank, ReservedTag::Calls, calls_here));
        // Both broadcasts must be complete on all ranks before one rank fails.
        let _ = self.barrier_on(self.reserved_tag(ReservedTag::Barrier));
        let [one_calls, other_calls] = calls;
        let texts = difference(
            &ReportedCalls { report: one.1, calls: one_calls? },
            &ReportedCalls { report: other.1, calls: other_calls? },
        );
        let named = |rank, text| RankCall {
            rank: self.world_rank_of(rank),
            call: format!("in a group of {}: {text}", group.size),
        };
        Ok(differing_calls(named(one.0, texts.0), named(other.0, texts.1)))
    }
}

struct ReportedCalls {
    report: SubGroupReport,
    calls: Vec<CallSummary>,
}

fn difference(one: &ReportedCalls, other: &ReportedCalls) -> (String, String) {
    let (one_calls, other_calls) = (&one.calls, &other.calls);
    if let Some(texts) = first_different_calls(one_calls, other_calls) {
        return texts;
    }
    // Either one rank has made more calls, or the numbers of exchanges with `Group::next_sequence`
    // differ.
    let next = |calls: &[CallSummary], fewer: &[CallSummary]| {
        calls.iter().find(|call| call.follows(fewer.last())).map(|call| call.text.clone())
    };
    let nothing = || "nothing more".to_owned();
    match (next(one_calls, other_calls), next(other_calls, one_calls)) {
        (Some(text), _) => (text, nothing()),
        (None, Some(text)) => (nothing(), text),
        (None, None) if one_calls.last() == other_calls.last() => {
            let text = |report: &SubGroupReport| format!("operations with {} exchanges in all", report.exchanges);
            (text(&one.report), text(&other.report))
        }
        (None, None) => last_calls(one_calls, other_calls),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::calls::{CallText, Calls};
    use crate::sub_group_history::KEPT_CALLS_PER_GROUP;

    fn summaries(count: usize) -> Vec<CallSummary> {
        let mut calls = Calls::default();
        for number in 0..count {
            calls.add(number as u64, number as u64, CallText::Shared(Rc::new(format!("call {number}"))));
        }
        calls.keep_last(KEPT_CALLS_PER_GROUP);
        calls.summaries()
    }

    #[test]
    fn rank_with_more_calls_is_reported_with_its_next_call() {
        let report =
            SubGroupReport { group: SubGroupId { start: 7, lowest: 0, size: 2 }, fingerprint: 1, exchanges: 3 };
        let more = SubGroupReport { exchanges: 4, ..report };
        let differs = |one, other| {
            difference(
                &ReportedCalls { report, calls: summaries(one) },
                &ReportedCalls { report: more, calls: summaries(other) },
            )
        };
        assert_eq!(differs(3, 4), ("nothing more".into(), "call 3".into()));
        assert_eq!(differs(1, 0), ("call 0".into(), "nothing more".into()));
        assert_eq!(differs(40, 45), ("nothing more".into(), "call 40".into()));
        let (one, other) = differs(5, 45);
        assert!(one.starts_with("call 4 (its call 5,") && other.starts_with("call 44 (its call 45,"), "{one}, {other}");
        let (none, other) = differs(0, 45);
        assert!(none == "nothing" && other.starts_with("call 44 (its call 45,"), "{none}, {other}");
        let (one, other) = differs(2, 2);
        assert!(one.contains(" 3 exchanges") && other.contains(" 4 exchanges"), "{one}, {other}");
    }
}
