//! [`Settings`]: viewers and recordings of a run, as in `ZIPPY_DEBUG`.

use std::path::PathBuf;
use std::time::Duration;

use zippy_protocol::MOST_VIEW_BYTES;

/// Description of `ZIPPY_DEBUG` for error messages.
const SETTINGS_HELP: &str = "ZIPPY_DEBUG has words separated by commas: `spawn` starts the viewer; `listen:PORT` waits for \
     viewers at a port of this machine (0 for any); `record:FILE` records every debug point, `every:N` only those whose \
     number is a multiple of N; `most:SIZE` limits the recorded bytes of each array and `limit:SIZE` the size of \
     the file, as 256K or 1GiB; `pause` or `run` at the first debug point; `lost:SECONDS` or `lost:keep` for a \
     paused program without a viewer; `silent:SECONDS` until a viewer that does not answer is disconnected";

/// Settings for the viewers and the recording of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(super) viewer: Option<Viewer>,
    pub(super) record: Option<RecordSettings>,
    pub(super) pause: bool,
    /// Maximum wait of a paused program without a viewer; `None` without limit.
    pub(super) lost: Option<Duration>,
    /// Time after which a viewer that does not answer is disconnected.
    pub(super) silent: Duration,
    /// Token of the viewers; `None` for a new random token.
    pub(super) token: Option<String>,
}

/// Origin of viewers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Viewer {
    /// The program starts the viewer.
    Spawn,
    /// Viewers connect to this port.
    Listen(u16),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordSettings {
    pub file: PathBuf,
    /// Interval of recorded debug points: their numbers are multiples of it.
    pub every: u64,
    /// Maximum number of recorded bytes per array.
    pub max_array_bytes: usize,
    /// Maximum size of the file in bytes; `None` without limit.
    pub limit: Option<u64>,
}

impl RecordSettings {
    fn to(file: PathBuf) -> Self {
        Self { file, every: 1, max_array_bytes: MOST_VIEW_BYTES, limit: None }
    }
}

/// Minimum of the size limit of a recording, in bytes: less has no room for a debug point.
const MIN_LIMIT: u64 = 16 << 10;

impl Settings {
    /// Settings that listen for viewers at a port of this machine; 0 selects any free port.
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

    /// Settings that record every debug point to a file.
    pub fn record(file: impl Into<PathBuf>) -> Self {
        Self { viewer: None, record: Some(RecordSettings::to(file.into())), ..Self::listen(0) }
    }

    /// Limits the size of a recording in bytes: the recording ends before the debug point that
    /// would exceed the limit, and the run continues without it. There is no limit by default.
    /// [`attach`](super::attach) refuses less than 16 KiB.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        if let Some(record) = &mut self.record {
            record.limit = Some(bytes);
        }
        self
    }

    /// Makes the program wait at its first debug point.
    #[must_use]
    pub fn paused(self) -> Self {
        Self { pause: true, ..self }
    }

    /// Sets the maximum time that a paused program waits without a viewer, after its viewer has
    /// disconnected or before the first one connects; `None` waits without limit. The default is 60
    /// seconds.
    #[must_use]
    pub fn lost(self, lost: Option<Duration>) -> Self {
        Self { lost, ..self }
    }

    /// Sets the time after which the program disconnects a viewer that does not answer, as after
    /// the end of a tunnel. The program probes a silent viewer four times as often, and at least
    /// every 15 seconds. The default is 60 seconds. [`attach`](super::attach) refuses a time of 0.
    #[must_use]
    pub fn silent(self, silent: Duration) -> Self {
        Self { silent, ..self }
    }

    /// Sets the token of viewers, 32 hexadecimal digits, so that a viewer can connect to several
    /// runs. By default each run has a new random token.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Validates the settings.
    ///
    /// # Errors
    /// The first invalid setting and its valid values.
    pub(super) fn checked(&self) -> Result<(), String> {
        if let Some(limit) = self.record.as_ref().and_then(|record| record.limit).filter(|limit| *limit < MIN_LIMIT) {
            return Err(format!("limit:{limit} is too small for a recording; the minimum is {MIN_LIMIT} bytes"));
        }
        if self.silent.is_zero() {
            return Err("viewers have no time to answer: Settings::silent takes one above 0".into());
        }
        Ok(())
    }

    /// Parses a text in the form of `ZIPPY_DEBUG`.
    ///
    /// # Errors
    /// The first invalid word, and a description of all words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self { viewer: None, ..Self::listen(0) };
        let (mut every, mut most, mut limit, mut pause) = (1, MOST_VIEW_BYTES, None, None);
        for word in text.split(',').map(str::trim) {
            let wrong = |what: &str| Err(format!("ZIPPY_DEBUG={text:?}: `{word}` {what}. {SETTINGS_HELP}"));
            let (name, value) = word.split_once(':').map_or((word, None), |(name, value)| (name, Some(value)));
            match (name, value) {
                ("spawn", None) => settings.viewer = Some(Viewer::Spawn),
                ("listen", Some(port)) => match port.parse() {
                    Ok(port) => settings.viewer = Some(Viewer::Listen(port)),
                    Err(_) => return wrong("names no port; ports are 0 to 65535"),
                },
                ("record", Some(file)) if !file.is_empty() => {
                    settings.record = Some(RecordSettings::to(file.into()));
                }
                ("every", Some(number)) => match number.parse() {
                    Ok(number) if number > 0 => every = number,
                    _ => return wrong("is no number of debug points, at least 1"),
                },
                ("most", Some(bytes)) => match parse_size(bytes) {
                    Some(bytes) if (1..=MOST_VIEW_BYTES as u64).contains(&bytes) => most = bytes as usize,
                    _ => return wrong("is no size from 1 to 4M bytes"),
                },
                ("limit", Some(bytes)) => match parse_size(bytes) {
                    Some(bytes) if bytes >= MIN_LIMIT => limit = Some(bytes),
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
            return Err(format!("ZIPPY_DEBUG={text:?} names neither a viewer nor a recording. {SETTINGS_HELP}"));
        }
        if let Some(record) = &mut settings.record {
            (record.every, record.max_array_bytes, record.limit) = (every, most, limit);
        }
        let may_pause = settings.viewer.is_some();
        settings.pause = may_pause && pause.unwrap_or(settings.viewer == Some(Viewer::Spawn));
        Ok(settings)
    }
}

