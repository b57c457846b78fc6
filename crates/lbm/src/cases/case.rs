//! [`Case`]: a problem with its reference numbers.

use std::rc::Rc;

use crate::cell_index::CellIndex;
use crate::collision::Collision;
use crate::problem::Problem;

/// Exact velocity in a cell after a number of steps.
pub type ExactVelocity = Rc<dyn Fn(CellIndex, u64) -> [f64; 3]>;

/// Problem with its reference numbers: a standard case or a case file.
#[derive(Clone)]
pub struct Case {
    /// Name of the case.
    pub name: &'static str,
    /// The problem.
    pub problem: Problem,
    /// Length of the Reynolds number, in cells.
    pub length: f64,
    /// Speed of the Reynolds number, in cells per step.
    pub speed: f64,
    /// Default number of steps.
    pub steps: u64,
    /// The exact solution, if it is known.
    pub exact_velocity: Option<ExactVelocity>,
    /// Cross-section of the body, in cells or cells²: the area of drag and lift coefficients.
    pub area: Option<f64>,
    /// Warnings about parts of bodies without cells.
    pub body_warnings: Vec<String>,
}

/// Least relaxation time of flows that are stable in most cases.
const MIN_RELAXATION_TIME: f64 = 0.505;
/// Least relaxation time of flows with open sides that are stable in most cases.
const MIN_RELAXATION_TIME_OPEN: f64 = 0.506;
/// Largest relaxation time at which BGK walls do not visibly slip.
const MAX_RELAXATION_TIME_BGK: f64 = 2.0;
/// Largest Mach number of a nearly incompressible flow.
const MAX_MACH: f64 = 0.3;

impl Case {
    /// Reynolds number: speed × length / viscosity.
    pub fn reynolds(&self) -> f64 {
        self.speed * self.length / self.problem.viscosity
    }

    /// Mach number: speed / speed of sound, which is 1/√3.
    pub fn mach(&self) -> f64 {
        self.speed * 3.0_f64.sqrt()
    }

    /// Returns the case with another speed, in cells per step. All velocities and forces change in
    /// proportion; the viscosity stays, so the Reynolds number changes. The exact solution is
    /// removed.
    #[must_use]
    pub fn with_speed(&self, speed: f64) -> Self {
        let problem = self.problem.scale_driving(speed / self.speed);
        Self { problem, speed, exact_velocity: None, ..self.clone() }
    }

    /// Warnings about numbers outside of the valid range of the method, and about parts of bodies
    /// without cells.
    pub fn warnings(&self) -> Vec<String> {
        let (mach, time) = (self.mach(), self.problem.relaxation_time());
        let mut warnings = self.body_warnings.clone();
        if mach > MAX_MACH {
            warnings.push(format!(
                "Mach number {mach:.2}: above {MAX_MACH} the fluid is no longer incompressible; lower the speed"
            ));
        }
        if self.problem.has_open_sides() && time < MIN_RELAXATION_TIME_OPEN {
            warnings.push(format!(
                "relaxation time {time:.4}: sides where fluid comes or goes are stable from {MIN_RELAXATION_TIME_OPEN} on; take \
                 more cells at the same Reynolds number, or a higher viscosity"
            ));
        } else if time < MIN_RELAXATION_TIME {
            warnings.push(format!(
                "relaxation time {time:.4}: so near to 1/2 the flow may become unstable; take more cells"
            ));
        }
        warnings.extend(self.sponge_warning());
        if time > MAX_RELAXATION_TIME_BGK && self.problem.collision == Collision::Bgk {
            warnings.push(format!(
                "relaxation time {time:.2}: with BGK walls seem to slip above {MAX_RELAXATION_TIME_BGK}; take TRT or fewer cells"
            ));
        }
        warnings
    }

    fn sponge_warning(&self) -> Option<String> {
        let (sponge, layers) = (self.problem.sponge()?, self.problem.sponge_layers());
        let (cells, axis) = (sponge.cells, sponge.axis);
        let advice = if layers * sponge.open_side_count() >= cells {
            format!(
                "they fill the box of {cells} cells along axis {axis}, so that the viscosity is nowhere what was given: take \
                 more cells, or a higher viscosity"
            )
        } else {
            "keep bodies further away".to_owned()
        };
        Some(format!(
            "relaxation time {:.4}: the viscosity is raised in {layers} layers of cells at sides where fluid comes or goes, to a \
             relaxation time of 0.56 next to them; {advice}",
            self.problem.relaxation_time()
        ))
    }
}
