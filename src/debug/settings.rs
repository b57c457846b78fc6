//! [`Settings`]: who looks into a run, as `ZIPPY_DEBUG` says.

use std::path::PathBuf;
use std::time::Duration;

use super::protocol::MOST_VIEW_BYTES;

/// What `ZIPPY_DEBUG` can say, for messages.
const HELP: &str = "ZIPPY_DEBUG has words with commas between them: `spawn` starts the viewer; `listen:PORT` waits for one at a port of \
                    this machine (0 for any); `record:FILE` records every debug point, or with `every:N` those whose number is a multiple \
                    of N, `most:SIZE` of each array and `limit:SIZE` in all, as 256K or 1GiB; `pause` or `run` at the first debug point; `lost:SECONDS` or `lost:keep` for a program that is paused when \
                    its viewer goes; `silent:SECONDS` after which one that does not answer has gone";

/// Who looks into a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(super) viewer: Option<Viewer>,
    pub(super) record: Option<Recording>,
    pub(super) pause: bool,
    /// How long a paused program waits for a viewer; for ever where there is no time.
    pub(super) lost: Option<Duration>,
    /// A viewer that does not say for so long that it is there is taken for gone.
    pub(super) silent: Duration,
    /// What a viewer has to know; a new secret where it is not given.
    pub(super) token: Option<String>,
}

/// Where a viewer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Viewer {
    /// The program starts it.
    Spawn,
    /// It connects to this port.
    Listen(u16),
}

/// What is recorded where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recording {
    pub file: PathBuf,
    /// Debug points whose number is a multiple of this.
    pub every: u64,
    /// So many bytes of an array at most.
    pub most: usize,
    /// Largest size in bytes, if there is a limit.
    pub limit: Option<u64>,
}

impl Recording {
    fn to(file: PathBuf) -> Self {
        Self { file, every: 1, most: MOST_VIEW_BYTES, limit: None }
    }
}

/// The smallest limit of a recording: less has no room for a debug point.
const LEAST_LIMIT: u64 = 16 << 10;

impl Settings {
    /// A viewer is waited for at a port of this machine; 0 for any that is free.
    pub fn listen(port: u16) -> Self {
        Self {
            viewer: Some(Viewer::Listen(port)),
            record: None,
            pause: false,
            lost: Some(Duration::from_secs(60)),
            silent: Duration::from_secs(60),
            token: None,
        }
    }

    /// What is seen is recorded, at each debug point.
    pub fn record(file: impl Into<PathBuf>) -> Self {
        Self { viewer: None, record: Some(Recording::to(file.into())), ..Self::listen(0) }
    }

