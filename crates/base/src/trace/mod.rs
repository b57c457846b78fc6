//! Profiles, timelines and warnings: seconds per activity ([`Profile`]), the activities of a rank
//! over time ([`Span`]), and messages for the user on standard error.
//!
//! Figure 10 of the paper has the shares of overhead, waiting and compute in a step.

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

/// Reports a warning to the user, such as a slow wait, which no result can carry.
///
/// The warning goes to the `tracing` subscriber of the program, or to standard error if the program
/// has no subscriber.
pub fn warn(text: &str) {
    if tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
        say(text);
    } else {
        tracing::warn!("{text}");
    }
}

/// Call sites at which [`warn_once`] has warned in this process.
static WARNED: Mutex<BTreeSet<CallSite>> = Mutex::new(BTreeSet::new());

/// Reports a warning once per call site and process, with the call site before the text. Local.
pub fn warn_once(call_site: CallSite, text: impl FnOnce() -> String) {
    if WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(call_site) {
        warn(&format!("{call_site}: {}", text()));
    }
}

/// Returns true if [`warn_once`] has warned at a call site in this process. Local.
pub fn has_warned(call_site: CallSite) -> bool {
    WARNED.lock().unwrap_or_else(PoisonError::into_inner).contains(&call_site)
}

/// Writes a line to standard error, in one write: a launcher that merges the output of many
/// processes does not split it. A failed write is ignored, because no other output exists.
pub fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("zippy: {line}\n").as_bytes());
}
