//! Whether what a problem's functions give can be.

use crate::error::FlowError;
use crate::problem::{Place, Problem};

/// # Errors
/// A velocity that no fluid can have, or in two dimensions one with a third component.
pub fn velocity(problem: &Problem, what: &'static str, place: Place, u: [f64; 3]) -> Result<(), FlowError> {
    let square: f64 = u.iter().map(|x| x * x).sum();
    // Comparisons with what is no number are false.
    let wanted = match problem.set.axes() == 2 && u[2] != 0.0 {
        false if square < 1.0 => return Ok(()),
        false => "finite, and slower than 1 cell a step",
        true => "in two dimensions without a third component",
    };
    Err(FlowError::Given { what, place, value: format!("{u:?}"), wanted })
}

/// # Errors
/// A density that is no number above 0.
pub fn density(what: &'static str, place: Place, density: f64) -> Result<(), FlowError> {
    match density > 0.0 && density.is_finite() {
        true => Ok(()),
        false => Err(FlowError::Given { what, place, value: density.to_string(), wanted: "a finite number above 0" }),
    }
}

/// # Errors
/// A force that is not finite, or in two dimensions one with a third component.
pub fn force(problem: &Problem, place: Place, force: [f64; 3]) -> Result<(), FlowError> {
    let wanted = match problem.set.axes() == 2 && force[2] != 0.0 {
        false if force.iter().all(|&x| (x as f32).is_finite()) => return Ok(()),
        false => "finite",
        true => "in two dimensions without a third component",
    };
    Err(FlowError::Given { what: "the force", place, value: format!("{force:?}"), wanted })
}

/// # Errors
/// A cell that cannot begin as the problem says.
pub fn start(problem: &Problem, place: Place) -> Result<(), FlowError> {
    density("the density of the beginning", place, (problem.density)(place))?;
    velocity(problem, "the velocity of the beginning", place, (problem.velocity)(place))
}
