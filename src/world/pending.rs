//! [`Pending`]: a collective that was started and not yet waited for.

use std::fmt::Display;
use std::rc::Rc;

use super::World;
use crate::error::{CallSite, Result};
use crate::history::What;
use crate::plan::Moved;
use crate::trace;

/// A started transfer: its sources have been read, its destinations must not be touched before [`wait`](Self::wait).
///
/// Dropping it finishes the transfer and warns with the place where it was started, since errors would be lost.
#[must_use = "a started transfer is finished by wait()"]
pub struct Pending<'w> {
    world: &'w World,
    operation: Rc<dyn Display>,
    /// What is left to do.
    rest: Option<Box<dyn FnOnce() -> Result<()> + 'w>>,
    moved: Moved,
    started_at: CallSite,
}

impl<'w> Pending<'w> {
    #[track_caller]
    pub(super) fn new(
        world: &'w World,
        operation: impl Display + 'static,
        moved: Moved,
        rest: impl FnOnce() -> Result<()> + 'w,
    ) -> Self {
        let operation = Rc::new(operation);
        Self { world, operation, rest: Some(Box::new(rest)), moved, started_at: CallSite::here() }
    }

    /// Finishes the transfer. Collective, in the order of the program; blocks until this rank's part is done.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn wait(mut self) -> Result<Moved> {
        let _call = CallSite::enter();
        self.finish()?;
        Ok(self.moved)
    }

    fn finish(&mut self) -> Result<()> {
        match self.rest.take() {
            Some(rest) => {
                let what = || What::Collective(self.operation.clone());
                let _acting = self.world.ledger.acting(what, self.started_at);
                self.world.failing(self.operation.clone(), rest)
            }
            None => Ok(()),
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.rest.is_some() && !std::thread::panicking() {
            let what = format!("{} started at {}", self.operation, self.started_at);
            trace::warn(&format!("{what} was dropped without wait(); finishing it now"));
            if let Err(error) = self.finish() {
                trace::warn(&format!("{what} failed: {error}"));
            }
        }
    }
}
