//! [`Link`]: communication between the window's thread and rank 0.

use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use egui::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zippy::error::CallSite;
use zippy::transport::Payload;
use zippy::{Error, Result, World};

use super::view::{FinishedPicture, Request, View};
use crate::WindowError;

/// Interval at which rank 0, while it waits for a request, checks for failures of other ranks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval at which an idle rank 0 returns [`Next::Nothing`], so that other ranks do not time out.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);

/// Next action of rank 0.
pub enum Next<S> {
    /// Render the picture of this request.
    Request(Box<Request<S>>),
    /// No request so far: let the other ranks know that rank 0 still waits.
    Nothing,
    /// End the ranks: the window is closed.
    End,
}

/// Event that the ranks send to the window.
pub(super) enum Event<V: View> {
    /// The ranks have started, and rank 0 is in this process.
    Started,
    Ready(Box<V::Setup>),
    Picture(Box<FinishedPicture<V::Details>>),
    /// A request failed with this message; the ranks continue.
    Refused(String),
    Other(V::Event),
    /// The ranks have ended, with or without an error.
    Ended,
}

/// Mailbox for the latest request, which replaces an earlier one that was not taken, and a channel
/// of events to the window.
pub struct Link<V: View> {
    mailbox: Mutex<Mailbox<V::Settings>>,
    changed: Condvar,
    events: Sender<Event<V>>,
    window: OnceLock<Context>,
}

struct Mailbox<S> {
    request: Option<Request<S>>,
    /// Set when the window is closed or could not be opened.
    closed: Option<Result<(), WindowError>>,
}

impl<V: View> Link<V> {
    pub(super) fn new(events: Sender<Event<V>>) -> Self {
        let mailbox = Mutex::new(Mailbox { request: None, closed: None });
        Self { mailbox, changed: Condvar::new(), events, window: OnceLock::new() }
    }

    fn lock_mailbox(&self) -> MutexGuard<'_, Mailbox<V::Settings>> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an event to the window. Does nothing after the window is closed.
    pub(super) fn send(&self, event: Event<V>) {
        let _ = self.events.send(event);
        self.repaint_window();
    }

    /// Sets the window that is repainted after events.
    pub(super) fn attach(&self, window: Context) {
        let _ = self.window.set(window);
        self.repaint_window();
    }

    fn repaint_window(&self) {
        if let Some(window) = self.window.get() {
            window.request_repaint();
        }
    }

    /// Reports that the ranks have started; the process of rank 0 opens the window. Must be called
    /// by every rank, before other events.
    pub fn started(&self, world: &World) {
        if world.rank() == 0 {
            self.send(Event::Started);
        }
    }

    /// Sends the initial state of rank 0 to the window. Must be called by every rank.
    pub fn send_setup(&self, world: &World, setup: V::Setup) {
        if world.rank() == 0 {
            self.send(Event::Ready(Box::new(setup)));
        }
    }

    /// Sends a picture to the window. Called on rank 0.
    pub fn send_picture(&self, finished: FinishedPicture<V::Details>) {
        self.send(Event::Picture(Box::new(finished)));
    }

    /// Sends an event other than a picture to the window. Called on rank 0.
    pub fn send_event(&self, event: V::Event) {
        self.send(Event::Other(event));
    }

    /// Shows the error of a request in the window if all ranks are able to continue. Must be called
    /// by every rank.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn refuse(&self, world: &World, error: &Error) -> Result<()> {
        let _call = CallSite::enter();
        world.group().alive()?;
        if world.rank() == 0 {
            self.send(Event::Refused(error.to_string()));
        }
        Ok(())
    }

    /// Sets the next request; replaces an earlier request that was not taken.
    pub(super) fn request(&self, request: Request<V::Settings>) {
        self.lock_mailbox().request = Some(request);
        self.changed.notify_all();
    }

    /// Ends the ranks, with an error if `closed` is one. Only the first call has an effect.
    pub fn close(&self, closed: Result<(), WindowError>) {
        self.lock_mailbox().closed.get_or_insert(closed);
        self.changed.notify_all();
        self.repaint_window();
    }

    /// True after [`close`](Self::close).
    pub fn is_closed(&self) -> bool {
        self.lock_mailbox().closed.is_some()
    }

    /// Waits for a request or for the end. Returns [`Next::Nothing`] when `awake` returns true and
    /// after the heartbeat interval. Called on rank 0.
    ///
    /// # Errors
    /// A failure of another rank; a window that could not be opened.
    #[track_caller]
    pub fn next(&self, world: &World, awake: impl Fn() -> bool) -> Result<Next<V::Settings>> {
        let _call = CallSite::enter();
        let start = Instant::now();
        loop {
            let mut mailbox = self.lock_mailbox();
            if let Some(closed) = &mailbox.closed {
                return closed.clone().map(|()| Next::End).map_err(|error| Error::program(error.to_string()));
            }
            if let Some(request) = mailbox.request.take() {
                return Ok(Next::Request(Box::new(request)));
            }
            // Unlocked here: `awake` may call `is_closed`.
            drop(mailbox);
            if awake() || start.elapsed() >= HEARTBEAT_INTERVAL {
                return Ok(Next::Nothing);
            }
            let is_empty = |mailbox: &mut Mailbox<V::Settings>| mailbox.closed.is_none() && mailbox.request.is_none();
            drop(
                self.changed
                    .wait_timeout_while(self.lock_mailbox(), POLL_INTERVAL, is_empty)
                    .unwrap_or_else(PoisonError::into_inner),
            );
            world.group().alive()?;
        }
    }
}

/// Makes a command on rank 0 and returns it on every rank. Collective.
///
/// # Errors
/// The error of `make`, on rank 0 alone; a failure of any rank.
#[track_caller]
pub fn command_of_rank_0<C>(world: &World, make: impl FnOnce() -> Result<C>) -> Result<C>
where
    C: Serialize + DeserializeOwned,
{
    let _call = CallSite::enter();
    let unreadable = |error: postcard::Error| Error::program(format!("a command of rank 0: {error}"));
    let bytes = if world.rank() == 0 { Some(postcard::to_allocvec(&make()?).map_err(unreadable)?) } else { None };
    let bytes = world.group().broadcast(0, bytes.map(|bytes| Box::new(bytes) as Payload))?;
    postcard::from_bytes(bytes.as_ref().as_ref()).map_err(unreadable)
}
