//! [`Holder`]: program that holds a directory, as written in the lock file.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use zippy_files::{FileError, process};

use super::names::LOCK;

/// Seconds since the last renewal after which a holder is stale.
pub(super) const STALE_AFTER: u64 = 600;

const MOST_BYTES: u64 = 4096;

/// Program that holds a directory: host, process and start of the hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Holder {
    pub host: String,
    pub process: u32,
    /// Start of the hold in seconds since 1970.
    pub since: u64,
    /// Time of the last renewal in seconds since 1970; 0 for the holder of a file lock.
    pub renewed: u64,
    pub machine: String,
}

impl Holder {
    pub(super) fn this_program() -> Self {
        Self {
            host: process::host(),
            process: std::process::id(),
            since: now(),
            renewed: 0,
            machine: process::machine().into(),
        }
    }

    pub(super) fn renewed_now(&self) -> Self {
        Self { renewed: now(), ..self.clone() }
    }

    /// Parses a lock file; `None` if it is empty, malformed or missing.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let is_short = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MOST_BYTES);
        serde_json::from_slice(&is_short.then(|| fs::read(path).ok()).flatten()?).ok()
    }

    pub(super) fn text(&self) -> String {
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// True for the same run, whatever the times of renewal.
    pub(super) fn is_same_run(&self, other: &Self) -> bool {
        let identity = |holder: &Self| (holder.host.clone(), holder.process, holder.since, holder.machine.clone());
        identity(self) == identity(other)
    }

    /// True if the holder renews its time and the time is not stale.
    pub(super) fn is_renewed(&self) -> bool {
        self.renewed > 0 && !self.is_stale(self.renewed)
    }

    /// True if the program has ended or its last renewal is too old.
    pub(super) fn is_stale(&self, last_renewal: u64) -> bool {
        self.has_ended() || now() > last_renewal.saturating_add(STALE_AFTER)
    }

    /// True if the process is known to have ended, which only its own machine knows.
    pub(super) fn has_ended(&self) -> bool {
        !self.machine.is_empty() && self.machine == process::machine() && process::is_gone(self.process)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}, since {}", self.process, zippy_files::said(&self.host), utc(self.since))
    }
}

pub(super) fn held_by_other(path: &Path, other: Option<&Holder>) -> FileError {
    let holder = other.map_or_else(|| "a program that has just begun".to_string(), Holder::to_string);
    let message = format!(
        "another program saves its checkpoints here: {holder}; a directory is for one run at a time, so give this one another, or end \
         that one (and remove {LOCK} where it was killed on another machine)"
    );
    FileError::request(path.parent().unwrap_or(path), message)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Calendar date and time, by H. Hinnant's algorithm for days since 1970:
/// <https://howardhinnant.github.io/date_algorithms.html>.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years begin in March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + next;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_calendar_dates() {
        let times = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_230_768_000, "2009-01-01 00:00:00 UTC"),
            (1_767_225_599, "2025-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ];
        times.into_iter().for_each(|(seconds, wanted)| assert_eq!(utc(seconds), wanted));
    }

    #[test]
    fn written_holder_is_read_back_and_other_text_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        assert_eq!(Holder::read(&path), None);
        let holder = Holder::this_program();
        std::fs::write(&path, holder.text()).unwrap();
        assert_eq!(Holder::read(&path), Some(holder.clone()));
        assert!(holder.is_same_run(&holder.renewed_now()) && !holder.is_renewed() && holder.renewed_now().is_renewed());
        for text in ["", "{}", "host", &holder.text().repeat(100)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Holder::read(&path), None);
        }
    }
}
