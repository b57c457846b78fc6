//! Debug points: the one place from which anything looks into a running program.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::panic::Location;
use std::rc::Rc;

use super::debug_point::DebugPoint;
use super::{World, hash};
use crate::error::Result;
use crate::trace::{self, SpanKind};

/// How messages and comparisons name it.
struct Called(Rc<str>);

impl Display for Called {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "debug_point({:?})", &*self.0)
    }
}

impl World {
    /// A place, named for people, where one may look into the arrays: it calls the [observer](Self::observe), if there is
    /// one, and counts the step. Collective; without an observer it sends nothing (but where calls are compared) and waits
    /// for nothing.
    ///
    /// # Errors
    /// What the observer returns; a failure of this or of another rank.
    #[track_caller]
    pub fn debug_point(&self, name: &str) -> Result<()> {
        let location = Location::caller();
        self.collective(Called(name.into()), hash(("debug_point", name)), || Ok(()))?;
        // A debug point within an observer is passed by.
        if self.observing.get() {
            return Ok(());
        }
        let step = self.ledger.next_step();
        let Some(observer) = self.observer.borrow().clone() else { return Ok(()) };
        let _span = trace::span(SpanKind::Debug, || name.to_owned());
        self.observing.set(true);
        let looked = (observer.borrow_mut())(self, &DebugPoint { name: name.to_string(), step, location });
        self.observing.set(false);
        looked
    }

    /// Calls `observer` at each [`debug_point`](Self::debug_point) from now on, in place of the one before, if any. It may
    /// do what the program may: read chunks of this rank, which waits for queued kernels, or call collectives if every rank
    /// has an observer that does. Local.
    pub fn observe(&self, observer: impl FnMut(&Self, &DebugPoint) -> Result<()> + 'static) {
        *self.observer.borrow_mut() = Some(Rc::new(RefCell::new(observer)));
    }

    /// Calls no observer from now on. Local; an observer may say it, too.
    pub fn stop_observing(&self) {
        self.observer.take();
    }
}
