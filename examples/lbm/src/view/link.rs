//! Messages between the window and rank 0.

use zippy::World;
use zippy_render::volume::Distribution;
use zippy_view::egui::ColorImage;

use crate::link;
use crate::scene::{Scene, ShownQuantity};

/// Link with the latest request of the window and the events of the ranks.
pub(crate) type Link = link::Link<ViewRequest, Event>;

impl Link {
    /// Reports that the ranks have started; the process of rank 0 opens the window.
    pub(crate) fn started(&self, world: &World) {
        if world.rank() == 0 {
            self.send_event(Event::Started);
        }
    }
}

/// Picture that the window requests, and settings of the run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ViewRequest {
    /// Scene, with the picture size of the screen.
    pub scene: Scene,
    /// True if more requests will follow soon, so that speed matters more than resolution.
    pub moving: bool,
    /// False while the run is paused.
    pub running: bool,
    /// Number of requests for a single step so far.
    pub single_steps: u64,
    /// Steps between pictures.
    pub steps_per_frame: u64,
    /// Speed that drives the flow, in cells per step.
    pub speed: f64,
    /// Number of requests for the distribution of the values so far.
    pub distributions: u64,
}

/// Initial state of the window.
#[derive(Debug, Clone)]
pub(crate) struct ViewerSetup {
    /// Case, size and number of ranks, for the status line.
    pub title: String,
    pub scene: Scene,
    /// Values of the first and the last colour for each quantity.
    pub ranges: [[f64; 2]; 4],
    /// Cells along each axis.
    pub cells: [i64; 3],
    pub in_plane: bool,
    /// Length of the Reynolds number in cells.
    pub length: f64,
    /// Viscosity in lattice units.
    pub viscosity: f64,
    pub speed: f64,
    /// True if a speed or a force drives the flow.
    pub is_driven: bool,
    pub steps_per_frame: u64,
}

/// Picture for the window.
pub(crate) struct Frame {
    pub image: ColorImage,
    pub quick: bool,
    /// Seconds from the request to the picture.
    pub secs: f64,
    pub steps: u64,
    /// Million cell updates per second since the last picture; 0 if there were no steps.
    pub mlups: f64,
}

/// Event on the ranks.
pub(crate) enum Event {
    /// The ranks have started, and rank 0 is in this process.
    Started,
    Ready(Box<ViewerSetup>),
    Picture(Box<Frame>),
    /// Distribution of the values of a quantity over the range of the colours, and the smallest and
    /// the largest value.
    Values(ShownQuantity, Box<Distribution>, [f64; 2]),
    /// A request failed with this message; the ranks continue.
    Refused(String),
    /// The flow cannot continue for this reason; the window stays open.
    Stopped(String),
    /// The ranks have ended, with or without an error.
    Ended,
}
