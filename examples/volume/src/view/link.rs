//! Messages between the window and rank 0.

use zippy::World;
use zippy_render::volume::Look;
use zippy_view::egui::ColorImage;
use zippy_view::panels::Timing;

use crate::isosurface::Isosurface;
use crate::link;
use crate::viewer_setup::ViewerSetup;

/// Link with the latest request of the window and the events of the ranks.
pub type Link = link::Link<ViewRequest, Event>;

impl Link {
    /// Reports that the ranks have started; the process of rank 0 opens the window.
    pub fn started(&self, world: &World) {
        if world.rank() == 0 {
            self.send_event(Event::Started);
        }
    }
}

/// Picture that the window requests.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewRequest {
    /// Look, with the picture size of the screen.
    pub look: Look,
    /// Isosurface to show.
    pub isosurface: Option<Isosurface>,
    /// True if more requests will follow soon, so that speed matters more than resolution.
    pub moving: bool,
}

/// A picture for the window.
pub struct FinishedPicture {
    pub image: ColorImage,
    pub moving: bool,
    /// Seconds from the request to the picture.
    pub secs: f64,
    pub timings: Vec<Timing>,
}

/// Event on the ranks.
pub enum Event {
    /// The ranks have started, and rank 0 is in this process.
    Started,
    Ready(Box<ViewerSetup>),
    Picture(Box<FinishedPicture>),
    /// A picture failed with this message; the ranks continue.
    Refused(String),
    /// The ranks have ended, with or without an error.
    Ended,
}
