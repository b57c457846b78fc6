//! Window on the main thread. Ranks of the same program render its pictures on other threads.
//!
//! The program implements [`View`], the content of the window, and calls [`run`]. The window puts
//! its latest [`Request`] into the [`Link`]. Rank 0 takes it with [`Link::next`] and broadcasts a
//! command with [`command_of_rank_0`], all ranks render, and rank 0 sends the [`FinishedPicture`]
//! back. While the user changes settings, requests are `moving`; a picture of full quality follows
//! at rest. A process without rank 0 opens no window.

mod link;
mod pacing;
mod shell;
mod view;

pub use link::{Link, Next, command_of_rank_0};
pub use view::{FinishedPicture, Request, StatusLine, View};

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use zippy::error::CallSite;
use zippy::{Error, Result};

use link::Event;
use shell::Shell;

/// Initial size of the window in points.
const WINDOW_SIZE: [f32; 2] = [1180.0, 760.0];

/// Runs `ranks` on a separate thread and a window on the calling thread, which must be the main
/// thread.
///
/// The window opens when [`Link::started`] reports that rank 0 is in this process. It stays open
/// until the user closes it or the ranks end.
///
/// # Errors
/// The error that ended the ranks; no display.
#[track_caller]
pub fn run<V: View>(title: &str, ranks: impl FnOnce(&Arc<Link<V>>) -> Result<()> + Send) -> Result<()> {
    let _call = CallSite::enter();
    let (events, receiver) = channel();
    let link = Arc::new(Link::new(events));
    let run_ranks = || {
        let _end = EndOfRanks(&link);
        ranks(&link)
    };
    thread::scope(|scope| {
        let running = thread::Builder::new().name("ranks".into()).spawn_scoped(scope, run_ranks);
        let running =
            running.map_err(|error| Error::program(format!("cannot create the thread of the ranks: {error}")))?;
        let mut closed = Ok(());
        if let Some(first) = receiver.recv().ok().filter(|event| !matches!(event, Event::Ended)) {
            closed = crate::open(title, WINDOW_SIZE, |context| {
                Box::new(Shell::new(context.egui_ctx.clone(), Arc::clone(&link), first, receiver))
            });
        }
        // Ranks that still run end with the window, and with its error.
        link.close(closed.clone());
        let ended = running.join().unwrap_or_else(|_| Err(Error::program("the thread of the ranks panicked")));
        ended.and(closed.map_err(|error| Error::program(error.to_string())))
    })
}

/// Reports the end of the ranks when it is dropped, also by a panic.
struct EndOfRanks<'l, V: View>(&'l Link<V>);

impl<V: View> Drop for EndOfRanks<'_, V> {
    fn drop(&mut self) {
        self.0.send(Event::Ended);
    }
}
