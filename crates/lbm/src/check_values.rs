//! Checks of values that the functions of a problem return.

use crate::cell_index::CellIndex;
use crate::error::FlowError;
use crate::problem::Problem;

const TWO_COMPONENTS: &str = "in two dimensions without a third component";

const MAX_SPEED: f64 = 1.0;

impl Problem {
    fn has_wrong_component(&self, vector: [f64; 3]) -> bool {
        self.set.axes() == 2 && vector[2] != 0.0
    }

    /// Refuses a velocity that is not finite, too high, or has a third component in two dimensions.
    pub(crate) fn check_velocity(&self, quantity: &'static str, cell: CellIndex, u: [f64; 3]) -> Result<(), FlowError> {
        let square: f64 = u.iter().map(|x| x * x).sum();
        let requirement = if self.has_wrong_component(u) {
            TWO_COMPONENTS
        } else if square < MAX_SPEED {
            return Ok(());
        } else {
            "finite, and slower than 1 cell a step"
        };
        Err(FlowError::InvalidCellValue { quantity, cell, value: format!("{u:?}"), requirement })
    }

    /// Refuses a force that is not finite in 32 bits, or has a third component in two dimensions.
    pub(crate) fn check_force(&self, cell: CellIndex, force: [f64; 3]) -> Result<(), FlowError> {
        let requirement = if self.has_wrong_component(force) {
            TWO_COMPONENTS
        } else if force.iter().all(|&x| (x as f32).is_finite()) {
            return Ok(());
        } else {
            "finite"
        };
        Err(FlowError::InvalidCellValue { quantity: "the force", cell, value: format!("{force:?}"), requirement })
    }

    pub(crate) fn check_initial_flow(&self, cell: CellIndex) -> Result<(), FlowError> {
        let density = (self.initial_density)(cell);
        if !(density > 0.0 && density.is_finite()) {
            return Err(FlowError::InvalidCellValue {
                quantity: "the initial density",
                cell,
                value: density.to_string(),
                requirement: "a finite number above 0",
            });
        }
        self.check_velocity("the initial velocity", cell, (self.initial_velocity)(cell))
    }
}
