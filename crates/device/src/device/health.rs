//! [`Health`]: errors that wgpu reports by callbacks, until an operation returns them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Simulated failure of a device, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFailure {
    /// All operations find the device lost.
    DeviceLost,
    /// The next poll panics, as wgpu does if it finds the device lost.
    LostInPoll,
    /// The next operation runs out of device memory.
    OutOfMemory,
}

/// Unreported errors of a device. wgpu's callbacks add errors from any thread.
#[derive(Default)]
pub(super) struct Health {
    /// True if `state` has an error or an injected failure.
    has_failure: AtomicBool,
    state: Mutex<FailureState>,
}

/// Failure that an operation returns.
pub(super) enum DeviceFailure {
    /// The device is lost; the message of the driver.
    Lost(String),
    /// This operation runs out of memory (injected).
    OutOfMemory,
    /// An earlier operation failed.
    Earlier(wgpu::Error),
}

#[derive(Default)]
struct FailureState {
    lost: Option<String>,
    unreported: Option<wgpu::Error>,
    injected: Option<InjectedFailure>,
}

/// Panic message of [`InjectedFailure::LostInPoll`].
pub(super) const LOST_IN_POLL_MESSAGE: &str = "injected failure, found in a poll";

impl Health {
    /// Takes an injected [`InjectedFailure::LostInPoll`]; true if one was pending.
    pub(super) fn take_poll_panic(&self) -> bool {
        !self.has_no_failure() && {
            let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            state.injected.take_if(|injected| *injected == InjectedFailure::LostInPoll).is_some()
        }
    }

    fn set(&self, change: impl FnOnce(&mut FailureState)) {
        change(&mut self.state.lock().unwrap_or_else(|e| e.into_inner()));
        self.has_failure.store(true, Ordering::Release);
    }

    pub(super) fn set_lost(&self, message: String) {
        self.set(|state| {
            state.lost.get_or_insert(message);
        });
    }

    pub(super) fn add_uncaptured(&self, error: wgpu::Error) {
        tracing::error!("uncaptured device error: {error}");
        self.set(|state| {
            state.unreported.get_or_insert(error);
        });
    }

    pub(super) fn inject(&self, failure: InjectedFailure) {
        self.set(|state| state.injected = Some(failure));
    }

    /// Returns the failure that `operation` must report. The loss of the device is reported every
    /// time, other failures once. Cost without a failure: one atomic load.
    pub(super) fn take_failure(&self, operation: &str) -> Option<DeviceFailure> {
        if self.has_no_failure() {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let injected = state.injected.take_if(|injected| *injected != InjectedFailure::LostInPoll);
        match injected {
            Some(InjectedFailure::DeviceLost) => state.lost = Some(format!("injected failure, found in {operation}")),
            Some(InjectedFailure::OutOfMemory) => return Some(DeviceFailure::OutOfMemory),
            Some(InjectedFailure::LostInPoll) | None => {}
        }
        if let Some(message) = &state.lost {
            return Some(DeviceFailure::Lost(message.clone()));
        }
        let unreported = state.unreported.take();
        self.has_failure.store(state.injected.is_some(), Ordering::Release);
        unreported.map(DeviceFailure::Earlier)
    }

    /// True if the device has no unreported failure.
    pub(super) fn has_no_failure(&self) -> bool {
        !self.has_failure.load(Ordering::Acquire)
    }
}
