//! [`Pending`]: started collective.

use std::fmt::Display;
use std::rc::Rc;

use super::{CollectiveWorld, World};
use crate::error::{CallSite, Result};
use crate::history::OperationName;
use crate::plan::Moved;
use crate::trace;

/// Started transfer. Its sources have been read; its destinations must not be accessed before
/// [`wait`](Self::wait) returns.
///
/// Dropping a `Pending` finishes the transfer and prints a warning with the call site of its start,
/// because errors would be lost.
#[must_use = "a started transfer is finished by wait()"]
pub struct Pending<'w> {
    world: &'w World,
    operation: Rc<dyn Display>,
    /// The remaining work of the transfer.
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

    /// Finishes the transfer. Collective, in the same order on every rank. Blocks until the part of
    /// this rank is complete.
    ///
    /// # Errors
    /// A failure of this or another rank.
    #[track_caller]
    pub fn wait(mut self) -> Result<Moved> {
        let _call = CallSite::enter();
        self.finish()?;
        Ok(self.moved)
    }

    fn finish(&mut self) -> Result<()> {
        match self.rest.take() {
            Some(rest) => {
                let operation = || OperationName::Collective(self.operation.clone());
                let _operation = self.world.ledger.begin_operation(operation, self.started_at);
                self.world.failing(self.operation.clone(), rest)
            }
            None => Ok(()),
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.rest.is_some() && !std::thread::panicking() {
            let started = format!("{} started at {}", self.operation, self.started_at);
            trace::warn(&format!("{started} was dropped without wait(); finishing it now"));
            if let Err(error) = self.finish() {
                trace::warn(&format!("{started} failed: {error}"));
            }
        }
    }
}
