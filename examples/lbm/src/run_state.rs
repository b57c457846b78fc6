//! State of a run that the window reads and changes between steps.

use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

use crate::setup::Setup;

/// Flow, case and setup of a run, which the window reads and changes.
pub(crate) struct RunState<'r, 'w> {
    pub setup: &'r mut Setup,
    pub case: &'r mut Case,
    pub flow: &'r mut Flow<'w>,
    /// Density and velocity, computed on request.
    pub fields: &'r Fields,
}
