//! `--view`: a window on the main thread, the ranks on others.
//!
//! The window says what it wants to see and how the flow goes on ([`Link`]), and only its latest wish counts; rank 0 takes it
//! to all ranks between steps ([`Window::turn`]), which draw together; the picture goes back. Where a process has no rank 0,
//! it has no window.

mod app;
mod link;
mod panel;
mod serve;

pub use link::Link;
pub use serve::Window;

use std::sync::Arc;

use zippy::Result;
use zippy_view::eframe::{self, CreationContext};

use link::Event;

/// The window's size in points when it opens.
const WINDOW: [f32; 2] = [1180.0, 760.0];

/// Shows what `ranks` computes for the link it is given, until the window is closed or the ranks end. Must be called on the
/// main thread, which is the window's; `ranks` runs on another one, and takes care of signals.
///
/// # Errors
/// What ended the ranks; no display.
pub fn run(title: &str, ranks: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    let (link, events) = Link::new();
    let running = || {
        let result = ranks(&link);
        link.tell(Event::Ended);
        result
    };
    let app = |context: &CreationContext, events| -> Box<dyn eframe::App> {
        Box::new(app::App::new(context, Arc::clone(&link), events))
    };
    link.beside((title, WINDOW), events, |started| matches!(started, Event::Started), running, app)
}
