//! Debug points: the one place from which anything looks into a running program.

use std::fmt::{self, Display, Formatter};
use std::panic::Location;
use std::rc::Rc;

use super::debug_point::DebugPoint;
use super::{World, hash};
use crate::error::Result;

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
        let step = self.ledger.next_step();
        // While it looks there is none: a debug point within it is passed by.
        let Some(mut observer) = self.observer.take() else { return Ok(()) };
        let looked = observer(self, &DebugPoint { name: name.to_string(), step, location });
        self.observer.borrow_mut().get_or_insert(observer);
        looked
    }

    /// Calls `observer` at each [`debug_point`](Self::debug_point) from now on, in place of the one before, if any. It may
    /// do what the program may: read chunks of this rank, which waits for queued kernels, or call collectives if every rank
    /// has an observer that does. Local.
    pub fn observe(&self, observer: impl FnMut(&Self, &DebugPoint) -> Result<()> + 'static) {
        *self.observer.borrow_mut() = Some(Box::new(observer));
    }

    /// Calls no observer from now on. Local.
    pub fn stop_observing(&self) {
        self.observer.take();
    }
}
