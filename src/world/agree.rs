//! `World::agree`: the same decision on every rank from a local result.

use super::{World, hash};
use crate::error::{CallSite, Error, ErrorKind, Result};
use crate::transport::{copied, decoded, encoded};

impl World {
    /// Turns a local result into the same decision on every rank. Collective; costs O(log ranks)
    /// small messages, and the error texts if a rank failed.
    ///
    /// Returns `Ok` only if the result is `Ok` on every rank. If not, a rank with an error returns
    /// its own error, and the other ranks an error with the failed rank and its message. The world
    /// stays usable; an error returned from the program itself ends the run.
    ///
    /// # Errors
    /// The error of this rank, or [`ErrorKind::Remote`].
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

    /// [`agree`](Self::agree) inside of a collective
    /// ([`run_collective`](Self::run_collective)). The inner result is the decision, with the same
    /// variant on every rank. Collective.
    ///
    /// # Errors
    /// A failure of any rank, which ends the run.
    #[track_caller]
    pub fn agree_within<R>(&self, operation: &str, result: Result<R>) -> Result<Result<R>> {
        let _call = CallSite::enter();
        // Empty bytes mean success.
        let failure = match &result {
            Ok(_) => copied::<u8>(&[]),
            Err(error) => encoded(&(error.kind().to_string(), error.call_site()))?,
        };
        // In the case without errors only a flag travels.
        let mut failed = [u64::from(result.is_err())];
        self.inner.all_reduce(&mut failed, |sum, count| *sum += count)?;
        let failures = if failed == [0] { Vec::new() } else { self.inner.all_gather_v(failure)? };
        let value = match result {
            Err(error) => return Ok(Err(error)),
            Ok(value) => value,
        };
        let mut failed = failures.iter().enumerate().filter(|(_, failure)| !(***failure).as_ref().is_empty());
        let Some((rank, failure)) = failed.next() else { return Ok(Ok(value)) };
        let (message, call_site) = decoded(failure)?;
        let kind = ErrorKind::Remote { rank, operation: operation.to_string(), message };
        Ok(Err(Error::new(kind, call_site)))
    }
}
