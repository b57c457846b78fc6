//! What goes between a window's thread and rank 0: the window's latest wish, and the way back.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zippy::error::Error;
use zippy::{Result, World};
use zippy_view::eframe::{App, CreationContext};
use zippy_view::egui::Context;

/// How often rank 0 looks for failures of other ranks while there is nothing to do.
const POLL: Duration = Duration::from_millis(50);
/// How often it tells them that there is nothing to do, so that they do not give up waiting.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// What rank 0 does next.
pub enum Next<W> {
    Wish(Box<W>),
    Nothing,
    End,
}

/// A mailbox with the latest wish, in which older ones are lost, and a channel of events back.
pub struct Link<W, E> {
    wishes: Mutex<Wishes<W>>,
    wished: Condvar,
    events: Sender<E>,
    window: OnceLock<Context>,
}

struct Wishes<W> {
    wanted: Option<W>,
    /// Set when the window is closed, or could not be opened.
    closed: Option<Result<(), String>>,
}

impl<W, E> Link<W, E> {
    /// A link and what happens on its other end.
    pub fn new() -> (Arc<Self>, Receiver<E>) {
        let (events, happened) = channel();
        let wishes = Mutex::new(Wishes { wanted: None, closed: None });
        (Arc::new(Self { wishes, wished: Condvar::new(), events, window: OnceLock::new() }), happened)
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes<W>> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the window. Does nothing where there is none any more.
    pub fn tell(&self, event: E) {
        let _ = self.events.send(event);
        self.wake();
    }

    /// The window that is woken from now on.
    pub fn attach(&self, window: Context) {
        let _ = self.window.set(window);
        self.wake();
    }

    fn wake(&self) {
        if let Some(window) = self.window.get() {
            window.request_repaint();
        }
    }

    /// Replaces the latest wish, if it was not taken yet.
    pub fn want(&self, wanted: W) {
        self.wishes().wanted = Some(wanted);
        self.wished.notify_all();
    }

    /// Ends the ranks, with an error if there is one. The first call counts.
    pub fn close(&self, closed: Result<(), String>) {
        self.wishes().closed.get_or_insert(closed);
        self.wished.notify_all();
        self.wake();
    }

    /// Whether the ranks were told to end.
    pub fn is_closed(&self) -> bool {
        self.wishes().closed.is_some()
    }

    /// Waits for something to do, until there is or `awake` says so. On rank 0.
    ///
    /// # Errors
    /// Another rank has failed; there is no window.
    pub fn next(&self, world: &World, awake: impl Fn() -> bool) -> Result<Next<W>> {
        let since = Instant::now();
        loop {
            let mut wishes = self.wishes();
            if let Some(closed) = &wishes.closed {
                return closed.clone().map(|()| Next::End).map_err(Error::program);
            }
            if let Some(wanted) = wishes.wanted.take() {
                return Ok(Next::Wish(Box::new(wanted)));
            }
            // Not while it is held: it may ask whether this is closed.
            drop(wishes);
            if awake() || since.elapsed() >= HEARTBEAT {
                return Ok(Next::Nothing);
            }
            let nothing = |wishes: &mut Wishes<W>| wishes.closed.is_none() && wishes.wanted.is_none();
            drop(self.wished.wait_timeout_while(self.wishes(), POLL, nothing).unwrap_or_else(PoisonError::into_inner));
            world.group().alive()?;
        }
    }

    /// Runs the ranks on a thread of their own, and beside them a window with a title and a size, which must be on the calling
    /// thread, the main one: if the first event is one that `opens` it, until the window is closed or the ranks end.
    ///
    /// # Errors
    /// What ended the ranks; no display.
    pub fn beside(
        &self,
        (title, size): (&str, [f32; 2]),
        events: Receiver<E>,
        opens: impl FnOnce(E) -> bool,
        ranks: impl FnOnce() -> Result<()> + Send,
        app: impl FnOnce(&CreationContext, Receiver<E>) -> Box<dyn App>,
    ) -> Result<()> {
        thread::scope(|scope| {
            let running = thread::Builder::new().name("ranks".into()).spawn_scoped(scope, ranks);
            let running = running.map_err(|error| Error::program(format!("a thread for the ranks: {error}")))?;
            let mut closed = Ok(());
            if events.recv().is_ok_and(opens) {
                closed = zippy_view::open(title, size, move |context| app(context, events));
            }
            // The ranks, if they still run, end with the window, and with its error.
            let closed = closed.map_err(|error| error.to_string());
            self.close(closed.clone());
            let ended = running.join().unwrap_or_else(|_| Err(Error::program("the thread of the ranks panicked")));
            ended.and(closed.map_err(Error::program))
        })
    }
}
