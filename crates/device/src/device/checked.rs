//! Device errors as values: wgpu reports many of them out of line, and its default handler panics.

use super::Device;
use super::health::{InjectedFailure, Trouble};
use crate::error::DeviceError;

/// In the order in which their scopes are opened.
const FILTERS: [wgpu::ErrorFilter; 3] =
    [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];

impl Device {
    /// Makes the next operation on this device fail as if the driver had; see [`InjectedFailure`]. For tests of how
    /// failures reach other ranks.
    pub fn inject_failure(&self, failure: InjectedFailure) {
        self.logical().health.inject(failure);
    }

    /// The first error that has not been reported yet; one atomic load where all is well.
    ///
    /// # Errors
    /// The device was lost, or an earlier call that could not report an error itself failed.
    pub fn check(&self, what: &str) -> Result<(), DeviceError> {
        match self.logical().health.found_by(what) {
            None => Ok(()),
            Some(Trouble::Lost(message)) => Err(DeviceError::Lost { adapter: self.adapter().name.clone(), message }),
            Some(Trouble::OutOfMemory) => Err(self.out_of_memory(what)),
            Some(Trouble::Earlier(error)) => Err(self.translate(&format!("an operation before {what}"), &error)),
        }
    }

    /// Runs wgpu calls and turns every error that they report (validation, out of memory, internal, loss of the
    /// device) into an `Err` that names `what`.
    ///
    /// Local; nothing is waited for, so errors of work that runs later are reported by the call that waits.
    ///
    /// # Errors
    /// The first error reported, or one left over from an earlier call.
    pub fn checked<R>(&self, what: &str, f: impl FnOnce() -> R) -> Result<R, DeviceError> {
        self.check(what)?;
        // As variables of their own, so that a panic pops the last one first.
        let [internal, memory, validation] = FILTERS.map(|filter| self.raw().push_error_scope(filter));
        let result = f();
        self.caught(what, [internal, memory, validation]).map(|()| result)
    }

    /// What was caught since scopes were opened. They are popped before anything else, so that their stack stays in order.
    fn caught(
        &self,
        what: &str,
        [internal, memory, validation]: [wgpu::ErrorScopeGuard; 3],
    ) -> Result<(), DeviceError> {
        let validation = pollster::block_on(validation.pop());
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        match memory.or(validation).or(internal) {
            Some(error) => Err(self.translate(what, &error)),
            None => self.check(what),
        }
    }

    pub(super) fn out_of_memory(&self, what: &str) -> DeviceError {
        DeviceError::OutOfMemory {
            adapter: self.adapter().name.clone(),
            what: what.to_string(),
            bytes_now: self.counters().bytes_now,
        }
    }

    fn translate(&self, what: &str, error: &wgpu::Error) -> DeviceError {
        match error {
            wgpu::Error::OutOfMemory { .. } => self.out_of_memory(what),
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                DeviceError::Refused { what: what.to_string(), message: description.trim().to_string() }
            }
        }
    }
}
