//! Decaying flows in periodic boxes.

use std::f64::consts::PI;
use std::rc::Rc;

use super::case::{Case, ExactVelocity};
use super::case_options::{CaseDefaults, CaseOptions};
use crate::cell_index::CellIndex;
use crate::error::FlowError;
use crate::problem::Problem;

pub(super) fn shear_wave(options: &CaseOptions) -> Result<Case, FlowError> {
    let speed = 1.6 / options.n_or(64) as f64;
    let numbers = options.numbers(CaseDefaults { n: 64, reynolds: 50.0, speed })?;
    let (n, speed, length) = (numbers.n, numbers.speed, numbers.n as f64);
    let (viscosity, k) = (numbers.viscosity(length), 2.0 * PI / length);
    let wave = move |y: i64| speed * (k * y as f64).sin();
    let problem = Problem::new(options.set_in_plane(), [n, n, 1])
        .viscosity(viscosity)
        .initial_flow(|_| 1.0, move |cell| [wave(cell[1]), 0.0, 0.0]);
    let exact: ExactVelocity =
        Rc::new(move |cell, steps| [wave(cell[1]) * (-viscosity * k * k * steps as f64).exp(), 0.0, 0.0]);
    let steps = (1.0 / (viscosity * k * k)).round() as u64;
    Ok(Case {
        name: "shear",
        problem,
        length,
        speed,
        steps,
        exact_velocity: Some(exact),
        area: None,
        body_warnings: Vec::new(),
    })
}

pub(super) fn taylor_green_2d(options: &CaseOptions) -> Result<Case, FlowError> {
    // The speed falls with the size of cells, so that compressibility errors fall like the others.
    let speed = 0.64 / options.n_or(64) as f64;
    let numbers = options.numbers(CaseDefaults { n: 64, reynolds: 32.0, speed })?;
    let (n, speed, length) = (numbers.n, numbers.speed, numbers.n as f64);
    let (viscosity, k) = (numbers.viscosity(length), 2.0 * PI / length);
    let phase = move |cell: CellIndex| [k * cell[0] as f64, k * cell[1] as f64];
    let velocity = move |cell: CellIndex, decay: f64| {
        let [x, y] = phase(cell);
        [-speed * decay * x.cos() * y.sin(), speed * decay * x.sin() * y.cos(), 0.0]
    };
    let density = move |cell: CellIndex| {
        let [x, y] = phase(cell);
        1.0 - 0.75 * speed * speed * ((2.0 * x).cos() + (2.0 * y).cos())
    };
    let problem = Problem::new(options.set_in_plane(), [n, n, 1])
        .viscosity(viscosity)
        .initial_flow(density, move |cell| velocity(cell, 1.0));
    let exact: ExactVelocity =
        Rc::new(move |cell, steps| velocity(cell, (-2.0 * viscosity * k * k * steps as f64).exp()));
    let steps = (2.0_f64.ln() / (4.0 * viscosity * k * k)).round() as u64;
    Ok(Case {
        name: "taylor-green2d",
        problem,
        length,
        speed,
        steps,
        exact_velocity: Some(exact),
        area: None,
        body_warnings: Vec::new(),
    })
}

pub(super) fn taylor_green_3d(options: &CaseOptions) -> Result<Case, FlowError> {
    let numbers = options.numbers(CaseDefaults { n: 64, reynolds: 100.0, speed: 0.05 })?;
    let (n, speed) = (numbers.n, numbers.speed);
    let (length, k) = (n as f64 / (2.0 * PI), 2.0 * PI / n as f64);
    let phase = move |cell: CellIndex| [0, 1, 2].map(|axis| k * (cell[axis] as f64 + 0.5));
    let density = move |cell: CellIndex| {
        let [x, y, z] = phase(cell);
        1.0 + 3.0 * speed * speed / 16.0 * ((2.0 * x).cos() + (2.0 * y).cos()) * ((2.0 * z).cos() + 2.0)
    };
    let velocity = move |cell: CellIndex| {
        let [x, y, z] = phase(cell);
        [speed * x.sin() * y.cos() * z.cos(), -speed * x.cos() * y.sin() * z.cos(), 0.0]
    };
    let problem = Problem::new(options.set_in_space(), [n, n, n])
        .viscosity(numbers.viscosity(length))
        .initial_flow(density, velocity);
    let steps = (10.0 * length / speed).round() as u64;
    Ok(Case {
        name: "taylor-green3d",
        problem,
        length,
        speed,
        steps,
        exact_velocity: None,
        area: None,
        body_warnings: Vec::new(),
    })
}
