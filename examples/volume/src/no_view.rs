//! What stands for the window in a build without it.

use zippy::{Error, Result, World};
use zippy_render::volume::{Distribution, Look, TransferFunction};

/// A window: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Link {}

/// What it would have to know.
pub struct Setting {
    pub about: String,
    pub size: [f64; 3],
    pub voxel: f64,
    pub look: Look,
    pub background: [f32; 3],
    pub values: Distribution,
    pub presets: Vec<(&'static str, TransferFunction)>,
}

impl Link {
    /// Called by nobody.
    pub fn started(self, _: &World) {
        match self {}
    }
}

/// Says how to get one.
///
/// # Errors
/// Always.
pub fn run(_: &str, _: impl FnOnce(&std::sync::Arc<Link>) -> Result<()> + Send) -> Result<()> {
    Err(Error::program(
        "--view: this program was built without its window, which is its feature `view` (on by default)",
    ))
}

/// Called by nobody.
///
/// # Errors
/// None.
pub fn show<R>(_: &World, link: &Link, _: Setting, _: impl FnMut(&Look) -> R) -> Result<()> {
    match *link {}
}
