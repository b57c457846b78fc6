//! `--view`: a window on the main thread and ranks on other threads.
//!
//! The window puts its latest request for a picture and for the run into the [`Link`]. Between
//! steps ([`Window::update`]) rank 0 broadcasts the request, all ranks render it, and rank 0 sends
//! the picture back. A process without rank 0 opens no window.

mod app;
mod link;
mod panel;
mod serve;

pub(crate) use link::Link;
pub(crate) use serve::Window;

use std::sync::Arc;

use zippy::Result;
use zippy_view::eframe::{self, CreationContext};

use link::Event;

/// Initial size of the window in points.
const WINDOW_SIZE: [f32; 2] = [1180.0, 760.0];

/// Opens a window and runs `ranks` on another thread, until the window is closed or the ranks end.
/// Must be called on the main thread, which the window uses; `ranks` handles signals.
///
/// # Errors
/// The error that ended the ranks; no display.
pub(crate) fn run(title: &str, ranks: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    let (link, events) = Link::new();
    let run_ranks = || {
        let result = ranks(&link);
        link.send_event(Event::Ended);
        result
    };
    let app = |context: &CreationContext<'_>, events| -> Box<dyn eframe::App> {
        Box::new(app::App::new(context, Arc::clone(&link), events))
    };
    link.run_with_window((title, WINDOW_SIZE), events, |started| matches!(started, Event::Started), run_ranks, app)
}
