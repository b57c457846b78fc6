//! `--view`: a window on the main thread and ranks on other threads.
//!
//! The window puts its latest request into the [`Link`]. Rank 0 broadcasts the request, all ranks
//! render it ([`show`]), and rank 0 sends the picture back. A process without rank 0 opens no
//! window.

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

/// Initial size of the window in points.
const WINDOW_SIZE: [f32; 2] = [1180.0, 760.0];

/// Opens a window and runs `ranks` on another thread, until the window is closed or the ranks end.
/// Must be called on the main thread, which the window uses.
///
/// # Errors
/// The error that ended the ranks; no display.
pub fn run(title: &str, ranks: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    let (link, events) = Link::new();
    let signal_link = Arc::clone(&link);
    // Closes the window normally, so that the ranks end without an error.
    on_interrupt(move |_| signal_link.close(Ok(())))
        .map_err(|error| Error::program(format!("cannot handle Ctrl-C: {error}")))?;
    let opens_window = |started: Event| matches!(started, Event::Started);
    let run_ranks = || {
        let result = ranks(&link);
        link.send_event(Event::Ended);
        result
    };
    let app = |context: &CreationContext<'_>, events| -> Box<dyn eframe::App> {
        Box::new(app::App::new(context, Arc::clone(&link), events))
    };
    link.run_with_window((title, WINDOW_SIZE), events, opens_window, run_ranks, app)
}
