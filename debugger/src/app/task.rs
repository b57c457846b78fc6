//! [`Task`]: work on a separate thread that requests cells through the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use zippy_protocol::{View, ViewRequest};
use zippy_view::egui::Context;

use super::store::Store;
use crate::client::gather;

/// Running work on a thread. A drop cancels the work without a wait for its end.
pub(super) struct Task<T> {
    channel: Option<Channel>,
    /// Result of the work. The channel closes without a result after a panic.
    done: Receiver<Result<T, String>>,
    cancelled: Arc<AtomicBool>,
    /// Pending request of the work: index of the store, request, and epoch of the request.
    pending: Option<(usize, ViewRequest, u64)>,
    /// Bytes of cells that were received so far.
    pub fetched: usize,
}

struct Channel {
    requests: Receiver<(usize, ViewRequest)>,
    answers: Sender<Result<View, String>>,
}

/// Source of cells for work on a separate thread, which cannot read the stores itself.
pub(super) struct Source {
    requests: Sender<(usize, ViewRequest)>,
    answers: Receiver<Result<View, String>>,
    cancelled: Arc<AtomicBool>,
    window: Context,
}

/// Wakes the window at the end of the work, also after a panic.
struct WakeOnDrop(Context);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.0.request_repaint();
    }
}

/// Error texts of work that ended without a result.
const CANCELLED: &str = "cancelled before it was done";
const PANICKED: &str = "it panicked";

impl Source {
    /// Returns all cells of a box, of `cell_bytes` bytes each. `store` is the index of a store in
    /// the arguments of [`Task::poll`].
    ///
    /// # Errors
    /// As [`gather`], and after a cancellation.
    pub(super) fn cells(&self, store: usize, request: &ViewRequest, cell_bytes: usize) -> Result<View, String> {
        gather(request, cell_bytes, |part| {
            self.requests.send((store, part)).map_err(|_| CANCELLED)?;
            self.window.request_repaint();
            self.answers.recv().map_err(|_| CANCELLED)?
        })
    }

    /// Checks for a cancellation. Long work must call this function from time to time.
    ///
    /// # Errors
    /// The work is cancelled.
    pub(super) fn check_cancelled(&self) -> Result<(), String> {
        if self.cancelled.load(Ordering::Relaxed) { Err(CANCELLED.into()) } else { Ok(()) }
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts the work. Its requests and its end wake the window.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(
        window: &Context,
        work: impl FnOnce(&Source) -> Result<T, String> + Send + 'static,
    ) -> Result<Self, String> {
        let ((requests, request_receiver), (answers, answer_receiver)) = (channel(), channel());
        let cancelled = Arc::new(AtomicBool::new(false));
        let source =
            Source { requests, answers: answer_receiver, cancelled: Arc::clone(&cancelled), window: window.clone() };
        let (result_sender, done) = channel();
        let wake_on_drop = WakeOnDrop(window.clone());
        let run = move || {
            // Dropped last, after the result is sent or lost.
            let _wake_on_drop = wake_on_drop;
            let (result_sender, source) = (result_sender, source);
            let _ = result_sender.send(work(&source));
        };
        let thread = thread::Builder::new().name("task".into()).spawn(run);
        thread.map_err(|error| format!("no thread can be started: {error}"))?;
        let channel = Some(Channel { requests: request_receiver, answers });
        Ok(Self { channel, done, cancelled, pending: None, fetched: 0 })
    }

    /// Passes requests of the work to the stores. Returns the result after the end of the work.
    pub(super) fn poll(&mut self, stores: &mut [&mut Store]) -> Option<Result<T, String>> {
        while let Some(channel) = &self.channel {
            if let Some((index, request, since)) = &self.pending {
                let answer = match stores.get_mut(*index) {
                    Some(store) => store.view_since(request, *since)?,
                    None => Err("there is no such program".into()),
                };
                self.fetched += answer.as_ref().map_or(0, |view| view.cells.len());
                // After the end of the work, the receiver no longer exists.
                let _ = channel.answers.send(answer);
                self.pending = None;
            }
            match channel.requests.try_recv() {
                Ok((index, request)) => {
                    let since = stores.get(index).map_or(0, |store| store.epoch());
                    self.pending = Some((index, request, since));
                }
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => self.channel = None,
            }
        }
        // Frames never wait for a thread.
        match self.done.try_recv() {
            Err(TryRecvError::Empty) => None,
            done => Some(done.unwrap_or_else(|_| Err(PANICKED.into()))),
        }
    }

    /// Waits for the end of the work and returns its result.
    pub(super) fn wait(&mut self) -> Result<T, String> {
        self.channel = None;
        self.done.recv().unwrap_or_else(|_| Err(PANICKED.into()))
    }
}

impl<T> Task<T> {
    /// Cancels the work. The work may still complete its last action; its result then reports it.
    pub(super) fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.channel = None;
    }

    /// Returns true after [`cancel`](Self::cancel).
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}
