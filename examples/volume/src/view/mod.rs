//! `--view`: a window on the main thread and ranks on other threads.
//!
//! Rank 0 broadcasts the latest request of the window, all ranks render it ([`show`]), and rank 0
//! sends the picture back.

mod serve;
mod viewer;

pub use serve::show;
pub use viewer::{PictureSettings, Viewer};

use std::sync::Arc;

use zippy::Result;
use zippy::error::Error;
use zippy_view::live;

use super::interrupt::on_interrupt;

/// Link between the window and rank 0.
pub type Link = live::Link<Viewer>;

/// Opens a window and runs `ranks` on another thread, until the window is closed or the ranks end.
/// Must be called on the main thread, which the window uses.
///
/// # Errors
/// The error that ended the ranks; no display.
pub fn run(title: &str, ranks: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    live::run(title, |link: &Arc<Link>| {
        let signal_link = Arc::clone(link);
        // Closes the window normally, so that the ranks end without an error.
        on_interrupt(move |_| signal_link.close(Ok(())))
            .map_err(|error| Error::program(format!("cannot handle Ctrl-C: {error}")))?;
        ranks(link)
    })
}
