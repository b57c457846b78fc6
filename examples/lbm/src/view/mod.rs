//! `--view`: a window on the main thread and ranks on other threads.
//!
//! Between steps ([`Window::update`]) rank 0 broadcasts the latest request of the window, all ranks
//! render it, and rank 0 sends the picture back.

mod panel;
mod serve;
mod viewer;

pub(crate) use serve::Window;
/// Opens a window and runs the ranks, which handle signals, on another thread.
pub(crate) use zippy_view::live::run;

use viewer::Viewer;

/// Link between the window and rank 0.
pub(crate) type Link = zippy_view::live::Link<Viewer>;
