//! [`GracePeriod`]: time limit for all ranks to return after a failure.

use std::time::{Duration, Instant};

use zippy_base::error::{Error, Failure};

pub(crate) struct GracePeriod {
    since: Instant,
    limit: Duration,
}

impl GracePeriod {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { since: Instant::now(), limit }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Time before the failure is printed. Ranks that are not stuck have returned by then.
    pub(crate) fn report_after(&self) -> Duration {
        (self.limit / 2).min(Duration::from_secs(3))
    }
}

/// Message about ranks that have not returned: a warning, or the final message for `last`. `what`
/// is "process" or "job".
pub(crate) fn missing_ranks_message(
    ranks: &[usize],
    failure: &Failure,
    limit: Duration,
    last: bool,
    what: &str,
) -> String {
    let missing = ranks_have(ranks);
    let secs = limit.as_secs_f64();
    if last {
        format!("{missing} not come back within {secs} s of the failure of rank {}; the {what} ends", failure.rank)
    } else {
        let failure = Error::from(failure.clone());
        format!("{failure}; {missing} not come back yet (the {what} ends {secs} s after the failure)")
    }
}

/// Formats ranks as "rank 3 has" or "ranks 1, 2 and 3 have".
fn ranks_have(ranks: &[usize]) -> String {
    const SHOWN: usize = 4;
    let numbers: Vec<String> = ranks.iter().take(SHOWN).map(ToString::to_string).collect();
    match (&numbers[..], ranks.len().saturating_sub(SHOWN)) {
        ([], _) => "a rank has".into(),
        ([rank], _) => format!("rank {rank} has"),
        ([first @ .., last], 0) => format!("ranks {} and {last} have", first.join(", ")),
        (shown, more) => format!("ranks {} and {more} more have", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_as_text() {
        assert_eq!(ranks_have(&[]), "a rank has");
        assert_eq!(ranks_have(&[3]), "rank 3 has");
        assert_eq!(ranks_have(&[1, 2]), "ranks 1 and 2 have");
        assert_eq!(ranks_have(&[1, 2, 5]), "ranks 1, 2 and 5 have");
        assert_eq!(ranks_have(&[0, 1, 2, 3, 4, 5]), "ranks 0, 1, 2, 3 and 2 more have");
    }
}