    /// Limits the size of a recording in bytes: it ends before the debug point that would exceed
    /// the limit, and the run goes on without it. No limit where it is not said.
    /// [`attach`](super::attach) refuses less than 16 KiB.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        if let Some(record) = &mut self.record {
            record.limit = Some(bytes);
        }
        self
    }

    /// The program waits at its first debug point.
    #[must_use]
    pub fn paused(self) -> Self {
        Self { pause: true, ..self }
    }

    /// How long a paused program waits for a viewer, after its viewer has gone or where none has come; for ever without a
    /// time.
    #[must_use]
    pub fn lost(self, lost: Option<Duration>) -> Self {
        Self { lost, ..self }
    }

    /// After which time a viewer is taken for gone that does not answer whether it is there, as where a tunnel has died. It is
    /// asked four times as often, and every 15 seconds at least; 60 seconds where it is not said. [`attach`](super::attach)
    /// refuses a time of nothing.
    #[must_use]
    pub fn silent(self, silent: Duration) -> Self {
        Self { silent, ..self }
    }

    /// What a viewer has to know, 32 hexadecimal digits, so that one can look at run after run; where it is not given each run
    /// has a new secret.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Whether that makes sense.
    ///
    /// # Errors
    /// What does not, and what would.
    pub(super) fn checked(&self) -> Result<(), String> {
        if let Some(limit) = self.record.as_ref().and_then(|record| record.limit).filter(|limit| *limit < LEAST_LIMIT) {
            return Err(format!("limit:{limit} is too small for a recording; the minimum is {LEAST_LIMIT} bytes"));
        }
        if self.silent.is_zero() {
            return Err("viewers are given no time to answer: Settings::silent takes one above 0".into());
        }
        Ok(())
    }

    /// What a text in the form of `ZIPPY_DEBUG` says.
    ///
    /// # Errors
    /// What is wrong, and what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self { viewer: None, ..Self::listen(0) };
        let (mut every, mut most, mut limit, mut pause) = (1, MOST_VIEW_BYTES, None, None);
        for word in text.split(',').map(str::trim) {
            let wrong = |what: &str| Err(format!("ZIPPY_DEBUG={text:?}: `{word}` {what}. {HELP}"));
            let (name, value) = word.split_once(':').map_or((word, None), |(name, value)| (name, Some(value)));
            match (name, value) {
                ("spawn", None) => settings.viewer = Some(Viewer::Spawn),
                ("listen", Some(port)) => match port.parse() {
                    Ok(port) => settings.viewer = Some(Viewer::Listen(port)),
                    Err(_) => return wrong("names no port; ports are 0 to 65535"),
                },
                ("record", Some(file)) if !file.is_empty() => {
                    settings.record = Some(Recording::to(file.into()));
                }
                ("every", Some(number)) => match number.parse() {
                    Ok(number) if number > 0 => every = number,
                    _ => return wrong("is no number of debug points, at least 1"),
                },
                ("most", Some(bytes)) => match size(bytes) {
                    Some(bytes) if (1..=MOST_VIEW_BYTES as u64).contains(&bytes) => most = bytes as usize,
                    _ => return wrong("is no size from 1 to 4M bytes"),
                },
                ("limit", Some(bytes)) => match size(bytes) {
                    Some(bytes) if bytes >= LEAST_LIMIT => limit = Some(bytes),
                    _ => return wrong("is no size of 16K bytes or more, as 500MB, 1GiB or 2T"),
                },
                ("pause", None) => pause = Some(true),
                ("run", None) => pause = Some(false),
                ("lost", Some("keep")) => settings.lost = None,
                ("lost", Some(secs)) => match secs.parse().ok().map(Duration::try_from_secs_f64) {
                    Some(Ok(lost)) => settings.lost = Some(lost),
                    _ => return wrong("is neither a number of seconds nor `lost:keep`"),
                },
                ("silent", Some(secs)) => match secs.parse().ok().map(Duration::try_from_secs_f64) {
                    Some(Ok(silent)) if !silent.is_zero() => settings.silent = silent,
                    _ => return wrong("is no number of seconds above 0"),
                },
                _ => return wrong("is not known"),
            }
        }
        if settings.viewer.is_none() && settings.record.is_none() {
            return Err(format!("ZIPPY_DEBUG={text:?} names neither a viewer nor a recording. {HELP}"));
        }
        if let Some(record) = &mut settings.record {
            (record.every, record.most, record.limit) = (every, most, limit);
        }
        let may_pause = settings.viewer.is_some();
        settings.pause = may_pause && pause.unwrap_or(settings.viewer == Some(Viewer::Spawn));
        Ok(settings)
    }
}

/// The units of sizes: their letters, and the powers of 1024 and of 1000.
const UNITS: [(char, u32); 4] = [('K', 1), ('M', 2), ('G', 3), ('T', 4)];

/// A number of bytes: `256K` or `256KiB` of 1024 bytes, `500MB` of a million.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (rest, base) = match text.strip_suffix("iB") {
        Some(rest) => (rest, 1024_u64),
        None => text.strip_suffix('B').map_or((text, 1024), |rest| (rest, 1000)),
    };
    let unit = rest.chars().next_back().filter(|letter| !letter.is_ascii_digit());
    let (digits, power) = match unit {
        Some(unit) => {
            let (letter, power) = UNITS.into_iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&unit))?;
            (rest.strip_suffix([letter, letter.to_ascii_lowercase()])?, power)
        }
        None => (rest, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(base.checked_pow(power)?)
}