/// Units of sizes: their letters and exponents; the base is 1024 or 1000.
const SIZE_UNITS: [(char, u32); 4] = [('K', 1), ('M', 2), ('G', 3), ('T', 4)];

/// Parses a number of bytes: `256K` and `256KiB` have 1024 bytes per K, `500MB` has a million per
/// M.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (rest, base) = match text.strip_suffix("iB") {
        Some(rest) => (rest, 1024_u64),
        None => text.strip_suffix('B').map_or((text, 1024), |rest| (rest, 1000)),
    };
    let unit = rest.chars().next_back().filter(|letter| !letter.is_ascii_digit());
    let (digits, power) = match unit {
        Some(unit) => {
            let (letter, power) = SIZE_UNITS.into_iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&unit))?;
            (rest.strip_suffix([letter, letter.to_ascii_lowercase()])?, power)
        }
        None => (rest, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(base.checked_pow(power)?)
}

/// Formats a number of bytes for [`Settings::parse`], in the largest unit that divides it.
pub(super) fn size_text(bytes: u64) -> String {
    let unit = SIZE_UNITS.into_iter().rev().find(|(_, power)| bytes > 0 && bytes.is_multiple_of(1024_u64.pow(*power)));
    unit.map_or(format!("{bytes} bytes"), |(letter, power)| format!("{} {letter}iB", bytes / 1024_u64.pow(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_words_select_viewers_and_recordings() {
        let settings = Settings::parse("listen:7777, record:run.zrec,every:5,most:64K,limit:1GiB,lost:keep").unwrap();
        let record =
            RecordSettings { file: "run.zrec".into(), every: 5, max_array_bytes: 64 << 10, limit: Some(1 << 30) };
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
    fn size_with_binary_or_decimal_unit_is_parsed() {
        let cases =
            [("16384", 16384), ("64K", 65536), ("64k", 65536), ("2MiB", 2 << 20), ("1GiB", 1 << 30), ("3T", 3 << 40)];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        assert_eq!(
            [parse_size("5GB"), parse_size("20 kB"), parse_size("7B")],
            [Some(5_000_000_000), Some(20_000), Some(7)]
        );
        for text in ["", "K", "1X", "1.5G", "-1", "99999999T", "1GiBB", "G1", "iB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        assert_eq!([size_text(1 << 30), size_text(3 << 19), size_text(5_000)], ["1 GiB", "1536 KiB", "5000 bytes"]);
    }

    #[test]
    fn invalid_words_are_refused_with_a_description() {
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
    fn zero_silent_time_and_small_limit_are_refused() {
        let error = Settings::listen(0).silent(Duration::ZERO).checked().unwrap_err();
        assert!(error.contains("Settings::silent takes one above 0"), "{error}");
        assert_eq!(Settings::listen(0).silent(Duration::from_millis(1)).checked(), Ok(()));
        let error = Settings::record("a").limit(100).checked().unwrap_err();
        assert!(error.contains("limit:100 is too small") && error.contains("16384 bytes"), "{error}");
    }
}
