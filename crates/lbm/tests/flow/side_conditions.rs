//! Free-slip sides as planes of symmetry, and open sides.

use std::rc::Rc;

use zippy::{Config, Result, World, run_with};
use zippy_lbm::{BodyForce, CellIndex, Collision, Cut, Flow, Precision, Problem, Side, VelocitySet};

use super::support::launcher;

const SPEED: f64 = 0.05;
const TRT: Collision = Collision::Trt { magic: 3.0 / 16.0 };

/// Velocities of the cells of the box, component by component.
fn velocities(world: &World, flow: &mut Flow<'_>) -> Result<Vec<f64>> {
    let fields = flow.fields()?;
    let [x, y, z] = flow.box_ranges();
    let found = world.get(fields.velocity.at((x, y, z, ..)))?;
    Ok(world.fence()?.redeem(found)?.into_iter().map(f64::from).collect())
}

/// Largest absolute value of finite numbers.
fn largest(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, |most, far| {
        assert!(far.is_finite(), "{far}");
        far.abs().max(most)
    })
}

/// Both sides of an axis for a uniform stream.
type SidePair = fn([f64; 3]) -> [Side; 2];

/// Sides parallel to the stream.
const ALONG: [(&str, SidePair); 5] = [
    ("periodic", |_| [Side::Periodic, Side::Periodic]),
    ("mirrors", |_| [Side::FreeSlip, Side::FreeSlip]),
    ("walls", |u| [Side::MovingWall(u), Side::MovingWall(u)]),
    ("mirror and wall", |u| [Side::FreeSlip, Side::MovingWall(u)]),
    ("wall and mirror", |u| [Side::MovingWall(u), Side::FreeSlip]),
];

fn inflow(u: [f64; 3]) -> Side {
    Side::Velocity(Rc::new(move |_| u))
}

/// Sides across the stream.
const ACROSS: [(&str, SidePair); 5] = [
    ("periodic", |_| [Side::Periodic, Side::Periodic]),
    ("inflow and outlet", |u| [inflow(u), Side::Outlet(1.0)]),
    ("inflow and pressure", |u| [inflow(u), Side::Pressure(1.0)]),
    ("inflow and outflow", |u| [inflow(u), inflow(u)]),
    ("pressure and outlet", |_| [Side::Pressure(1.0), Side::Outlet(1.0)]),
];

