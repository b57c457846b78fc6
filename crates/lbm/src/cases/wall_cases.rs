//! Flows between walls.

use std::rc::Rc;

use super::case::{Case, ExactVelocity};
use super::case_options::{CaseDefaults, CaseOptions};
use crate::error::FlowError;
use crate::problem::Problem;
use crate::side::Side;

pub(super) fn couette(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 32, reynolds: 10.0, speed: 0.05 })?;
    let (n, speed, length) = (numbers.n, numbers.speed, numbers.n as f64);
    let viscosity = numbers.viscosity(length);
    let problem = Problem::new(options.set_in_plane(), [4, n, 1])
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .viscosity(viscosity);
    let exact: ExactVelocity = Rc::new(move |cell, _| [speed * (cell[1] as f64 + 0.5) / n as f64, 0.0, 0.0]);
    let steps = (3.0 * (length * length) / viscosity).round() as u64;
    Ok(Case {
        name: "couette",
        problem,
        length,
        speed,
        steps,
        exact_velocity: Some(exact),
        area: None,
        body_warnings: Vec::new(),
    })
}

pub(super) fn poiseuille(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 32, reynolds: 10.0, speed: 0.05 })?;
    let (n, speed, height) = (numbers.n, numbers.speed, numbers.n as f64);
    let viscosity = numbers.viscosity(height);
    let problem = Problem::new(options.set_in_plane(), [4, n, 1])
        .sides(1, Side::Wall, Side::Wall)
        .viscosity(viscosity)
        .force([8.0 * viscosity * speed / (height * height), 0.0, 0.0]);
    let exact: ExactVelocity = Rc::new(move |cell, _| {
        let y = (cell[1] as f64 + 0.5) / height;
        [4.0 * speed * y * (1.0 - y), 0.0, 0.0]
    });
    let steps = (3.0 * height * height / viscosity).round() as u64;
    Ok(Case {
        name: "poiseuille",
        problem,
        length: height,
        speed,
        steps,
        exact_velocity: Some(exact),
        area: None,
        body_warnings: Vec::new(),
    })
}

pub(super) fn cavity_2d(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 128, reynolds: 100.0, speed: 0.1 })?;
    let (n, speed, length) = (numbers.n, numbers.speed, numbers.n as f64);
    let problem = Problem::new(options.set_in_plane(), [n, n, 1])
        .sides(0, Side::Wall, Side::Wall)
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .viscosity(numbers.viscosity(length));
    Ok(Case {
        name: "cavity2d",
        problem,
        length,
        speed,
        steps: (20.0 * length / speed).round() as u64,
        exact_velocity: None,
        area: None,
        body_warnings: Vec::new(),
    })
}

pub(super) fn cavity_3d(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 64, reynolds: 100.0, speed: 0.1 })?;
    let (n, speed, length) = (numbers.n, numbers.speed, numbers.n as f64);
    let problem = Problem::new(options.set_in_space(), [n, n, n])
        .sides(0, Side::Wall, Side::Wall)
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .sides(2, Side::Wall, Side::Wall)
        .viscosity(numbers.viscosity(length));
    Ok(Case {
        name: "cavity3d",
        problem,
        length,
        speed,
        steps: (20.0 * length / speed).round() as u64,
        exact_velocity: None,
        area: None,
        body_warnings: Vec::new(),
    })
}
