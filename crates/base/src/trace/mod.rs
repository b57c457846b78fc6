//! Profiles, timelines and warnings: seconds per activity ([`Profile`]), activities of a rank over
//! time ([`Span`]), and messages for the user on standard error.

mod chrome;
mod file;
mod profile;
mod spans;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use tracing::subscriber::NoSubscriber;

use crate::error::CallSite;

pub use self::chrome::{ChromeWriter, SpanRecord};
pub use self::file::TraceFile;
pub use self::profile::Profile;
pub use self::profile::{Activity, Tracer};
pub use self::spans::SpanKind;
pub use self::spans::{
    FILE_SPANS, LATEST_SPANS, Span, SpanLogGuard, add, is_on, keep, now_nanos, queued, queued_text, span, spans_after,
};

/// Reports a warning, such as a slow wait, to the `tracing` subscriber of the program, or to
/// standard error without a subscriber.
pub fn warn(text: &str) {
    if tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
        say(text);
    } else {
        tracing::warn!("{text}");
    }
}

static WARNED: Mutex<BTreeSet<CallSite>> = Mutex::new(BTreeSet::new());

/// Reports a warning once per call site and process, with the call site before the text. Local.
pub fn warn_once(call_site: CallSite, text: impl FnOnce() -> String) {
    if WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(call_site) {
        warn(&format!("{call_site}: {}", text()));
    }
}

/// True if [`warn_once`] has warned at a call site in this process. Local.
#[doc(hidden)]
pub fn has_warned(call_site: CallSite) -> bool {
    WARNED.lock().unwrap_or_else(PoisonError::into_inner).contains(&call_site)
}

/// Writes a line to standard error in one write, so that launchers do not split it. A failed write
/// is ignored.
pub fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("zippy: {line}\n").as_bytes());
}
