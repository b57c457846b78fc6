//! Device errors as values: wgpu reports many of them out of line, and its default handler panics.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Device;
use crate::error::DeviceError;

/// A failure to be provoked, so that programs and tests can see how they cope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFailure {
    /// The next operation finds the device lost, and so does every later one.
    DeviceLost,
    /// The next operation runs out of device memory; later ones go on.
    OutOfMemory,
}

/// In the order in which their scopes are opened.
const FILTERS: [wgpu::ErrorFilter; 3] =
    [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];

/// What has gone wrong and has not been told yet. Written by wgpu's callbacks from any thread.
#[derive(Default)]
pub(super) struct Health {
    /// Something is set below.
    troubled: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lost: Option<String>,
    untold: Option<wgpu::Error>,
    injected: Option<InjectedFailure>,
}

impl Health {
    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(|e| e.into_inner()));
        self.troubled.store(true, Ordering::Release);
    }

    pub fn lose(&self, message: String) {
        self.set(|state| {
            state.lost.get_or_insert(message);
        });
    }

    pub fn uncaptured(&self, error: wgpu::Error) {
        tracing::error!("uncaptured device error: {error}");
        self.set(|state| {
            state.untold.get_or_insert(error);
        });
    }

    /// Nothing has gone wrong that was not told.
    pub fn is_well(&self) -> bool {
        !self.troubled.load(Ordering::Acquire)
    }
}

impl Device {
    /// Makes the next operation on this device fail as if the driver had; see [`InjectedFailure`]. For tests of how
    /// failures reach other ranks.
    pub fn inject_failure(&self, failure: InjectedFailure) {
        self.core().health.set(|state| state.injected = Some(failure));
    }

    /// The first error that has not been reported yet; one atomic load where all is well.
    ///
    /// # Errors
    /// The device was lost, or an earlier call that could not report an error itself failed.
    pub fn check(&self, what: &str) -> Result<(), DeviceError> {
        let health = &self.core().health;
        if !health.troubled.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = health.state.lock().unwrap_or_else(|e| e.into_inner());
        match state.injected.take() {
            Some(InjectedFailure::DeviceLost) => state.lost = Some(format!("injected failure, found in {what}")),
            Some(InjectedFailure::OutOfMemory) => return Err(self.out_of_memory(what)),
            None => {}
        }
        if let Some(message) = &state.lost {
            return Err(DeviceError::Lost { adapter: self.adapter().name.clone(), message: message.clone() });
        }
        let untold = state.untold.take();
        health.troubled.store(false, Ordering::Release);
        drop(state);
        match untold {
            Some(error) => Err(self.translate(&format!("an operation before {what}"), &error)),
            None => Ok(()),
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
