//! `--view`: a window on the main thread, the ranks on others.
//!
//! The window says what it wants to see ([`Link`]), and only its latest wish counts; rank 0 takes it to all ranks, which
//! render together ([`show`]); the picture goes back. Where a process has no rank 0, it has no window.

mod app;
mod link;
mod pace;
mod serve;

pub use link::Link;
pub use serve::show;

use std::sync::Arc;
use std::thread;

use zippy::Result;
use zippy::error::Error;

use super::interrupt::on_interrupt;
use link::Event;

/// The window's size in points when it opens.
const WINDOW: [f32; 2] = [1180.0, 760.0];

/// Shows what `ranks` renders for the link it is given, until the window is closed or the ranks end. Must be called on the
/// main thread, which is the window's; `ranks` runs on another one.
///
/// # Errors
/// What ended the ranks; no display.
pub fn run(title: &str, ranks: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    let (link, events) = Link::new();
    let interrupted = Arc::clone(&link);
    // Closes the window in good order.
    on_interrupt(move |_| interrupted.close(Ok(()))).map_err(|error| Error::program(format!("Ctrl-C: {error}")))?;
    thread::scope(|scope| {
        let running = thread::Builder::new().name("ranks".into()).spawn_scoped(scope, || {
            let result = ranks(&link);
            link.ended();
            result
        });
        let running = running.map_err(|error| Error::program(format!("a thread for the ranks: {error}")))?;
        let mut closed = Ok(());
        if let Ok(Event::Started) = events.recv() {
            let link = Arc::clone(&link);
            closed = zippy_view::open(title, WINDOW, move |context| Box::new(app::App::new(context, link, events)));
        }
        // The ranks, if they still run, end with the window, and with its error.
        let closed = closed.map_err(|error| error.to_string());
        link.close(closed.clone());
        let ended = running.join().unwrap_or_else(|_| Err(Error::program("the thread of the ranks panicked")));
        ended.and(closed.map_err(Error::program))
    })
}
