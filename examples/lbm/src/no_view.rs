//! What stands for the window in a build without it.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use zippy::{Error, Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

use crate::ending::{End, Ending};
use crate::options::Options;
use crate::setup::Setup;

/// The way to a window: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Link {}

impl Link {
    /// Called by nobody.
    pub fn started(&self, _: &World) {
        match *self {}
    }

    /// Called by nobody.
    pub fn is_closed(&self) -> bool {
        match *self {}
    }
}

/// Says how to get one.
pub fn run(_: &str, _: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    Err(Error::program(
        "--view: this program was built without its window, which is its feature `view` (on by default)",
    ))
}

/// A window: there is none.
pub struct Window(Infallible);

impl Window {
    /// Called by nobody.
    pub fn open(_: &World, link: &Arc<Link>, _: &Options, _: &Case, _: &Flow) -> Result<Self> {
        match **link {}
    }

    /// Called by nobody.
    pub fn turn(
        &mut self,
        _: &World,
        _: &Ending,
        _: (&mut Setup, &mut Case),
        _: &mut Flow,
        _: &Fields,
    ) -> Result<ControlFlow<End, u64>> {
        match self.0 {}
    }

    /// Called by nobody.
    pub fn hold(&mut self, _: &World, _: &Ending, _: &Error) -> Result<()> {
        match self.0 {}
    }
}
