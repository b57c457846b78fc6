//! Replacement of the window in a build without the feature `view`.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use zippy::{Error, Result, World};
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;

use crate::end_conditions::{End, EndWatcher};
use crate::options::Options;
use crate::run_state::RunState;

/// Link to a window; has no values.
#[derive(Debug, Clone, Copy)]
pub enum Link {}

impl Link {
    /// Never called, because there are no values of this type.
    pub fn started(&self, _: &World) {
        match *self {}
    }

    /// Never called, because there are no values of this type.
    pub fn is_closed(&self) -> bool {
        match *self {}
    }
}

/// Returns an error that names the missing feature.
pub fn run(_: &str, _: impl FnOnce(&Arc<Link>) -> Result<()> + Send) -> Result<()> {
    Err(Error::program("--view: this program was built without its feature `view` (on by default)"))
}

/// Window; has no values.
pub struct Window<'w>(Infallible, PhantomData<&'w World>);

impl<'w> Window<'w> {
    /// Never called, because there are no values of this type.
    pub fn open(_: &'w World, link: &Arc<Link>, _: &Options, _: &Case, _: &Flow) -> Result<Self> {
        match **link {}
    }

    /// Never called, because there are no values of this type.
    pub fn update(&mut self, _: &World, _: &EndWatcher, _: RunState<'_, '_>) -> Result<ControlFlow<End, u64>> {
        match self.0 {}
    }

    /// Never called, because there are no values of this type.
    pub fn hold_error(&mut self, _: &World, _: &EndWatcher, _: &Error) -> Result<()> {
        match self.0 {}
    }
}
