//! Where the time of a program goes: seconds spent packing, waiting, unpacking and planning; what each rank did when; and
//! what people are told besides results.
//!
//! The share of a step spent in overhead, waiting and compute is the paper's Figure 10.

mod chrome;
mod file;
mod profile;
mod spans;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use tracing::subscriber::NoSubscriber;

use crate::error::CallSite;

pub use self::chrome::{ChromeWriter, Told};
pub use self::file::TraceFile;
pub use self::profile::Profile;
pub use self::profile::{Activity, Tracer};
pub use self::spans::SpanKind;
pub use self::spans::{
    FILE_SPANS, Kept, LATEST_SPANS, Span, add, is_on, keep, now_nanos, queued, queued_text, span, spans_after,
};

/// Tells people what no result can carry, such as that a wait is slow: through the program's `tracing` subscriber, or on
/// standard error where it has none.
pub fn warn(text: &str) {
    if tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
        say(text);
    } else {
        tracing::warn!("{text}");
    }
}

/// Call sites at which [`warn_once`] has warned in this process.
static WARNED: Mutex<BTreeSet<CallSite>> = Mutex::new(BTreeSet::new());

/// [`warn`] with a line of the program before the text, once for each line in a process. Local.
pub fn warn_once(at: CallSite, text: impl FnOnce() -> String) {
    if WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(at) {
        warn(&format!("{at}: {}", text()));
    }
}

/// Whether [`warn_once`] has warned at a call site in this process. Local.
pub fn has_warned(call_site: CallSite) -> bool {
    WARNED.lock().unwrap_or_else(PoisonError::into_inner).contains(&call_site)
}

/// Writes a line to standard error in one piece, so that a launcher, which merges the output of many processes, does not
/// tear it apart. Nobody is left to be told if that fails.
pub fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("zippy: {line}\n").as_bytes());
}
