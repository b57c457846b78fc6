//! Where the time of a program goes: seconds spent packing, waiting, unpacking and planning; and what people are told
//! besides results.
//!
//! The share of a step spent in overhead, waiting and compute is the paper's Figure 10.

use std::cell::RefCell;
use std::io::Write;
use std::time::Instant;

use tracing::subscriber::NoSubscriber;

/// Tells people what no result can carry, such as that a wait is slow: through the program's `tracing` subscriber, or on
/// standard error where it has none.
pub fn warn(text: &str) {
    if tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
        say(text);
    } else {
        tracing::warn!("{text}");
    }
}

/// Writes a line to standard error in one piece, so that a launcher, which merges the output of many processes, does not
/// tear it apart. Nobody is left to be told if that fails.
pub(crate) fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("zippy: {line}\n").as_bytes());
}

/// What a span of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Activity {
    /// Building plans and turning them into box views.
    Plan,
    /// Reading boxes from chunks into messages.
    Pack,
    /// Moving boxes between chunks of this rank.
    Local,
    /// Waiting for other ranks.
    Wait,
    /// Writing messages into chunks, operators included.
    Unpack,
}

/// Seconds by kind of span, summed since the last reset. Spans of one rank never overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Profile {
    /// Building plans.
    pub plan_secs: f64,
    /// Reading boxes from chunks into messages.
    pub pack_secs: f64,
    /// Moving boxes between chunks of this rank.
    pub local_secs: f64,
    /// Waiting for other ranks.
    pub wait_secs: f64,
    /// Writing messages into chunks.
    pub unpack_secs: f64,
}

impl Profile {
    /// Seconds spent on communication in all but waiting.
    pub fn overhead_secs(&self) -> f64 {
        self.plan_secs + self.pack_secs + self.local_secs + self.unpack_secs
    }
}

/// Adds up spans.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    profile: RefCell<Profile>,
}

impl Tracer {
    /// Runs `f` and books its time.
    pub fn span<R>(&self, activity: Activity, f: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = f();
        let secs = start.elapsed().as_secs_f64();
        let mut profile = self.profile.borrow_mut();
        *match activity {
            Activity::Plan => &mut profile.plan_secs,
            Activity::Pack => &mut profile.pack_secs,
            Activity::Local => &mut profile.local_secs,
            Activity::Wait => &mut profile.wait_secs,
            Activity::Unpack => &mut profile.unpack_secs,
        } += secs;
        result
    }

    /// What was booked so far.
    pub fn profile(&self) -> Profile {
        *self.profile.borrow()
    }

    /// Starts again from zero.
    pub fn reset(&self) {
        *self.profile.borrow_mut() = Profile::default();
    }
}
