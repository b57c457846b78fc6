//! Conversion of wgpu's error scopes and callbacks to [`DeviceError`].

use super::Device;
use super::health::{DeviceFailure, InjectedFailure};
use crate::error::DeviceError;

/// Error filters of the nested wgpu error scopes, the outermost first.
const FILTERS: [wgpu::ErrorFilter; 3] =
    [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];

impl Device {
    /// Simulates a failure of the driver, for tests of the behaviour of other ranks.
    pub fn inject_failure(&self, failure: InjectedFailure) {
        self.logical().health.inject(failure);
    }

    /// Reports the first unreported error, as an error of `operation`. Cost without an error: one
    /// atomic load.
    ///
    /// # Errors
    /// * The device is lost.
    /// * An earlier call failed without a report.
    pub fn check(&self, operation: &str) -> Result<(), DeviceError> {
        match self.logical().health.take_failure(operation) {
            None => Ok(()),
            Some(DeviceFailure::Lost(message)) => {
                Err(DeviceError::Lost { adapter: self.adapter().name.clone(), message })
            }
            Some(DeviceFailure::OutOfMemory) => Err(self.out_of_memory(operation)),
            Some(DeviceFailure::Earlier(error)) => {
                Err(self.to_device_error(&format!("an operation before {operation}"), &error))
            }
        }
    }

    /// Runs the wgpu calls of `f` in error scopes. Returns their first error (validation, out of
    /// memory, internal, loss of the device) as an error of `operation`.
    ///
    /// Local, without a wait: a later call that waits reports the errors of asynchronous work.
    ///
    /// # Errors
    /// * An error of the calls.
    /// * An unreported error of an earlier call.
    pub fn checked<R>(&self, operation: &str, f: impl FnOnce() -> R) -> Result<R, DeviceError> {
        self.check(operation)?;
        // Separate variables: a panic drops the last scope first, which is the order of the stack.
        let [internal, memory, validation] = FILTERS.map(|filter| self.raw().push_error_scope(filter));
        let result = f();
        self.pop_error_scopes(operation, [internal, memory, validation]).map(|()| result)
    }

    fn pop_error_scopes(
        &self,
        operation: &str,
        [internal, memory, validation]: [wgpu::ErrorScopeGuard; 3],
    ) -> Result<(), DeviceError> {
        let validation = pollster::block_on(validation.pop());
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        match memory.or(validation).or(internal) {
            Some(error) => Err(self.to_device_error(operation, &error)),
            None => self.check(operation),
        }
    }

    pub(super) fn out_of_memory(&self, operation: &str) -> DeviceError {
        DeviceError::OutOfMemory {
            adapter: self.adapter().name.clone(),
            what: operation.to_string(),
            bytes_now: self.counters().bytes_now,
        }
    }

    fn to_device_error(&self, operation: &str, error: &wgpu::Error) -> DeviceError {
        match error {
            wgpu::Error::OutOfMemory { .. } => self.out_of_memory(operation),
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                DeviceError::Refused { what: operation.to_string(), message: description.trim().to_string() }
            }
        }
    }
}
