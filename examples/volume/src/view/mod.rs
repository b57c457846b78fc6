//! `--view`: a window on the main thread, the ranks on others.
//!
//! The window says what it wants to see ([`Link`]), and only its latest wish counts; rank 0 takes it to all ranks, which
//! render together ([`show`]); the picture goes back. Where a process has no rank 0, it has no window.

mod app;
mod link;
mod serve;

pub use link::Link;
pub use serve::show;

use std::sync::Arc;

use zippy::Result;
use zippy::error::Error;
use zippy_view::eframe::{self, CreationContext};

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
    let open = |started: Event| matches!(started, Event::Started);
    let running = || {
        let result = ranks(&link);
        link.tell(Event::Ended);
        result
    };
    let app = |context: &CreationContext, events| -> Box<dyn eframe::App> {
        Box::new(app::App::new(context, Arc::clone(&link), events))
    };
    link.beside((title, WINDOW), events, open, running, app)
}
