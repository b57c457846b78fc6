//! What the window and rank 0 tell each other.

use zippy::World;
use zippy_render::volume::Look;
use zippy_view::egui::ColorImage;
use zippy_view::panels::Timing;

use crate::isosurface::Isosurface;
use crate::link;
use crate::setting::Setting;

/// The window's latest wish, and the way back.
pub type Link = link::Link<Wanted, Event>;

impl Link {
    /// The ranks have started; the process of rank 0 opens the window.
    pub fn started(&self, world: &World) {
        if world.rank() == 0 {
            self.tell(Event::Started);
        }
    }
}

/// What the window wants to see.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// With the size of the picture on the screen.
    pub look: Look,
    /// The isosurface in the volume, if there is to be one.
    pub isosurface: Option<Isosurface>,
    /// Whether more will follow soon: a quick picture is better than a fine one.
    pub moving: bool,
}

/// A picture for the window.
pub struct Shown {
    pub image: ColorImage,
    pub moving: bool,
    /// From the wish to the picture.
    pub secs: f64,
    pub timings: Vec<Timing>,
}

/// What happens on the ranks.
pub enum Event {
    /// Rank 0 is in this process.
    Started,
    Ready(Box<Setting>),
    Picture(Box<Shown>),
    /// A picture that could not be made; the ranks go on.
    Refused(String),
    /// The ranks have ended, for whatever reason.
    Ended,
}
