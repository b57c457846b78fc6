//! Debug points: the one place from which anything looks into a running program.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::debug_point::DebugPoint;
use super::{Observer, World, hash};
use crate::error::{CallSite, Result};
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
    /// one, lets [viewers](crate::debug) look, and counts the step. Collective; where nobody looks it sends nothing (but where
    /// calls are compared) and waits for nothing.
    ///
    /// # Errors
    /// What the observer returns; a viewer that stops the program; a failure of this or of another rank.
    #[track_caller]
    pub fn debug_point(&self, name: &str) -> Result<()> {
        let _call = CallSite::enter();
        let call_site = CallSite::here();
        self.collective(Called(name.into()), hash(("debug_point", name)), || Ok(()))?;
        // A debug point within an observer is passed by.
        if self.observing.get() {
            return Ok(());
        }
        let step = self.ledger.next_step();
        let (observer, viewer) = (self.observer.borrow().clone(), self.viewer.borrow().clone());
        let viewer = viewer.filter(|viewer| viewer.borrow().wants(step, name));
        if observer.is_none() && viewer.is_none() {
            return Ok(());
        }
        let point = DebugPoint { name: name.to_string(), step, call_site };
        let _span = trace::span(SpanKind::Debug, || name.to_owned());
        self.observing.set(true);
        let looked = observer.map_or(Ok(()), |observer| {
            let _left = CallSite::leave();
            (observer.borrow_mut())(self, &point)
        });
        // What all ranks do together, whatever the program's own observer has met on this one.
        let viewed = viewer
            .map_or(Ok(()), |viewer| self.failing(Called(name.into()), || viewer.borrow_mut().look(self, &point)));
        self.observing.set(false);
        looked.and(viewed)
    }

    /// Continues the numbering of debug points after an earlier run with `count` of them, so that
    /// `every:N` records the steps at which the program writes its own files. A count below the
    /// current number has no effect. Local; every rank passes the same count.
    pub fn skip_debug_points(&self, count: u64) {
        self.ledger.skip_to(count);
    }

    /// Whether somebody looks at the next [`debug_point`](Self::debug_point), if it has this name: arrays that are there for
    /// people only need not be computed otherwise. Local, and the same on every rank.
    pub fn is_observed(&self, name: &str) -> bool {
        let wants = |viewer: &Rc<RefCell<dyn Observer>>| viewer.borrow().wants(self.ledger.step() + 1, name);
        let observed = self.observer.borrow().is_some() || self.viewer.borrow().as_ref().is_some_and(wants);
        observed && !self.observing.get()
    }

    /// Has a viewer look at debug points from now on.
    pub(crate) fn attach(&self, viewer: impl Observer + 'static) {
        self.detach("another one looks at the program");
        *self.viewer.borrow_mut() = Some(Rc::new(RefCell::new(viewer)));
    }

    /// Tells the viewer, if there is one, how the run has ended.
    pub(crate) fn detach(&self, how: &str) {
        if let Some(viewer) = self.viewer.take() {
            if self.ledger.step() == 0 && self.rank() == 0 {
                trace::warn(
                    "ZIPPY_DEBUG: no viewer has seen the program, as it has come to no debug point; call \
                     world.debug_point(\"name\")? where one may look into its arrays",
                );
            }
            viewer.borrow_mut().end(how);
        }
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
