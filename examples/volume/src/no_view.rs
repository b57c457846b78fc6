//! Replacement of the window in a build without the feature `view`.

use zippy::{Error, Result, World};
use zippy_render::volume::Look;

use super::isosurface::Isosurface;
use super::viewer_setup::ViewerSetup;

/// Link to a window; has no values.
#[derive(Debug, Clone, Copy)]
pub enum Link {}

impl Link {
    /// Never called, because a [`Link`] has no values.
    pub fn started(self, _: &World) {
        match self {}
    }
}

/// Returns an error that names the missing feature.
///
/// # Errors
/// Always.
pub fn run(_: &str, _: impl FnOnce(&std::sync::Arc<Link>) -> Result<()> + Send) -> Result<()> {
    Err(Error::program("--view: this program was built without its feature `view` (on by default)"))
}

/// Never called, because a [`Link`] has no values.
///
/// # Errors
/// None.
pub fn show<R>(_: &World, link: &Link, _: ViewerSetup, _: impl FnMut(&Look, Option<&Isosurface>) -> R) -> Result<()> {
    match *link {}
}
