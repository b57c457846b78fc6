//! What goes between the window's thread and rank 0.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use zippy::error::Error;
use zippy::{Result, World};
use zippy_render::volume::Look;
use zippy_view::egui::{ColorImage, Context};
use zippy_view::panels::Timing;

use crate::isosurface::Isosurface;
use crate::setting::Setting;

/// How often rank 0 looks for failures of other ranks while there is nothing to do.
const POLL: Duration = Duration::from_millis(50);
/// How often it tells them that there is nothing to do, so that they do not give up waiting.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// What the window wants to see.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// With the size of the picture on the screen.
    pub look: Look,
    /// The isosurface in the volume, if there is to be one.
    pub isosurface: Option<Isosurface>,
    /// Whether more will follow soon: a quick picture is better than a fine one.
    pub moving: bool,
}

/// A picture for the window.
pub struct Shown {
    pub image: ColorImage,
    pub moving: bool,
    /// From the wish to the picture.
    pub secs: f64,
    pub timings: Vec<Timing>,
}

/// What happens on the ranks.
pub enum Event {
    /// Rank 0 is in this process.
    Started,
    Ready(Box<Setting>),
    Picture(Box<Shown>),
    /// A picture that could not be made; the ranks go on.
    Refused(String),
    /// The ranks have ended, for whatever reason.
    Ended,
}

/// What rank 0 does next.
pub enum Next {
    Render(Box<Wanted>),
    Nothing,
    End,
}

/// The window's latest wish, and the way back.
pub struct Link {
    wishes: Mutex<Wishes>,
    wished: Condvar,
    events: Sender<Event>,
    window: OnceLock<Context>,
}

#[derive(Default)]
struct Wishes {
    wanted: Option<Wanted>,
    /// Set when the window is closed, or could not be opened.
    closed: Option<Result<(), String>>,
}

impl Link {
    /// A link and what happens on its other end.
    pub fn new() -> (Arc<Self>, Receiver<Event>) {
        let (events, happened) = channel();
        let (wishes, wished) = (Mutex::default(), Condvar::new());
        (Arc::new(Self { wishes, wished, events, window: OnceLock::new() }), happened)
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the window. Does nothing where there is none any more.
    pub fn tell(&self, event: Event) {
        let _ = self.events.send(event);
        self.wake();
    }

    /// The ranks have started; the process of rank 0 opens the window.
    pub fn started(&self, world: &World) {
        if world.rank() == 0 {
            self.tell(Event::Started);
        }
    }

    /// Tells the window, if there is one, that the ranks have ended.
    pub fn ended(&self) {
        self.tell(Event::Ended);
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
    pub fn want(&self, wanted: Wanted) {
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

    /// Waits for something to do. On rank 0.
    ///
    /// # Errors
    /// Another rank has failed; there is no window.
    pub fn next(&self, world: &World) -> Result<Next> {
        let since = Instant::now();
        let mut wishes = self.wishes();
        loop {
            if let Some(closed) = &wishes.closed {
                return closed.clone().map(|()| Next::End).map_err(Error::program);
            }
            if let Some(wanted) = wishes.wanted.take() {
                return Ok(Next::Render(Box::new(wanted)));
            }
            if since.elapsed() >= HEARTBEAT {
                return Ok(Next::Nothing);
            }
            wishes = self.wished.wait_timeout(wishes, POLL).unwrap_or_else(PoisonError::into_inner).0;
            world.group().alive()?;
        }
    }
}
