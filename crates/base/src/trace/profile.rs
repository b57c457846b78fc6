use std::cell::RefCell;
use std::time::Instant;

use super::spans::{self, SpanKind};

/// Activity of a rank in an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Building plans and converting them to box views.
    Plan,
    /// Reading boxes from chunks into messages.
    Pack,
    /// Moving boxes between chunks of this rank.
    Local,
    /// Waiting for other ranks.
    Wait,
    /// Writing messages into chunks, with merge operators.
    Unpack,
}

/// Seconds of a rank per activity since the last reset. The activities never overlap.
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
    /// Seconds of communication without waiting.
    pub fn overhead_secs(&self) -> f64 {
        self.plan_secs + self.pack_secs + self.local_secs + self.unpack_secs
    }
}

impl Activity {
    /// Kind of the activity's spans. `None` for a wait, which records its own span with the other
    /// rank.
    fn kind(self) -> Option<SpanKind> {
        match self {
            Self::Plan => Some(SpanKind::Plan),
            Self::Pack => Some(SpanKind::Pack),
            Self::Local => Some(SpanKind::Local),
            Self::Wait => None,
            Self::Unpack => Some(SpanKind::Unpack),
        }
    }
}

/// Timer of a rank's activities: adds their seconds to a [`Profile`], and records spans while
/// recording is on.
pub struct Tracer {
    profile: RefCell<Profile>,
    operation: Box<dyn Fn() -> String>,
}

impl Tracer {
    /// Creates a tracer. `operation` returns the text of the rank's operation in progress.
    pub fn new(operation: impl Fn() -> String + 'static) -> Self {
        Self { profile: RefCell::default(), operation: Box::new(operation) }
    }

    /// Runs `f` and adds its time to `activity`.
    pub fn span<R>(&self, activity: Activity, f: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = f();
        let end = Instant::now();
        if let Some(kind) = activity.kind().filter(|_| spans::is_on()) {
            spans::add(kind, &(self.operation)(), start, end, None);
        }
        let secs = (end - start).as_secs_f64();
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

    /// Seconds since the last reset.
    pub fn profile(&self) -> Profile {
        *self.profile.borrow()
    }

    /// Sets all seconds to zero.
    pub fn reset(&self) {
        *self.profile.borrow_mut() = Profile::default();
    }
}
