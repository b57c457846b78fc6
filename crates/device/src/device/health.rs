//! What has gone wrong out of line: wgpu reports many errors by callbacks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A failure to be provoked, so that programs and tests can see how they cope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFailure {
    /// The next operation finds the device lost, and so does every later one.
    DeviceLost,
    /// wgpu panics when the device is polled next, as it does where it finds the device lost then.
    LostInPoll,
    /// The next operation runs out of device memory; later ones go on.
    OutOfMemory,
}

/// What has gone wrong and has not been told yet. Written by wgpu's callbacks from any thread.
#[derive(Default)]
pub(super) struct Health {
    /// Something is set below.
    troubled: AtomicBool,
    state: Mutex<State>,
}

/// What an operation finds to have gone wrong.
pub(super) enum Trouble {
    /// The device is lost, with a message.
    Lost(String),
    /// This operation is to run out of memory.
    OutOfMemory,
    /// An earlier operation failed.
    Earlier(wgpu::Error),
}

#[derive(Default)]
struct State {
    lost: Option<String>,
    untold: Option<wgpu::Error>,
    injected: Option<InjectedFailure>,
}

/// What wgpu panics with where [`InjectedFailure::LostInPoll`] is set.
pub(super) const LOST_IN_POLL: &str = "injected failure, found in a poll";

impl Health {
    /// Whether the poll that is to begin panics.
    pub fn poll_panics(&self) -> bool {
        !self.is_well() && {
            let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            state.injected.take_if(|injected| *injected == InjectedFailure::LostInPoll).is_some()
        }
    }

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

    pub fn inject(&self, failure: InjectedFailure) {
        self.set(|state| state.injected = Some(failure));
    }

    /// What `operation` finds: a loss again and again, all else once. One atomic load where all is well.
    pub fn found_by(&self, operation: &str) -> Option<Trouble> {
        if self.is_well() {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let now = state.injected.take_if(|injected| *injected != InjectedFailure::LostInPoll);
        match now {
            Some(InjectedFailure::DeviceLost) => state.lost = Some(format!("injected failure, found in {operation}")),
            Some(InjectedFailure::OutOfMemory) => return Some(Trouble::OutOfMemory),
            Some(InjectedFailure::LostInPoll) | None => {}
        }
        if let Some(message) = &state.lost {
            return Some(Trouble::Lost(message.clone()));
        }
        let untold = state.untold.take();
        self.troubled.store(state.injected.is_some(), Ordering::Release);
        untold.map(Trouble::Earlier)
    }

    /// Nothing has gone wrong that was not told.
    pub fn is_well(&self) -> bool {
        !self.troubled.load(Ordering::Acquire)
    }
}
