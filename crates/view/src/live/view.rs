//! [`View`]: the content of a window, and the values that it exchanges with the ranks.

use egui::{Align2, ColorImage, Rect, Ui};
use zippy_render::volume::Look;

/// Content of a window: settings, status, and requests for pictures. The window itself shows the
/// pictures, moves the camera, and sends requests.
pub trait View: Sized + 'static {
    /// Initial state from the ranks.
    type Setup: Send + 'static;
    /// Settings of a picture and of the run. Any difference is a change by the user.
    type Settings: Clone + PartialEq + Send + 'static;
    /// Facts about a finished picture, in addition to its size and time.
    type Details: Send + 'static;
    /// Event that rank 0 sends to the window, other than a picture.
    type Event: Send + 'static;

    /// Text of the window before the initial state arrives.
    const LOADING: &'static str;
    /// Least side of a picture, in pixels.
    const MIN_SIDE: f32;
    /// Corner of the picture with the help.
    const HELP_CORNER: Align2;

    /// Creates the content from the initial state.
    fn new(setup: Self::Setup) -> Self;

    /// Returns the look of the picture. The window sets its camera and size.
    fn look(&mut self) -> &mut Look;

    /// Returns the settings of the next request, or `None` if the ranks take no more requests.
    fn requested(&self) -> Option<Self::Settings>;

    /// Updates the content with a picture that the window shows from now on.
    fn update(&mut self, details: Self::Details);

    /// Updates the content with an event.
    fn handle_event(&mut self, event: Self::Event);

    /// Handles keys that belong to no widget.
    fn handle_keys(&mut self, _: &Ui) {}

    /// Shows the panel of settings.
    fn show_settings(&mut self, ui: &mut Ui);

    /// Returns the texts of the status line, from the texts of the frame rate and of the size of
    /// the picture.
    fn status(&self, rate: String, resolution: String) -> StatusLine;

    /// Returns the colour around the picture.
    fn background(&self) -> [f32; 3] {
        [0.0; 3]
    }

    /// True if pointer, wheel and keys move the camera.
    fn moves_camera(&self) -> bool {
        true
    }

    /// Returns one line about pointer and keys.
    fn help(&self) -> &'static str;

    /// Draws over the area of the picture.
    fn draw_over(&self, _: &Ui, _: Rect) {}
}

/// Request for a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<S> {
    /// Settings, with the picture size of the screen.
    pub settings: S,
    /// True if more requests will follow soon, so that speed matters more than resolution.
    pub moving: bool,
}

/// Picture for the window.
pub struct FinishedPicture<D> {
    /// The picture, from [`colour_image`](crate::colour_image).
    pub image: ColorImage,
    /// True if the window names the picture one of a moving camera.
    pub quick: bool,
    /// Seconds from the request to the picture.
    pub secs: f64,
    /// True if the mean frame rate begins again with this picture.
    pub restarts_rate: bool,
    /// Facts about the picture, in addition to its size and time.
    pub details: D,
}

/// Texts of the status line, from left to right.
#[derive(Debug, Clone)]
pub struct StatusLine {
    /// State of the run, in strong letters.
    pub state: String,
    /// Text after the state.
    pub facts: String,
    /// Third text, in weak letters. The message of a refused request replaces it.
    pub note: String,
    /// Title of the content, at the right end.
    pub title: String,
}
