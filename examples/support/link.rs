//! Communication between the window's thread and rank 0: the latest request of the window, and
//! events from the ranks.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zippy::error::Error;
use zippy::{Result, World};
use zippy_view::eframe::{App, CreationContext};
use zippy_view::egui::Context;

/// Interval at which an idle rank 0 checks for failures of other ranks.
const POLL: Duration = Duration::from_millis(50);
/// Interval at which an idle rank 0 returns [`Next::Nothing`], so that other ranks do not time out.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// Next action of rank 0.
pub enum Next<R> {
    Request(Box<R>),
    Nothing,
    End,
}

/// Mailbox for the latest request, which replaces an earlier one that was not taken, and a channel
/// of events to the window.
pub struct Link<R, E> {
    mailbox: Mutex<Mailbox<R>>,
    changed: Condvar,
    events: Sender<E>,
    window: OnceLock<Context>,
}

struct Mailbox<R> {
    request: Option<R>,
    /// Set when the window is closed or could not be opened.
    closed: Option<Result<(), String>>,
}

impl<R, E> Link<R, E> {
    /// Creates a link and the receiver of its events.
    pub fn new() -> (Arc<Self>, Receiver<E>) {
        let (events, receiver) = channel();
        let mailbox = Mutex::new(Mailbox { request: None, closed: None });
        (Arc::new(Self { mailbox, changed: Condvar::new(), events, window: OnceLock::new() }), receiver)
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox<R>> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an event to the window. Does nothing after the window is closed.
    pub fn send_event(&self, event: E) {
        let _ = self.events.send(event);
        self.wake();
    }

    /// Sets the window that is repainted after events.
    pub fn attach(&self, window: Context) {
        let _ = self.window.set(window);
        self.wake();
    }

    fn wake(&self) {
        if let Some(window) = self.window.get() {
            window.request_repaint();
        }
    }

    /// Sets the next request; replaces an earlier request that was not taken.
    pub fn request(&self, request: R) {
        self.mailbox().request = Some(request);
        self.changed.notify_all();
    }

    /// Ends the ranks, with an error if `closed` is one. Only the first call has an effect.
    pub fn close(&self, closed: Result<(), String>) {
        self.mailbox().closed.get_or_insert(closed);
        self.changed.notify_all();
        self.wake();
    }

    /// True after [`close`](Self::close).
    pub fn is_closed(&self) -> bool {
        self.mailbox().closed.is_some()
    }

    /// Waits for a request or for the end. Returns [`Next::Nothing`] when `awake` returns true and
    /// after the heartbeat interval. Called on rank 0.
    ///
    /// # Errors
    /// A failure of another rank; a window that could not be opened.
    pub fn next(&self, world: &World, awake: impl Fn() -> bool) -> Result<Next<R>> {
        let start = Instant::now();
        loop {
            let mut mailbox = self.mailbox();
            if let Some(closed) = &mailbox.closed {
                return closed.clone().map(|()| Next::End).map_err(Error::program);
            }
            if let Some(request) = mailbox.request.take() {
                return Ok(Next::Request(Box::new(request)));
            }
            // Unlocked here: `awake` may call `is_closed`.
            drop(mailbox);
            if awake() || start.elapsed() >= HEARTBEAT {
                return Ok(Next::Nothing);
            }
            let is_empty = |mailbox: &mut Mailbox<R>| mailbox.closed.is_none() && mailbox.request.is_none();
            drop(
                self.changed.wait_timeout_while(self.mailbox(), POLL, is_empty).unwrap_or_else(PoisonError::into_inner),
            );
            world.group().alive()?;
        }
    }

    /// Runs `ranks` on a separate thread and a window with a title and a size on the calling
    /// thread, which must be the main thread.
    ///
    /// The window opens if `opens_window` returns true for the first event. It stays open until the
    /// user closes it or the ranks end.
    ///
    /// # Errors
    /// The error that ended the ranks; no display.
    pub fn run_with_window(
        &self,
        (title, size): (&str, [f32; 2]),
        events: Receiver<E>,
        opens_window: impl FnOnce(E) -> bool,
        ranks: impl FnOnce() -> Result<()> + Send,
        app: impl FnOnce(&CreationContext<'_>, Receiver<E>) -> Box<dyn App>,
    ) -> Result<()> {
        thread::scope(|scope| {
            let running = thread::Builder::new().name("ranks".into()).spawn_scoped(scope, ranks);
            let running =
                running.map_err(|error| Error::program(format!("cannot create the thread of the ranks: {error}")))?;
            let mut closed = Ok(());
            if events.recv().is_ok_and(opens_window) {
                closed = zippy_view::open(title, size, move |context| app(context, events));
            }
            // Ranks that still run end with the window, and with its error.
            let closed = closed.map_err(|error| error.to_string());
            self.close(closed.clone());
            let ended = running.join().unwrap_or_else(|_| Err(Error::program("the thread of the ranks panicked")));
            ended.and(closed.map_err(Error::program))
        })
    }
}
