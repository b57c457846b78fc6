//! [`Painter`]: a thread that renders volumes on a device of the viewer's own, where there is one.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use zippy::Config;
use zippy_render::volume::Look;
use zippy_view::egui::{ColorImage, Context};

use super::scene;
use crate::look::{Scale, Subvolume, Values};

/// So long after the last change a picture is rendered in full.
const REST: Duration = Duration::from_millis(250);

/// A picture that is wanted.
#[derive(Clone)]
pub struct Wish {
    pub cells: Arc<Values>,
    pub subvolume: Subvolume,
    /// What of it a cell's value is decides its colour and opacity.
    pub scale: Scale,
    /// Of the size that the picture has on the screen.
    pub look: Look,
    /// Whether more will follow soon: a quick picture is better than a fine one.
    pub moving: bool,
}

impl Wish {
    /// Whether this is the same picture, be it quick or fine.
    fn is(&self, other: &Self) -> bool {
        self.volume_is(other) && self.look == other.look
    }

    /// Whether it is of the same cells on the same scale.
    pub fn volume_is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cells, &other.cells) && self.subvolume == other.subvolume && self.scale == other.scale
    }
}

/// What has become of a wish.
pub enum Told {
    Picture {
        image: ColorImage,
        wish: Box<Wish>,
    },
    /// It could not be rendered; others may be.
    Refused(String),
    /// None can be rendered any more.
    Ended(String),
}

/// The latest wish; older ones are lost.
#[derive(Default)]
pub struct Mailbox {
    inside: Mutex<Inside>,
    changed: Condvar,
}

#[derive(Default)]
struct Inside {
    wish: Option<Box<Wish>>,
    closed: bool,
}

impl Mailbox {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, wish: Wish) {
        self.inside().wish = Some(Box::new(wish));
        self.changed.notify_all();
    }

    fn close(&self) {
        self.inside().closed = true;
        self.changed.notify_all();
    }

    /// Waits for a wish; none when there will be no more.
    pub fn next(&self) -> Option<Box<Wish>> {
        let waits = |inside: &mut Inside| !inside.closed && inside.wish.is_none();
        let mut inside = self.changed.wait_while(self.inside(), waits).unwrap_or_else(PoisonError::into_inner);
        if inside.closed { None } else { inside.wish.take() }
    }
}

/// The way to what is told, and a window that is woken by it.
pub struct Teller {
    told: Sender<Told>,
    window: Context,
}

impl Teller {
    pub fn tell(&self, told: Told) {
        // Nobody looks any more where the window is gone.
        let _ = self.told.send(told);
        self.window.request_repaint();
    }
}

/// Starts its thread with the first wish.
#[derive(Default)]
pub struct Painter {
    running: Option<Running>,
    /// What was wanted last, and since when.
    asked: Option<(Wish, Instant)>,
    /// Whether that has come, in full.
    done: bool,
    /// Why it renders no more.
    ended: Option<String>,
}

struct Running {
    mailbox: Arc<Mailbox>,
    told: Receiver<Told>,
    thread: Option<JoinHandle<()>>,
}

impl Painter {
    /// Renders this next, if it is another picture than the last one: quickly while it changes, in full when it has come to rest.
    pub fn want(&mut self, window: &Context, mut wish: Wish) {
        if self.ended.is_some() {
            return;
        }
        let since = match &self.asked {
            Some((asked, since)) if asked.is(&wish) => *since,
            _ => Instant::now(),
        };
        let rest = REST.saturating_sub(since.elapsed());
        // The first picture of an array is one to look at.
        let first = self.asked.as_ref().is_none_or(|(asked, _)| asked.cells.of.array != wish.cells.of.array);
        wish.moving = !first && rest > Duration::ZERO;
        if wish.moving {
            window.request_repaint_after(rest);
        }
        if self.asked.as_ref().is_some_and(|(asked, _)| asked.is(&wish) && asked.moving <= wish.moving) {
            return;
        }
        (self.asked, self.done) = (Some((wish.clone(), since)), false);
        match self.running.get_or_insert_with(|| Running::start(window)) {
            Running { thread: Some(_), mailbox, .. } => mailbox.put(wish),
            Running { thread: None, .. } => self.ended = Some("no thread can be started to render".into()),
        }
    }

    /// What was told since the last call.
    pub fn told(&mut self) -> Vec<Told> {
        let told: Vec<Told> = self.running.iter().flat_map(|running| running.told.try_iter()).collect();
        for told in &told {
            if let (Told::Picture { wish, .. }, Some((asked, _))) = (told, &self.asked) {
                self.done = asked.is(wish) && !asked.moving && !wish.moving;
            }
        }
        if let Some(why) = told.iter().find_map(|told| if let Told::Ended(why) = told { Some(why) } else { None }) {
            self.ended = Some(why.clone());
        }
        told
    }

    /// Whether the latest picture that was wanted has come, in full.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Why there are no pictures, if there are none.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }
}

impl Running {
    fn start(window: &Context) -> Self {
        let (mailbox, (sender, told)) = (Arc::new(Mailbox::default()), channel());
        let (inbox, teller) = (Arc::clone(&mailbox), Teller { told: sender, window: window.clone() });
        let run = move || {
            // One rank, whatever started the viewer.
            let config = Config::apart(1).check(false);
            if let Err(error) = zippy::run_with(config, |world| scene::serve(world, &inbox, &teller)) {
                teller.tell(Told::Ended(error.to_string()));
            }
        };
        let thread = thread::Builder::new().name("volumes".into()).spawn(run).ok();
        Self { mailbox, told, thread }
    }
}

impl Drop for Running {
    /// A driver must not be used while the process ends.
    fn drop(&mut self) {
        self.mailbox.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
