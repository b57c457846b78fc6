//! `World::agree`: the same decision on every rank from a local result.

use super::{CollectiveWorld, World, hash};
use crate::error::{CallSite, Result};

impl World {
    /// Turns a local result into the same decision on every rank. Collective; costs O(log ranks)
    /// small messages, and the error texts if a rank failed.
    ///
    /// Returns `Ok` only if the result is `Ok` on every rank. If not, a rank with an error returns
    /// its own error, and the other ranks an error with the failed rank and its message. The world
    /// stays usable; an error returned from the program itself ends the run.
    ///
    /// # Errors
    /// The error of this rank, or [`ErrorKind::Remote`](crate::error::ErrorKind::Remote).
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let is_full = world.rank() == 1;
    /// let opened = if is_full { Err(zippy::Error::program("disk full")) } else { Ok(()) };
    /// let error = world.agree("opening the results", opened).unwrap_err();
    /// assert!(error.to_string().contains("disk full at "), "with the call site, on every rank");
    /// world.barrier()?;
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn agree<R>(&self, operation: &str, result: Result<R>) -> Result<R> {
        let call = CallSite::enter();
        // In a call from another crate, such as `save`, `operation` is the name of that call.
        let text = if call.is_nested() { operation.to_owned() } else { format!("agree({operation})") };
        let (call, signature) = (text, hash(("agree", operation)));
        self.collective(call, signature, || self.agree_within(operation, result))?
    }
}
