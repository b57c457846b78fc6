//! Debug points: calls in which observers and viewers inspect a running program.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::debug_point::DebugPoint;
use super::{CollectiveWorld, Observer, World, hash};
use crate::error::{CallSite, Result};
use crate::trace::{self, SpanKind};

/// Name of a debug point, for error messages and for the comparison of calls.
struct DebugPointCall(Rc<str>);

impl Display for DebugPointCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "debug_point({:?})", &*self.0)
    }
}

impl World {
    /// Marks a named point of the program at which arrays can be inspected. Collective.
    ///
    /// A debug point counts the step, calls the [observer](super::Debugging::observe) if there is
    /// one, and then the [viewers](crate::debug). Without an observer or viewer it does not wait,
    /// and sends messages only in runs that compare calls.
    ///
    /// # Errors
    /// The error of the observer; a viewer that stops the program; a failure of this or another
    /// rank.
    #[track_caller]
    pub fn debug_point(&self, name: &str) -> Result<()> {
        let _call = CallSite::enter();
        let call_site = CallSite::here();
        self.collective(DebugPointCall(name.into()), hash(("debug_point", name)), || Ok(()))?;
        // Debug points of an observer itself are ignored.
        if self.is_observing.get() {
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
        self.is_observing.set(true);
        let observed = observer.map_or(Ok(()), |observer| {
            let _outside = CallSite::leave();
            (observer.borrow_mut())(self, &point)
        });
        // The viewer is collective, so it runs also after an error of the observer on this rank.
        let viewed = viewer.map_or(Ok(()), |viewer| {
            self.failing(DebugPointCall(name.into()), || viewer.borrow_mut().process_point(self, &point))
        });
        self.is_observing.set(false);
        observed.and(viewed)
    }

    /// Sets the viewer for the next debug points.
    pub(crate) fn attach(&self, viewer: impl Observer + 'static) {
        self.detach("another viewer is attached");
        *self.viewer.borrow_mut() = Some(Rc::new(RefCell::new(viewer)));
    }

    /// Removes the viewer, if there is one, and passes it a description of the outcome of the run.
    pub(crate) fn detach(&self, how: &str) {
        if let Some(viewer) = self.viewer.take() {
            if self.ledger.step() == 0 && self.rank() == 0 {
                trace::warn(
                    "ZIPPY_DEBUG: no viewer has seen the program, because it has reached no debug point; call \
                     world.debug_point(\"name\")? where its arrays can be inspected",
                );
            }
            viewer.borrow_mut().end(how);
        }
    }
}
