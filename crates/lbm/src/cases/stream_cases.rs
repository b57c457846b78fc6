//! Bodies in a stream.

use std::f64::consts::PI;
use std::rc::Rc;

use super::case::Case;
use super::case_options::{CaseDefaults, CaseOptions};
use crate::cell_index::CellIndex;
use crate::error::FlowError;
use crate::problem::Problem;
use crate::side::Side;
use crate::solids::SolidError;
use crate::velocity_set::VelocitySet;

/// Channel of 22 × 4.1 diameters (Schäfer and Turek). The axis of the cylinder is 2 diameters from
/// the lower wall and, except for half a cell, from the inlet. Inlet and outlet are at cell
/// centres, walls at the edges of cells.
pub(super) fn cylinder(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 20, reynolds: 20.0, speed: 0.05 })?;
    let (reynolds, speed, diameter) = (numbers.reynolds, numbers.speed, numbers.n as f64);
    let width = ((22.0 * diameter).round() as i64).saturating_add(1);
    let height = (4.1 * diameter).round() as i64;
    let profile = move |cell: CellIndex| {
        let y = (cell[1] as f64 + 0.5) / height as f64;
        [1.5 * speed * 4.0 * y * (1.0 - y), 0.0, 0.0]
    };
    let centre = [2.0 * diameter - 0.5, 2.0 * diameter - 0.5, 0.0];
    // Density drop by friction (Poiseuille) and by the drag of the cylinder at Reynolds number 20.
    // The density is 1 at the inlet, the reference of coefficients.
    let drop = speed * speed * (36.0 * 22.0 / (4.1 * 4.1 * reynolds) + 2.0);
    let density = move |cell: CellIndex| 1.0 - drop * cell[0] as f64 / (width - 1) as f64;
    let is_inside = move |cell: CellIndex| {
        let offset = [cell[0] as f64 - centre[0], cell[1] as f64 - centre[1]];
        offset[0] * offset[0] + offset[1] * offset[1] < diameter * diameter / 4.0
    };
    let problem = Problem::new(options.set_in_plane(), [width, height, 1])
        .sides(0, Side::Velocity(Rc::new(profile)), Side::Outlet(1.0 - drop))
        .sides(1, Side::Wall, Side::Wall)
        .viscosity(numbers.viscosity(diameter))
        .body(centre, is_inside)
        .initial_flow(density, profile);
    Ok(Case {
        name: "cylinder",
        problem,
        length: diameter,
        speed,
        steps: (100.0 * diameter / speed).round() as u64,
        exact_velocity: None,
        area: Some(diameter),
        body_warnings: Vec::new(),
    })
}

pub(super) fn sphere(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 160, reynolds: 100.0, speed: 0.05 })?;
    let (speed, extents) = (numbers.speed, options.stream_extents());
    let diameter = (extents[1] as f64 / 5.0).max(1.0);
    let centre = [extents[0] as f64 / 4.0 - 0.5, extents[1] as f64 / 2.0 - 0.5, extents[2] as f64 / 2.0 - 0.5];
    let is_inside = move |cell: CellIndex| {
        let square: f64 = (0..3).map(|axis| (cell[axis] as f64 - centre[axis]).powi(2)).sum();
        square < diameter * diameter / 4.0
    };
    let stream = move |_| [speed, 0.0, 0.0];
    let problem = Problem::new(options.set_in_space(), extents)
        .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
        .sides(1, Side::FreeSlip, Side::FreeSlip)
        .sides(2, Side::FreeSlip, Side::FreeSlip)
        .viscosity(numbers.viscosity(diameter))
        .body(centre, is_inside)
        .initial_flow(|_| 1.0, stream);
    Ok(Case {
        name: "sphere",
        problem,
        length: diameter,
        speed,
        steps: (3.0 * extents[0] as f64 / speed).round() as u64,
        exact_velocity: None,
        area: Some(PI * diameter * diameter / 4.0),
        body_warnings: Vec::new(),
    })
}

pub(super) fn object(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 160, reynolds: 100.0, speed: 0.05 })?;
    let solid = options.solid.as_ref().ok_or(FlowError::MissingSolid { case: "object" })?;
    let (speed, extents) = (numbers.speed, options.stream_extents());
    let cells = extents.iter().try_fold(1_i64, |product, &n| product.checked_mul(n));
    if cells == i64::try_from(solid.solid_cells()).ok() {
        return Err(SolidError::FillsBox { extents }.into());
    }
    let [_, y, z] = solid.bounds();
    let length = (y.end - y.start).max(z.end - z.start) as f64;
    let stream = move |_| [speed, 0.0, 0.0];
    let mut problem = Problem::new(options.set_in_space(), extents)
        .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
        .sides(1, Side::FreeSlip, Side::FreeSlip)
        .viscosity(numbers.viscosity(length))
        .body(solid.centroid(), solid.predicate())
        .initial_flow(|_| 1.0, stream);
    if options.set_in_space() != VelocitySet::D2Q9 {
        problem = problem.sides(2, Side::FreeSlip, Side::FreeSlip);
    }
    Ok(Case {
        name: "object",
        problem,
        length,
        speed,
        steps: (3.0 * extents[0] as f64 / speed).round() as u64,
        exact_velocity: None,
        area: Some(solid.shadow_area(0) as f64),
        body_warnings: solid.warnings().to_vec(),
    })
}
