//! [`Settings`]: who looks into a run, as `ZIPPY_DEBUG` says.

use std::path::PathBuf;
use std::time::Duration;

use super::protocol::MOST_VIEW_BYTES;

/// What `ZIPPY_DEBUG` can say, for messages.
const HELP: &str = "ZIPPY_DEBUG has words with commas between them: `spawn` starts the viewer; `listen:PORT` waits for one at a port of \
                    this machine (0 for any); `record:FILE` records, with `every:N` debug points and `most:BYTES` of each array; \
                    `pause` or `run` at the first debug point; `lost:SECONDS` or `lost:keep` for a program that is paused when \
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
    /// Of so many debug points one.
    pub every: u64,
    /// So many bytes of an array at most.
    pub most: usize,
}

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
        let record = Recording { file: file.into(), every: 1, most: MOST_VIEW_BYTES };
        Self { viewer: None, record: Some(record), ..Self::listen(0) }
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
        let (mut every, mut most, mut pause) = (1, MOST_VIEW_BYTES, None);
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
                    settings.record = Some(Recording { file: file.into(), every: 1, most: MOST_VIEW_BYTES });
                }
                ("every", Some(number)) => match number.parse() {
                    Ok(number) if number > 0 => every = number,
                    _ => return wrong("is no number of debug points, at least 1"),
                },
                ("most", Some(bytes)) => match size(bytes) {
                    Some(bytes) if (1..=MOST_VIEW_BYTES).contains(&bytes) => most = bytes,
                    _ => return wrong("is no size from 1 to 4M bytes"),
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
            (record.every, record.most) = (every, most);
        }
        let may_pause = settings.viewer.is_some();
        settings.pause = may_pause && pause.unwrap_or(settings.viewer == Some(Viewer::Spawn));
        Ok(settings)
    }
}

/// A number of bytes, in thousands (K) or millions (M) of two.
fn size(text: &str) -> Option<usize> {
    let (digits, shift) = match text.strip_suffix(['K', 'M']) {
        Some(digits) => (digits, if text.ends_with('K') { 10 } else { 20 }),
        None => (text, 0),
    };
    digits.parse::<usize>().ok()?.checked_shl(shift).filter(|_| digits.len() < 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_who_looks() {
        let settings = Settings::parse("listen:7777, record:run.zrec,every:5,most:64K,lost:keep").unwrap();
        let record = Recording { file: "run.zrec".into(), every: 5, most: 64 << 10 };
        assert_eq!(settings, Settings { record: Some(record), ..Settings::listen(7777).lost(None) });
        let spawned = Settings::parse("spawn").unwrap();
        assert!(spawned.pause && spawned.viewer == Some(Viewer::Spawn));
        assert!(!Settings::parse("spawn,run").unwrap().pause);
        assert!(Settings::parse("listen:0,pause").unwrap().pause);
        assert_eq!(Settings::parse("listen:1,lost:2.5").unwrap().lost, Some(Duration::from_millis(2500)));
        assert_eq!(Settings::parse("listen:1,silent:5").unwrap(), Settings::listen(1).silent(Duration::from_secs(5)));
        assert_eq!(Settings::parse("record:a").unwrap(), Settings::record("a"));
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
    }
}
