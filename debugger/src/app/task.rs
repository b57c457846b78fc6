//! [`Task`]: work on a thread of its own, which has the window ask for the cells that it needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use zippy::debug::protocol::{View, ViewRequest};
use zippy_view::egui::Context;

use super::store::Store;
use crate::client::gather;

/// Work that is under way. Dropped, it is cancelled, and nobody waits for its end.
pub struct Task<T> {
    channel: Option<Channel>,
    /// Result of the task; none after a panic.
    done: Receiver<Result<T, String>>,
    cancelled: Arc<AtomicBool>,
    /// What is being asked for, in which store, and since when.
    asked: Option<(usize, ViewRequest, u64)>,
    /// Bytes of cells that have come.
    pub fetched: usize,
}

struct Channel {
    wants: Receiver<(usize, ViewRequest)>,
    answers: Sender<Result<View, String>>,
}

/// Where the work gets its cells.
pub struct Source {
    wants: Sender<(usize, ViewRequest)>,
    answers: Receiver<Result<View, String>>,
    cancelled: Arc<AtomicBool>,
    window: Context,
}

/// Wakes the window when the work is over, also by a panic.
struct Over(Context);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.request_repaint();
    }
}

/// Why work ends before it is done.
const CANCELLED: &str = "cancelled before it was done";
const PANICKED: &str = "it panicked";

impl Source {
    /// All cells of a box, `cell_bytes` each, of the program that the store of this place is of.
    ///
    /// # Errors
    /// What [`gather`] says; the work is cancelled.
    pub fn cells(&self, store: usize, request: &ViewRequest, cell_bytes: usize) -> Result<View, String> {
        gather(request, cell_bytes, |part| {
            self.wants.send((store, part)).map_err(|_| CANCELLED)?;
            self.window.request_repaint();
            self.answers.recv().map_err(|_| CANCELLED)?
        })
    }

    /// To be asked now and then by long work.
    ///
    /// # Errors
    /// The work is cancelled.
    pub fn go_on(&self) -> Result<(), String> {
        if self.cancelled.load(Ordering::Relaxed) { Err(CANCELLED.into()) } else { Ok(()) }
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts the task. Its requests and its end wake the window.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(
        window: &Context,
        work: impl FnOnce(&Source) -> Result<T, String> + Send + 'static,
    ) -> Result<Self, String> {
        let ((wants, wanted), (answers, answered)) = (channel(), channel());
        let cancelled = Arc::new(AtomicBool::new(false));
        let source = Source { wants, answers: answered, cancelled: Arc::clone(&cancelled), window: window.clone() };
        let (ends, done) = channel();
        let over = Over(window.clone());
        let run = move || {
            // Dropped last, when the result has been sent, or can be no more.
            let _over = over;
            let (ends, source) = (ends, source);
            let _ = ends.send(work(&source));
        };
        let thread = thread::Builder::new().name("task".into()).spawn(run);
        thread.map_err(|error| format!("no thread can be started: {error}"))?;
        let channel = Some(Channel { wants: wanted, answers });
        Ok(Self { channel, done, cancelled, asked: None, fetched: 0 })
    }

    /// Asks these stores for what it needs next; what has come of it, once it has ended.
    pub fn go_on(&mut self, stores: &mut [&mut Store]) -> Option<Result<T, String>> {
        while let Some(channel) = &self.channel {
            if let Some((place, request, since)) = &self.asked {
                let answer = match stores.get_mut(*place) {
                    Some(store) => store.view_since(request, *since)?,
                    None => Err("there is no such program".into()),
                };
                self.fetched += answer.as_ref().map_or(0, |view| view.cells.len());
                // Where the work has ended meanwhile, its result is taken below.
                let _ = channel.answers.send(answer);
                self.asked = None;
            }
            match channel.wants.try_recv() {
                Ok((place, request)) => {
                    let since = stores.get(place).map_or(0, |store| store.epoch());
                    self.asked = Some((place, request, since));
                }
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => self.channel = None,
            }
        }
        // No frame waits for a thread.
        match self.done.try_recv() {
            Err(TryRecvError::Empty) => None,
            done => Some(done.unwrap_or_else(|_| Err(PANICKED.into()))),
        }
    }

    /// Waits for its end, and hands back what has come of it.
    pub fn wait(&mut self) -> Result<T, String> {
        self.channel = None;
        self.done.recv().unwrap_or_else(|_| Err(PANICKED.into()))
    }
}

impl<T> Task<T> {
    /// Tells it to end. What it was about to do may be done nevertheless: its result says so.
    pub fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.channel = None;
    }

    /// Whether it was told to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}
