//! What lies beyond the sides of the box.

use std::rc::Rc;

use toml::Spanned;

use super::beyond::Beyond;
use super::bodies;
use super::schema::{Axis, File};
use super::text::Text;
use crate::error::FlowError;
use crate::problem::{Place, Problem, Side};
use crate::units::Units;

/// The axes of which something is said.
fn axes(file: &File) -> impl Iterator<Item = (usize, &'static str, &Spanned<Axis>)> {
    let sides = &file.sides;
    let all = [("x", &sides.x), ("y", &sides.y), ("z", &sides.z)];
    all.into_iter().enumerate().filter_map(|(axis, (name, side))| side.as_ref().map(|side| (axis, name, side)))
}

/// Both sides of an axis, with the keys by which the text knows them.
fn both(name: &str, axis: &Axis) -> [(String, Beyond); 2] {
    [(format!("sides.{name}.below"), axis.below), (format!("sides.{name}.above"), axis.above)]
}

/// Both sides of an axis by number, with their keys. A side without a key is periodic.
pub fn of_axis(file: &File, axis: usize) -> [(String, Beyond); 2] {
    let periodic = Axis { below: Beyond::Periodic, above: Beyond::Periodic };
    let said = axes(file).find(|&(number, ..)| number == axis).map(|(_, _, table)| table.get_ref().clone());
    both(["x", "y", "z"][axis], &said.unwrap_or(periodic))
}

/// # Errors
/// Numbers that cannot be.
pub fn check(text: &Text, file: &File, units: &Units) -> Result<(), FlowError> {
    for (axis, name, table) in axes(file) {
        for (key, side) in both(name, table.get_ref()) {
            match side {
                Beyond::Periodic | Beyond::Wall | Beyond::FreeSlip => {}
                Beyond::MovingWall(u) => {
                    text.finite(table, &key, &u)?;
                    if u[axis] != 0.0 {
                        let wrong =
                            format!("a wall moves along itself: the component {axis} of its velocity must be 0");
                        return Err(text.wrong(table, &key, wrong));
                    }
                }
                Beyond::Velocity(u) | Beyond::Parabola(u) => text.finite(table, &key, &u)?,
                Beyond::Pressure(pressure) | Beyond::Outlet(pressure) => {
                    text.finite(table, &key, &[pressure])?;
                    let density = density(pressure, units);
                    if !(density > 0.0 && density < 2.0) {
                        let most = units.pressure();
                        let wrong = format!(
                            "{pressure} is the density {density} of the lattice, which must stay near 1: pressures are \
                             well between {} and {most}",
                            -most
                        );
                        return Err(text.wrong(table, &key, wrong));
                    }
                }
            }
        }
        let periodic = |side: Beyond| side == Beyond::Periodic;
        if periodic(table.get_ref().below) != periodic(table.get_ref().above) {
            let wrong = "only one side is periodic; both are, or neither";
            return Err(text.wrong(table, &format!("sides.{name}"), wrong));
        }
    }
    Ok(())
}

/// Velocities at sides.
pub fn speeds(file: &File) -> Vec<(String, [f64; 3])> {
    let sides = axes(file).flat_map(|(_, name, table)| both(name, table.get_ref()));
    let moving = sides.filter_map(|(key, side)| match side {
        Beyond::MovingWall(u) | Beyond::Velocity(u) | Beyond::Parabola(u) => Some((key, u)),
        _ => None,
    });
    moving.collect()
}

/// A warning about fluid that comes in, or goes out, where no side makes up for it: its density then changes for ever.
pub fn imbalance(file: &File, units: &Units) -> Option<String> {
    let cells = file.lattice.get_ref().cells;
    let (mut keys, mut net, mut through) = (Vec::new(), 0.0, 0.0_f64);
    for (axis, name, table) in axes(file) {
        let walls =
            walled(file).into_iter().enumerate().filter(|&(other, is_walled)| other != axis && is_walled).count();
        for ((key, side), inward) in both(name, table.get_ref()).into_iter().zip([1.0, -1.0]) {
            let mean = match side {
                Beyond::Pressure(_) | Beyond::Outlet(_) => return None,
                Beyond::Velocity(u) => u[axis],
                Beyond::Parabola(u) => u[axis] * (2.0_f64 / 3.0).powi(walls as i32),
                _ => continue,
            };
            if bodies::reaches(file, units, axis, inward) {
                // It covers a part of the side.
                return None;
            }
            let area: i64 = (0..3).filter(|&other| other != axis).map(|other| cells[other]).product();
            let volume = inward * mean / units.speed() * area as f64;
            (net, through) = (net + volume, through + volume.abs());
            keys.push(key);
        }
    }
    if net.abs() <= 1e-3 * through {
        return None;
    }
    let rate = 1e5 * net / cells.iter().product::<i64>() as f64;
    let [way, missing] = if net > 0.0 { ["in", "out"] } else { ["out", "in"] };
    Some(format!(
        "more fluid flows {way} than {missing} ({}), and no side has a pressure: the density of the box changes by {rate:+.3} % in \
         1000 steps; give another side outlet, pressure or the velocity that is missing",
        keys.join(", ")
    ))
}

/// The axes with walls at rest at both sides.
fn walled(file: &File) -> [bool; 3] {
    let mut walled = [false; 3];
    for (axis, _, table) in axes(file) {
        walled[axis] = [table.get_ref().below, table.get_ref().above].iter().all(|side| *side == Beyond::Wall);
    }
    walled
}

pub fn put(mut problem: Problem, file: &File, units: &Units) -> Problem {
    let (cells, walled) = (file.lattice.get_ref().cells, walled(file));
    for (axis, _, table) in axes(file) {
        let side = |beyond: Beyond| match beyond {
            Beyond::Periodic => Side::Periodic,
            Beyond::Wall => Side::Wall,
            Beyond::FreeSlip => Side::FreeSlip,
            Beyond::MovingWall(u) => Side::MovingWall(u.map(|u| u / units.speed())),
            Beyond::Velocity(u) => {
                let u = u.map(|u| u / units.speed());
                Side::Velocity(Rc::new(move |_| u))
            }
            Beyond::Parabola(u) => {
                let u = u.map(|u| u / units.speed());
                let profile = move |at: Place| {
                    let across = (0..3).filter(|&other| other != axis && walled[other]);
                    let share = across.map(|other| (at[other] as f64 + 0.5) / cells[other] as f64);
                    let part: f64 = share.map(|s| 4.0 * s * (1.0 - s)).product();
                    u.map(|u| u * part)
                };
                Side::Velocity(Rc::new(profile))
            }
            Beyond::Pressure(pressure) => Side::Pressure(density(pressure, units)),
            Beyond::Outlet(pressure) => Side::Outlet(density(pressure, units)),
        };
        problem = problem.sides(axis, side(table.get_ref().below), side(table.get_ref().above));
    }
    problem
}

fn density(pressure: f64, units: &Units) -> f64 {
    1.0 + pressure / units.pressure()
}