/// The exact solution has one velocity everywhere. At a relaxation time of 0.506, rounding errors
/// must not grow.
#[test]
fn uniform_stream_stays_uniform() {
    for (set, collisions) in [
        (VelocitySet::D2Q9, [Collision::Bgk, TRT]),
        (VelocitySet::D3Q19, [Collision::Bgk, TRT]),
        (VelocitySet::D3Q27, [TRT, Collision::Cumulant]),
    ] {
        run_with(Config::threads(launcher::counts(&[1])[0]), |world| {
            let plane = set == VelocitySet::D2Q9;
            for (i, (across, ends)) in ACROSS.into_iter().enumerate() {
                for (j, (one, first)) in ALONG.into_iter().enumerate() {
                    let (other, second) = ALONG[if plane { 0 } else { (i + 2 * j) % ALONG.len() }];
                    let axis = (i + j) % set.axes();
                    let axes = if plane { [axis, 1 - axis, 2] } else { [axis, (axis + 1) % 3, (axis + 2) % 3] };
                    let collision = collisions[(i + j / 2) % 2];
                    let mut u = [0.0; 3];
                    u[axis] = SPEED;
                    let mut problem = Problem::new(set, if plane { [9, 9, 1] } else { [7; 3] });
                    for (axis, pair) in axes.into_iter().zip([ends, first, second]) {
                        let [below, above] = pair(u);
                        problem = problem.sides(axis, below, above);
                    }
                    let problem = problem.viscosity(0.002).collision(collision).initial_flow(|_| 1.0, move |_| u);
                    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
                    flow.run(400)?;
                    let found = velocities(world, &mut flow)?;
                    let far =
                        largest(found.iter().enumerate().map(|(n, component)| component - u[n * 3 / found.len()]));
                    let description = format!("{set:?} {collision:?}, axis {axis}: {across}; {one}; {other}");
                    assert!(far < 1e-5, "{description}: off by {far}");
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

/// Flow with symmetry about planes between cells: the whole, or the part above the planes.
struct SymmetricFlow {
    set: VelocitySet,
    collision: Collision,
    extents: [i64; 3],
    /// Axes across the planes of symmetry.
    planes: &'static [usize],
    /// Sides of an axis of the part, apart from planes of symmetry.
    sides: fn(usize) -> [Side; 2],
    force: [f64; 3],
    /// Velocity of the body; `None` without a body.
    body: Option<[f64; 3]>,
}

impl SymmetricFlow {
    fn problem(&self, whole: bool) -> Problem {
        let is_plane = |axis: usize| self.planes.contains(&axis);
        let extents = [0, 1, 2].map(|k| self.extents[k] * if whole && is_plane(k) { 2 } else { 1 });
        let mut problem = Problem::new(self.set, extents).viscosity(0.04).collision(self.collision).force(self.force);
        for axis in 0..3 {
            let [below, above] = (self.sides)(axis);
            // The whole has the side above the part on both sides.
            let [below, above] = match (is_plane(axis), whole) {
                (true, true) => [above.clone(), above],
                (true, false) => [Side::FreeSlip, above],
                (false, _) => [below, above],
            };
            problem = problem.sides(axis, below, above);
        }
        let middle = [0, 1, 2].map(|k| {
            if !is_plane(k) {
                extents[k] as f64 / 3.0
            } else if whole {
                extents[k] as f64 / 2.0
            } else {
                0.0
            }
        });
        let centre = middle.map(|x| x - 0.5);
        let axes = self.set.axes();
        let inside = move |at: CellIndex| {
            let square: f64 = (0..axes).map(|k| (at[k] as f64 - centre[k]).powi(2)).sum();
            square < 2.3 * 2.3
        };
        match self.body {
            Some(u) => problem.moving_body(centre, inside, move |_| u),
            None => problem,
        }
    }

    /// Velocities of the part's cells, the force on the body, and the number of fluid cells.
    fn run(&self, whole: bool, steps: u64, ranks: usize) -> (Vec<f64>, BodyForce, u64) {
        let all = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
            let problem = self.problem(whole);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run(steps)?;
            let fields = flow.fields()?;
            let inside = flow.box_ranges();
            let [x, y, z] = [0, 1, 2].map(|k| inside[k].end - self.extents[k]..inside[k].end);
            let velocity = world.get(fields.velocity.at((x, y, z, ..)))?;
            let velocity = world.fence()?.redeem(velocity)?.into_iter().map(f64::from).collect();
            let force = flow.body_forces()?.first().copied().unwrap_or_default();
            Ok((velocity, force, flow.fluid_cells()))
        });
        all.unwrap().swap_remove(0)
    }
}

const PERIODIC: [Side; 2] = [Side::Periodic, Side::Periodic];
const SLIP: [Side; 2] = [Side::FreeSlip, Side::FreeSlip];

fn channel(axis: usize) -> [Side; 2] {
    if axis == 1 { SLIP } else { PERIODIC }
}

fn tube(axis: usize) -> [Side; 2] {
    if axis == 0 { PERIODIC } else { SLIP }
}

fn duct(axis: usize) -> [Side; 2] {
    match axis {
        0 => PERIODIC,
        1 => [Side::Wall, Side::Wall],
        _ => [Side::Wall, Side::MovingWall([0.03, 0.0, 0.0])],
    }
}

fn stream(axis: usize) -> [Side; 2] {
    if axis == 0 { [inflow([SPEED, 0.0, 0.0]), Side::Outlet(1.0)] } else { SLIP }
}

fn stream_in_plane(axis: usize) -> [Side; 2] {
    if axis == 2 { PERIODIC } else { stream(axis) }
}

/// Half or a quarter of a flow has the velocities of the whole flow, and its share of the force.
#[test]
fn mirrored_part_is_part_of_the_whole() {
    let part = |set, collision, extents, planes, sides| SymmetricFlow {
        set,
        collision,
        extents,
        planes,
        sides,
        force: [0.0; 3],
        body: Some([0.0; 3]),
    };
    let (plane, pulled) = (VelocitySet::D2Q9, [2e-4, 0.0, 0.0]);
    let (d3q19, d3q27) = (VelocitySet::D3Q19, VelocitySet::D3Q27);
    for (flow, ranks) in [
        (SymmetricFlow { force: pulled, ..part(plane, TRT, [16, 7, 1], &[1], channel) }, 1),
        (part(plane, Collision::Bgk, [19, 6, 1], &[1], stream_in_plane), 2),
        (part(d3q19, TRT, [12, 5, 6], &[1, 2], stream), 3),
        (
            SymmetricFlow { force: pulled, body: Some([0.02, 0.0, 0.0]), ..part(d3q19, TRT, [9, 5, 6], &[1, 2], tube) },
            1,
        ),
        (SymmetricFlow { force: pulled, body: None, ..part(d3q27, TRT, [3, 6, 5], &[1, 2], duct) }, 2),
        (part(d3q27, Collision::Cumulant, [12, 5, 6], &[1, 2], stream), 1),
    ] {
        let description = format!("{:?} {:?} {:?}", flow.set, flow.collision, flow.extents);
        let (part, force, _) = flow.run(false, 300, ranks);
        let (whole, all, _) = flow.run(true, 300, 1);
        let speed = largest(whole.iter().copied());
        let far = largest(part.iter().zip(&whole).map(|(part, whole)| part - whole));
        assert!(speed > 0.01 && far < 1e-5 * speed, "{description}: velocities up to {speed} are off by {far}");
        if flow.body.is_some() {
            let parts = 2.0_f64.powi(flow.planes.len() as i32);
            let (found, wanted) = (parts * force.force[0], all.force[0]);
            assert!(
                wanted.abs() > 1e-4 && (found - wanted).abs() < 1e-5 * wanted.abs(),
                "{description}: {found} for {wanted}"
            );
        }
    }
}

/// In a steady flow, the force on the body is the momentum that the uniform force adds.
#[test]
fn force_on_half_a_body_is_the_momentum_put_in() {
    let flow = SymmetricFlow {
        set: VelocitySet::D2Q9,
        collision: TRT,
        extents: [16, 7, 1],
        planes: &[1],
        sides: channel,
        force: [1e-5, 0.0, 0.0],
        body: Some([0.0; 3]),
    };
    let (_, force, cells) = flow.run(false, 8000, 1);
    let put_in = 1e-5 * cells as f64;
    assert!((force.force[0] - put_in).abs() < 1e-5 * put_in, "{} for {put_in}", force.force[0]);
}

/// A plane pulse of sound, 10 cells wide; less than 2 % is reflected.
#[test]
fn outlets_do_not_reflect_sound() {
    let (cells, width, height, sound) = (160, 10.0, 1e-3, 1.0 / 3.0_f64.sqrt());
    for (set, speeds) in [
        (VelocitySet::D2Q9, [(0.0, 0.02), (0.02, 0.02), (0.1, 0.002)]),
        (VelocitySet::D3Q19, [(0.05, 0.02), (0.1, 0.02), (0.1, 0.002)]),
        (VelocitySet::D3Q27, [(0.02, 0.002), (0.05, 0.02), (0.1, 0.02)]),
    ] {
        run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
            for (speed, viscosity) in speeds {
                let pulse = move |at: CellIndex| height * (-((at[0] as f64 - 80.0) / width).powi(2)).exp();
                let problem = Problem::new(set, [cells, 1, 1])
                    .sides(0, inflow([speed, 0.0, 0.0]), Side::Outlet(1.0))
                    .viscosity(viscosity)
                    .initial_flow(move |at| 1.0 + pulse(at), move |at| [speed + sound * pulse(at), 0.0, 0.0]);
                let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
                // The pulse has left, and its reflection returns.
                flow.run(((80.0 + 3.5 * width) / (sound + speed)) as u64)?;
                let mut most = 0.0_f64;
                for _ in 0..10 {
                    flow.run(4)?;
                    let fields = flow.fields()?;
                    let [x, y, z] = flow.box_ranges();
                    let excess = world.get(fields.excess.at((x.clone(), y.clone(), z.clone())))?;
                    let velocity = world.get(fields.velocity.at((x, y, z, 0)))?;
                    let mut fetched = world.fence()?;
                    let (excess, velocity) = (fetched.redeem(excess)?, fetched.redeem(velocity)?);
                    let back = |(excess, u): (&f32, &f32)| 0.5 * (f64::from(*excess) - (f64::from(*u) - speed) / sound);
                    most = most.max(largest(excess.iter().zip(&velocity).map(back)));
                }
                assert!(most < 0.02 * height, "{set:?}, {speed}, {viscosity}: {} of the pulse", most / height);
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn mass_is_the_sum_of_densities() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let problem = Problem::new(VelocitySet::D2Q9, [20, 8, 1])
            .sides(0, inflow([SPEED, 0.0, 0.0]), Side::Outlet(1.0))
            .sides(1, Side::FreeSlip, Side::FreeSlip)
            .viscosity(0.01)
            .initial_flow(|[x, y, _]| 1.0 + 1e-3 * (x - 7 + y) as f64, |_| [SPEED, 0.0, 0.0]);
        for precision in [Precision::Single, Precision::Half] {
            let mut flow = Flow::new(world, &problem.clone().precision(precision), &Cut::Auto)?;
            for steps in [1, 6] {
                flow.run(steps)?;
                let fields = flow.fields()?;
                let [x, y, z] = flow.box_ranges();
                let excess = world.get(fields.excess.at((x, y, z)))?;
                let sum: f64 = world.fence()?.redeem(excess)?.into_iter().map(f64::from).sum();
                let mass = flow.mass()?;
                assert!((mass - sum).abs() < 1e-5 && mass > 0.1, "{precision:?}: {mass}, {sum}");
            }
        }
        Ok(())
    })
    .unwrap();
}
