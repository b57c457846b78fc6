//! [`Painter`]: a thread that renders volumes on a device of the viewer.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use zippy::Config;
use zippy_render::volume::Look;
use zippy_view::egui::{ColorImage, Context};

use super::scene;
use crate::imaging::{Scale, Subvolume, Values};

/// Time after the last change of the request at which a picture is rendered at full quality.
const REST_TIME: Duration = Duration::from_millis(250);

/// Request for a picture of a volume.
#[derive(Clone)]
pub(crate) struct RenderRequest {
    pub cells: Arc<Values>,
    pub subvolume: Subvolume,
    /// Maps a value to its position in the transfer function.
    pub scale: Scale,
    /// Rendering settings, with the size of the picture on the screen.
    pub look: Look,
    /// True if more requests will follow soon, so that speed is more important than quality.
    pub is_moving: bool,
}

impl RenderRequest {
    /// Returns true if both requests are for the same picture, at any quality.
    fn is_same_picture(&self, other: &Self) -> bool {
        self.is_same_volume(other) && self.look == other.look
    }

    /// Returns true if both requests have the same cells and the same scale.
    pub(crate) fn is_same_volume(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cells, &other.cells) && self.subvolume == other.subvolume && self.scale == other.scale
    }
}

/// Result of a render request, or the end of the rendering thread.
pub(crate) enum RenderEvent {
    Picture {
        image: ColorImage,
        request: Box<RenderRequest>,
    },
    /// The picture of this request cannot be rendered, for this reason. Other pictures may succeed.
    Refused(String),
    /// The rendering thread has ended for this reason. No further pictures arrive.
    Ended(String),
}

/// The latest request. A new request replaces an unread one.
#[derive(Default)]
pub(super) struct Mailbox {
    state: Mutex<MailboxState>,
    changed: Condvar,
}

#[derive(Default)]
struct MailboxState {
    request: Option<Box<RenderRequest>>,
    is_closed: bool,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, MailboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, request: RenderRequest) {
        self.lock().request = Some(Box::new(request));
        self.changed.notify_all();
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits for the next render request. Returns `None` after the mailbox is closed.
    pub(super) fn next(&self) -> Option<Box<RenderRequest>> {
        let waits = |state: &mut MailboxState| !state.is_closed && state.request.is_none();
        let mut state = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { None } else { state.request.take() }
    }
}

/// Sends events to the window and wakes it.
pub(super) struct EventSender {
    events: Sender<RenderEvent>,
    window: Context,
}

impl EventSender {
    pub(super) fn send(&self, event: RenderEvent) {
        // The window may be closed already.
        let _ = self.events.send(event);
        self.window.request_repaint();
    }
}

/// Renders pictures on a thread that starts with the first request.
#[derive(Default)]
pub(crate) struct Painter {
    running: Option<Running>,
    /// Latest request, and the time of its last change.
    latest_request: Option<(RenderRequest, Instant)>,
    /// True if the picture of the latest request is complete at full quality.
    done: bool,
    /// Reason for the end of the thread.
    ended: Option<String>,
}

struct Running {
    mailbox: Arc<Mailbox>,
    events: Receiver<RenderEvent>,
    thread: Option<JoinHandle<()>>,
}

impl Painter {
    /// Requests a picture unless it equals the latest request. Pictures are fast while requests
    /// change, and have full quality after a rest.
    pub(crate) fn request(&mut self, window: &Context, mut request: RenderRequest) {
        if self.ended.is_some() {
            return;
        }
        let since = match &self.latest_request {
            Some((latest_request, since)) if latest_request.is_same_picture(&request) => *since,
            _ => Instant::now(),
        };
        let rest = REST_TIME.saturating_sub(since.elapsed());
        // The first picture of an array has full quality at once.
        let first = self
            .latest_request
            .as_ref()
            .is_none_or(|(latest_request, _)| latest_request.cells.of.array != request.cells.of.array);
        request.is_moving = !first && rest > Duration::ZERO;
        if request.is_moving {
            window.request_repaint_after(rest);
        }
        if self.latest_request.as_ref().is_some_and(|(latest_request, _)| {
            latest_request.is_same_picture(&request) && latest_request.is_moving <= request.is_moving
        }) {
            return;
        }
        (self.latest_request, self.done) = (Some((request.clone(), since)), false);
        match self.running.get_or_insert_with(|| Running::start(window)) {
            Running { thread: Some(_), mailbox, .. } => mailbox.put(request),
            Running { thread: None, .. } => self.ended = Some("no thread can be started to render".into()),
        }
    }

    /// Returns the events since the last call.
    pub(crate) fn events(&mut self) -> Vec<RenderEvent> {
        let events: Vec<RenderEvent> = self.running.iter().flat_map(|running| running.events.try_iter()).collect();
        for event in &events {
            if let (RenderEvent::Picture { request, .. }, Some((latest_request, _))) = (event, &self.latest_request) {
                self.done = latest_request.is_same_picture(request) && !latest_request.is_moving && !request.is_moving;
            }
        }
        if let Some(why) =
            events.iter().find_map(|event| if let RenderEvent::Ended(why) = event { Some(why) } else { None })
        {
            self.ended = Some(why.clone());
        }
        events
    }

    /// Returns true if the picture of the latest request is complete at full quality.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Returns the reason for the end of rendering, if it has ended.
    pub(crate) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }
}

impl Running {
    fn start(window: &Context) -> Self {
        let (mailbox, (sender, events)) = (Arc::new(Mailbox::default()), channel());
        let (inbox, event_sender) = (Arc::clone(&mailbox), EventSender { events: sender, window: window.clone() });
        let run = move || {
            // A separate run of one rank, independent of the environment of the viewer.
            let config = Config::apart(1).check(false);
            if let Err(error) = zippy::run_with(config, |world| scene::serve(world, &inbox, &event_sender)) {
                event_sender.send(RenderEvent::Ended(error.to_string()));
            }
        };
        let thread = thread::Builder::new().name("volumes".into()).spawn(run).ok();
        Self { mailbox, events, thread }
    }
}

impl Drop for Running {
    /// Wait for the thread: a driver must not be in use while the process ends.
    fn drop(&mut self) {
        self.mailbox.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
