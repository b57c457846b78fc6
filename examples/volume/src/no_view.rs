//! What stands for the window in a build without it.

use zippy::{Error, Result, World};
use zippy_render::volume::Look;

use super::isosurface::Isosurface;
use super::setting::Setting;

/// A window: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Link {}

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
pub fn show<R>(_: &World, link: &Link, _: Setting, _: impl FnMut(&Look, Option<&Isosurface>) -> R) -> Result<()> {
    match *link {}
}