/// A number of bytes as [`Settings::parse`] reads it, in the largest unit that it is a multiple of.
pub(super) fn size_text(bytes: u64) -> String {
    let unit = UNITS.into_iter().rev().find(|(_, power)| bytes > 0 && bytes.is_multiple_of(1024_u64.pow(*power)));
    unit.map_or(format!("{bytes} bytes"), |(letter, power)| format!("{} {letter}iB", bytes / 1024_u64.pow(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_who_looks() {
        let settings = Settings::parse("listen:7777, record:run.zrec,every:5,most:64K,limit:1GiB,lost:keep").unwrap();
        let record = Recording { file: "run.zrec".into(), every: 5, most: 64 << 10, limit: Some(1 << 30) };
        assert_eq!(settings, Settings { record: Some(record), ..Settings::listen(7777).lost(None) });
        let spawned = Settings::parse("spawn").unwrap();
        assert!(spawned.pause && spawned.viewer == Some(Viewer::Spawn));
        assert!(!Settings::parse("spawn,run").unwrap().pause);
        assert!(Settings::parse("listen:0,pause").unwrap().pause);
        assert_eq!(Settings::parse("listen:1,lost:2.5").unwrap().lost, Some(Duration::from_millis(2500)));
        assert_eq!(Settings::parse("listen:1,silent:5").unwrap(), Settings::listen(1).silent(Duration::from_secs(5)));
        assert_eq!(Settings::parse("record:a").unwrap(), Settings::record("a"));
        assert_eq!(Settings::parse("record:a,limit:2G").unwrap(), Settings::record("a").limit(2 << 30));
    }

    #[test]
    fn sizes_have_binary_and_decimal_units() {
        let cases =
            [("16384", 16384), ("64K", 65536), ("64k", 65536), ("2MiB", 2 << 20), ("1GiB", 1 << 30), ("3T", 3 << 40)];
        for (text, bytes) in cases {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        assert_eq!([size("5GB"), size("20 kB"), size("7B")], [Some(5_000_000_000), Some(20_000), Some(7)]);
        for text in ["", "K", "1X", "1.5G", "-1", "99999999T", "1GiBB", "G1", "iB"] {
            assert_eq!(size(text), None, "{text}");
        }
        assert_eq!([size_text(1 << 30), size_text(3 << 19), size_text(5_000)], ["1 GiB", "1536 KiB", "5000 bytes"]);
    }

    #[test]
    fn mistakes_are_said_with_what_there_is() {
        let bad = [
            "",
            "listen",
            "listen:",
            "listen:70000",
            "record:",
            "sprawn",
            "pause",
            "every:2",
            "spawn,every:0",
            "lost:1",
            "spawn,most:5M",
            "record:a,limit:0",
            "record:a,limit:1K",
            "record:a,limit:much",
            "spawn,most:99999999999999999999M",
            "spawn,lost:-1",
            "spawn,lost:nan",
            "spawn,silent:0",
            "spawn,",
            "listen:1:2",
        ];
        for text in bad {
            let error = Settings::parse(text).unwrap_err();
            assert!(error.contains(&format!("{text:?}")) && error.contains("record:FILE"), "{error}");
        }
    }

    #[test]
    fn a_time_of_nothing_for_viewers_is_refused() {
        let error = Settings::listen(0).silent(Duration::ZERO).checked().unwrap_err();
        assert!(error.contains("Settings::silent takes one above 0"), "{error}");
        assert_eq!(Settings::listen(0).silent(Duration::from_millis(1)).checked(), Ok(()));
        let error = Settings::record("a").limit(100).checked().unwrap_err();
        assert!(error.contains("limit:100 is too small") && error.contains("16384 bytes"), "{error}");
    }
}
