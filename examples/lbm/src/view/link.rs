//! What the window and rank 0 tell each other.

use zippy::World;
use zippy_render::volume::Distribution;
use zippy_view::egui::ColorImage;

use crate::link;
use crate::scene::{Scene, Shown};

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

/// What the window wants.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// With the size of the picture on the screen.
    pub scene: Scene,
    /// Whether more will follow soon: a quick picture is better than a fine one.
    pub moving: bool,
    pub running: bool,
    /// How often a single step was asked for.
    pub singles: u64,
    /// Steps from one picture to the next.
    pub per_frame: u64,
    /// The speed of what drives the flow.
    pub speed: f64,
    /// How often the values were asked for.
    pub measured: u64,
}

/// What a window has to know before it can ask for pictures.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What flows and where, for the title line.
    pub about: String,
    pub scene: Scene,
    /// The colours' values of each quantity.
    pub ranges: [[f64; 2]; 4],
    /// Cells along each axis.
    pub cells: [i64; 3],
    pub in_plane: bool,
    /// Length and viscosity, which make a Reynolds number of a speed.
    pub length: f64,
    pub viscosity: f64,
    pub speed: f64,
    /// Whether something drives it.
    pub is_driven: bool,
    pub per_frame: u64,
}

/// A picture for the window.
pub struct Frame {
    pub image: ColorImage,
    pub quick: bool,
    /// From the wish to the picture.
    pub secs: f64,
    pub steps: u64,
    /// Million cell updates a second since the last picture; 0 where there were none.
    pub mlups: f64,
}

/// What happens on the ranks.
pub enum Event {
    /// Rank 0 is in this process.
    Started,
    Ready(Box<Setting>),
    Picture(Box<Frame>),
    /// How often values occur over a range, and the least and the largest one.
    Values(Shown, Box<Distribution>, [f64; 2]),
    /// What could not be done; the ranks go on.
    Refused(String),
    /// Why the flow stands still until the window is closed.
    Stopped(String),
    /// The ranks have ended, for whatever reason.
    Ended,
}
