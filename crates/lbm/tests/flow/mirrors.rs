//! Free-slip sides are planes of symmetry: nothing holds a stream back, and half a flow is half of the whole.

use std::rc::Rc;

use zippy::{Config, Result, World, run_with};
use zippy_lbm::{Collision, Cut, Flow, Problem, Side, Storage, VelocitySet};

use super::support::launcher;

const SPEED: f64 = 0.05;

/// The greatest distance of a cell's velocity from this one.
fn farthest(world: &World, flow: &mut Flow, u: [f64; 3]) -> Result<f64> {
    let fields = flow.fields()?;
    let [x, y, z] = flow.inside();
    let found = world.get(fields.velocity.at((x, y, z, ..)))?;
    let found = world.fence()?.redeem(found)?;
    let count = found.len() / 3;
    let far = |(i, &found): (usize, &f32)| (f64::from(found) - u[i / count]).abs();
    // A maximum would pass over what is no number.
    Ok(found.iter().enumerate().map(far).fold(0.0, |most, far| if far <= most { most } else { far }))
}

/// Both sides of an axis across which a uniform stream goes or along which it goes.
type Pair = fn([f64; 3]) -> [Side; 2];

const ALONG: [(&str, Pair); 5] = [
    ("periodic", |_| [Side::Periodic, Side::Periodic]),
    ("mirrors", |_| [Side::FreeSlip, Side::FreeSlip]),
    ("walls", |u| [Side::MovingWall(u), Side::MovingWall(u)]),
    ("mirror and wall", |u| [Side::FreeSlip, Side::MovingWall(u)]),
    ("wall and mirror", |u| [Side::MovingWall(u), Side::FreeSlip]),
];

const ACROSS: [(&str, Pair); 4] = [
    ("periodic", |_| [Side::Periodic, Side::Periodic]),
    ("inflow and outlet", |u| [Side::Velocity(Rc::new(move |_| u)), Side::Outlet(1.0)]),
    ("inflow and pressure", |u| [Side::Velocity(Rc::new(move |_| u)), Side::Pressure(1.0)]),
    ("inflow and outflow", |u| [Side::Velocity(Rc::new(move |_| u)), Side::Velocity(Rc::new(move |_| u))]),
];

/// The exact solution: the velocity everywhere that comes in, whatever lies beyond the sides along which it goes.
#[test]
fn uniform_stream_stays_uniform() {
    let viscosity: f64 = std::env::var("V").map_or(0.02, |v| v.parse().unwrap());
    let steps: u64 = std::env::var("S").map_or(100, |v| v.parse().unwrap());
    let trt = Collision::Trt { magic: 3.0 / 16.0 };
    for (set, collisions) in [
        (VelocitySet::D2Q9, [Collision::Bgk, trt]),
        (VelocitySet::D3Q19, [Collision::Bgk, trt]),
        (VelocitySet::D3Q27, [trt, Collision::Cumulant]),
    ] {
        run_with(Config::threads(1), |world| {
            let plane = set == VelocitySet::D2Q9;
            for (i, (across, ends)) in ACROSS.into_iter().enumerate() {
                for (j, (one, first)) in ALONG.into_iter().enumerate() {
                    for (k, (other, second)) in ALONG.into_iter().enumerate().take(if plane { 2 } else { ALONG.len() }) {
                        // Each axis and each collision with some of the combinations.
                        let axis = (i + j + k) % set.axes();
                        let collision = collisions[(i + j / 2 + k) % 2];
                        let mut u = [0.0; 3];
                        u[axis] = SPEED;
                        let axes = if plane { [axis, 1 - axis, 2] } else { [axis, (axis + 1) % 3, (axis + 2) % 3] };
                        let second = if plane { ALONG[0].1 } else { second };
                        let mut problem = Problem::new(set, if plane { [9, 9, 1] } else { [7; 3] });
                        for (axis, pair) in axes.into_iter().zip([ends, first, second]) {
                            let [below, above] = pair(u);
                            problem = problem.sides(axis, below, above);
                        }
                        let problem = problem.viscosity(viscosity).collision(collision).start(|_| 1.0, move |_| u);
                        let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
                        flow.run(steps)?;
                        let far = farthest(world, &mut flow, u)?;
                        let what = format!("{set:?} {collision:?}, axis {axis}: {across}; {one}; {other}");
                        if far > 1e-6 || !far.is_finite() { println!("{what}: {far:e}"); }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    }
}
