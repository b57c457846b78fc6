//! How long ranks may take to come back after a failure, and what is said of those that do not.

use std::time::{Duration, Instant};

use crate::error::{Error, Failure};

/// The time since a failure, against the limit of waits.
pub(crate) struct Grace {
    since: Instant,
    limit: Duration,
}

impl Grace {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { since: Instant::now(), limit }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// When the failure is told although its error cannot be returned yet: not before ranks that only have to notice it
    /// are back.
    pub(crate) fn told_after(&self) -> Duration {
        (self.limit / 2).min(Duration::from_secs(3))
    }
}

/// The line about ranks that have not come back: the first one, or the last one.
pub(crate) fn has_not_come_back(ranks: &[usize], failure: &Failure, limit: Duration, last: bool, what: &str) -> String {
    let who = named(ranks);
    let secs = limit.as_secs_f64();
    if last {
        format!("{who} not come back within {secs} s of the failure of rank {}; the {what} ends", failure.rank)
    } else {
        let failure = Error::from(failure.clone());
        format!("{failure}; {who} not come back yet (the {what} ends {secs} s after the failure)")
    }
}

/// "rank 3 has", "ranks 1, 2 and 3 have".
fn named(ranks: &[usize]) -> String {
    const SHOWN: usize = 4;
    let numbers: Vec<String> = ranks.iter().take(SHOWN).map(ToString::to_string).collect();
    match (&numbers[..], ranks.len().saturating_sub(SHOWN)) {
        ([], _) => "a rank has".into(),
        ([one], _) => format!("rank {one} has"),
        ([first @ .., last], 0) => format!("ranks {} and {last} have", first.join(", ")),
        (shown, more) => format!("ranks {} and {more} more have", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_for_people() {
        assert_eq!(named(&[]), "a rank has");
        assert_eq!(named(&[3]), "rank 3 has");
        assert_eq!(named(&[1, 2]), "ranks 1 and 2 have");
        assert_eq!(named(&[1, 2, 5]), "ranks 1, 2 and 5 have");
        assert_eq!(named(&[0, 1, 2, 3, 4, 5]), "ranks 0, 1, 2, 3 and 2 more have");
    }
}
