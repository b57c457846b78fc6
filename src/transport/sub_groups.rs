//! What ranks have called in sub-groups, compared at the end of a run: calls that differ in one may leave no message behind.
//!
//! The sums that ranks keep (see `left.rs`) add up to 0 where all have called the same. Only where they do not are the ranks
//! told which groups the others were in.

use std::collections::BTreeMap;

use super::calls::{Told, first_difference, last_calls};
use super::inquiry::differing;
use super::left::{Report, SubGroup, fingerprint, share};
use super::{Beside, Group};
use crate::error::{Error, Result, TransportError};

impl Group {
    /// Compares what all ranks have called in their sub-groups. For the end of a run, by all its ranks.
    ///
    /// # Errors
    /// [`ErrorKind::Differing`](crate::error::ErrorKind::Differing) on every rank, naming two of the calls; another error where they are no longer remembered.
    pub(crate) fn compare_sub_groups(&self) -> Result<()> {
        let left = self.left();
        if !left.any.get() {
            return Ok(());
        }
        let alive: Vec<Self> = self.sub_groups().into_iter().filter(|group| group.size() > 1).collect();
        let shares = alive.iter().map(|group| share(group.sub_group(), group.is_lowest(), group.report().history));
        let mut sum = [shares.fold(left.sum.get(), u64::wrapping_add)];
        let tag = self.tag_beside(Beside::Sum);
        self.reduce_on((tag, tag), &mut sum, |a, b| *a = a.wrapping_add(*b))?;
        if sum == [0] { Ok(()) } else { Err(self.first_that_differs(&alive)?) }
    }

    fn report(&self) -> Report {
        let (group, next) = (self.sub_group(), self.sequence());
        Report { group, history: fingerprint(next, self.calls()), exchanges: next - group.start }
    }

    /// The error of the first group whose members have not called the same, where that is still remembered.
    fn first_that_differs(&self, alive: &[Self]) -> Result<Error> {
        let left = self.left().last.borrow();
        let own = || alive.iter().map(Self::report).chain(left.iter().map(|(report, _)| *report)).collect::<Vec<_>>();
        // Of each group its first report, and the first one that differs from it, with their ranks.
        let mut groups: BTreeMap<SubGroup, [Option<(usize, Report)>; 2]> = BTreeMap::new();
        for rank in 0..self.size() {
            for report in self.told_by(rank, Beside::SubGroups, own)? {
                let [first, other] = groups.entry(report.group).or_default();
                if first.get_or_insert((rank, report)).1.history != report.history {
                    other.get_or_insert((rank, report));
                }
            }
        }
        let differs = |(group, [one, other]): (SubGroup, [Option<_>; 2])| Some((group, one?, other?));
        let Some((group, one, other)) = groups.into_iter().find_map(differs) else {
            let text =
                "ranks have called different operations in a group that they left long ago; ZIPPY_CHECK=1 names them";
            return Ok(TransportError::Other(text.into()).into());
        };
        let calls_here = || match alive.iter().find(|here| here.sub_group() == group) {
            Some(here) => here.calls().told(),
            None => {
                left.iter().find(|(report, _)| report.group == group).map_or_else(Vec::new, |(_, calls)| calls.told())
            }
        };
        let calls = [one.0, other.0].map(|rank| self.told_by(rank, Beside::Calls, calls_here));
        // Nobody fails, and so ends the others, before all have heard both.
        let _ = self.meet(self.tag_beside(Beside::Meeting));
        let [one_calls, other_calls] = calls;
        let texts = difference((&one.1, &one_calls?), (&other.1, &other_calls?));
        let named = |rank, text| (self.world_rank_of(rank), format!("in a group of {}: {text}", group.size));
        Ok(differing(named(one.0, texts.0), named(other.0, texts.1)))
    }
}

fn difference((one, one_calls): (&Report, &[Told]), (other, other_calls): (&Report, &[Told])) -> (String, String) {
    if let Some(texts) = first_difference(one_calls, other_calls) {
        return texts;
    }
    // One has called what the other has, and then more, or both the same and then exchanged something by hand.
    let next =
        |calls: &[Told], of: &[Told]| calls.iter().find(|call| call.follows(of.last())).map(|call| call.text.clone());
    let nothing = || "nothing more".to_owned();
    match (next(one_calls, other_calls), next(other_calls, one_calls)) {
        (Some(text), _) => (text, nothing()),
        (None, Some(text)) => (nothing(), text),
        (None, None) if one_calls.last() == other_calls.last() => {
            let text = |report: &Report| format!("what takes {} exchanges in all", report.exchanges);
            (text(one), text(other))
        }
        (None, None) => last_calls(one_calls, other_calls),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::transport::calls::{CallText, Calls};
    use crate::transport::left::CALLS;

    /// So many calls, of which the last ones are remembered.
    fn told(count: usize) -> Vec<Told> {
        let mut calls = Calls::default();
        for number in 0..count {
            calls.add(number as u64, number as u64, CallText::Shared(Rc::new(format!("call {number}"))));
        }
        calls.forget_all_but(CALLS);
        calls.told()
    }

    #[test]
    fn a_rank_that_is_further_is_told_with_its_next_call() {
        let report = Report { group: SubGroup { start: 7, lowest: 0, size: 2 }, history: 1, exchanges: 3 };
        let more = Report { exchanges: 4, ..report };
        let differs = |one, other| difference((&report, &told(one)), (&more, &told(other)));
        assert_eq!(differs(3, 4), ("nothing more".into(), "call 3".into()));
        assert_eq!(differs(1, 0), ("call 0".into(), "nothing more".into()));
        assert_eq!(differs(40, 45), ("nothing more".into(), "call 40".into()));
        // Its next call is no longer known.
        let (one, other) = differs(5, 45);
        assert!(one.starts_with("call 4 (its call 5,") && other.starts_with("call 44 (its call 45,"), "{one}, {other}");
        let (none, other) = differs(0, 45);
        assert!(none == "nothing" && other.starts_with("call 44 (its call 45,"), "{none}, {other}");
        let (one, other) = difference((&report, &told(2)), (&more, &told(2)));
        assert!(one.contains(" 3 exchanges") && other.contains(" 4 exchanges"), "{one}, {other}");
    }
}
