//! Guide "Flow": a channel with a cylinder, driven by a force.

use zippy::{GlobalArray, World};
use zippy_lbm::{Cut, Flow, Problem, Side, VelocitySet};

use crate::slice;

/// Cells along the channel, and across it.
const LENGTH: i64 = 192;
const WIDTH: i64 = 64;

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let velocity = program(world, 30_000)?;
        // The component along the channel, without the layers of wall cells.
        slice::save(world, velocity.at((.., 1..WIDTH + 1, 0, 0)), "flow.png")
    })
}

/// Returns the velocity after some steps. The axes are x, y, z and component.
pub fn program(world: &World, steps: u64) -> zippy::Result<GlobalArray<f32, 4>> {
    let (centre, radius) = ([40.0, 34.0], 8.0_f64);
    let is_solid =
        move |[x, y, _]: [i64; 3]| (x as f64 - centre[0]).powi(2) + (y as f64 - centre[1]).powi(2) < radius * radius;
    let problem = Problem::new(VelocitySet::D2Q9, [LENGTH, WIDTH, 1])
        .sides(1, Side::Wall, Side::Wall)
        .viscosity(0.004)
        .force([4e-6, 0.0, 0.0])
        .body([centre[0], centre[1], 0.0], is_solid);
    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
    flow.run(steps)?;

    // Walls along y, periodic along x: no mass is lost.
    let mass = flow.mass()?;
    assert!(mass.abs() < 1e-6 * flow.fluid_cells() as f64, "mass has changed by {mass}");
    let velocity = flow.fields()?.velocity;
    let speed = world.sum(velocity.at((.., .., .., 0)))? / flow.fluid_cells() as f64;
    assert!(speed > 0.0 && speed < 0.1, "the fluid moves along the force, by {speed} cells a step");
    Ok(velocity)
}
