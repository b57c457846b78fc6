//! Flows with exact solutions.

use std::f64::consts::PI;

use zippy::{Config, Result, World, run_with};
use zippy_lbm::{Collision, Cut, Flow, Precision, Problem, Side, VelocitySet};

use super::support::launcher;

/// Velocity along axis 0 in the cells along axis 1, in the middle of the other axes.
fn velocity_profile(world: &World, flow: &mut Flow<'_>) -> Result<Vec<f64>> {
    let fields = flow.fields()?;
    let [x, y, z] = flow.box_ranges();
    let line = world.get(fields.velocity.at(((x.start + x.end) / 2, y, (z.start + z.end) / 2, 0)))?;
    Ok(world.fence()?.redeem(line)?.into_iter().map(f64::from).collect())
}

/// With the magic number 3/16, the parabola between walls half-way is exact for any viscosity.
#[test]
fn poiseuille_flow_is_exact() {
    for (set, n, viscosity) in [(VelocitySet::D2Q9, 9, 0.3), (VelocitySet::D3Q19, 8, 1.0), (VelocitySet::D3Q27, 7, 0.6)]
    {
        run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
            let depth = if set == VelocitySet::D2Q9 { 1 } else { 3 };
            let (height, peak) = (n as f64, 0.05);
            let force = 8.0 * viscosity * peak / (height * height);
            let problem = Problem::new(set, [4, n, depth])
                .sides(1, Side::Wall, Side::Wall)
                .viscosity(viscosity)
                .force([force, 0.0, 0.0]);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run((2.0 * height * height / viscosity) as u64)?;
            for (y, found) in velocity_profile(world, &mut flow)?.into_iter().enumerate() {
                let y = y as f64 + 0.5;
                let exact = force / (2.0 * viscosity) * y * (height - y);
                assert!((found - exact).abs() < 2e-5 * peak, "{set:?}, y {y}: {found}, {exact}");
            }
            Ok(())
        })
        .unwrap();
    }
}

/// Stochastic rounding causes noise and no force.
#[test]
fn profiles_in_16_bits_differ_only_by_noise() {
    run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let (n, u) = (16_i64, 0.05);
        let (height, viscosity) = (n as f64, 0.4);
        let walls = |above: Side| {
            let problem = Problem::new(VelocitySet::D2Q9, [4, n, 1]).precision(Precision::Half).viscosity(viscosity);
            problem.sides(1, Side::Wall, above)
        };
        let couette = walls(Side::MovingWall([u, 0.0, 0.0]));
        let poiseuille = walls(Side::Wall).force([8.0 * viscosity * u / (height * height), 0.0, 0.0]);
        let straight = move |y: f64| u * y;
        let parabola = move |y: f64| 4.0 * u * y * (1.0 - y);
        let known: [(_, &dyn Fn(f64) -> f64); 2] = [(couette, &straight), (poiseuille, &parabola)];
        for (problem, exact) in known {
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run((2.0 * height * height / viscosity) as u64)?;
            let mut worst = 0.0_f64;
            for (y, found) in velocity_profile(world, &mut flow)?.into_iter().enumerate() {
                worst = worst.max((found - exact((y as f64 + 0.5) / height)).abs() / u);
            }
            assert!(worst < 4e-3, "{worst} of the speed");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn couette_flow_is_linear() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let (n, u) = (7, 0.05);
        let problem = Problem::new(VelocitySet::D3Q19, [3, n, 2])
            .sides(1, Side::Wall, Side::MovingWall([u, 0.0, 0.0]))
            .viscosity(0.5);
        let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
        flow.run(200)?;
        for (y, found) in velocity_profile(world, &mut flow)?.into_iter().enumerate() {
            let exact = u * (y as f64 + 0.5) / n as f64;
            assert!((found - exact).abs() < 2e-5 * u, "y {y}: {found}, {exact}");
        }
        Ok(())
    })
    .unwrap();
}

/// Largest error of Taylor-Green vortices of `n` cells at half of the energy, relative to their
/// speed.
fn taylor_green_error(world: &World, set: VelocitySet, n: i64, collision: Collision) -> Result<f64> {
    let (viscosity, speed) = (0.02, 0.64 / n as f64);
    let k = 2.0 * PI / n as f64;
    let wave = move |at: [i64; 3]| [0, 1].map(|axis| k * at[axis] as f64);
    let problem = Problem::new(set, [n, n, 1]).viscosity(viscosity).collision(collision).initial_flow(
        move |at| {
            let [x, y] = wave(at);
            1.0 - 0.75 * speed * speed * ((2.0 * x).cos() + (2.0 * y).cos())
        },
        move |at| {
            let [x, y] = wave(at);
            [-speed * x.cos() * y.sin(), speed * x.sin() * y.cos(), 0.0]
        },
    );
    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
    flow.run((2.0_f64.ln() / (4.0 * viscosity * k * k)).round() as u64)?;
    let decay = (-2.0 * viscosity * k * k * flow.steps() as f64).exp();
    let fields = flow.fields()?;
    let velocity = world.get(fields.velocity.at((.., .., 0, 0)))?;
    let found = world.fence()?.redeem(velocity)?;
    let error = |(i, found): (usize, f32)| {
        let [x, y] = wave([i as i64 % n, i as i64 / n, 0]);
        (f64::from(found) + speed * decay * x.cos() * y.sin()).abs()
    };
    Ok(found.into_iter().enumerate().map(error).fold(0.0, f64::max) / speed)
}

/// With cells of half the size and diffusive scaling, the error is a quarter.
#[test]
fn error_falls_with_second_order() {
    run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        for (set, collision) in [
            (VelocitySet::D2Q9, Collision::Bgk),
            (VelocitySet::D2Q9, Collision::Trt { magic: 0.25 }),
            (VelocitySet::D3Q27, Collision::Bgk),
            (VelocitySet::D3Q27, Collision::Cumulant),
        ] {
            let errors = [16, 32].map(|n| taylor_green_error(world, set, n, collision));
            let [coarse, fine] = errors;
            let (coarse, fine) = (coarse?, fine?);
            let order = (coarse / fine).log2();
            assert!(coarse < 0.02 && order > 1.8, "{set:?} {collision:?}: {coarse}, {fine}, order {order}");
        }
        Ok(())
    })
    .unwrap();
}

/// Bytes per cell, including ghost cells.
#[test]
fn memory_per_cell_is_bounded() {
    run_with(Config::threads(1), |world| {
        for (precision, most) in [(Precision::Single, 93), (Precision::Half, 55)] {
            let problem = Problem::new(VelocitySet::D3Q19, [48, 48, 48]).precision(precision);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run(2)?;
            let bytes: u64 = world.debug().arrays().iter().map(|array| array.bytes()).sum();
            let least = if precision == Precision::Half { 39 } else { 77 };
            let cells = flow.fluid_cells();
            assert!((least * cells..most * cells).contains(&bytes), "{precision:?}: {bytes} bytes for {cells} cells");
        }
        Ok(())
    })
    .unwrap();
}

/// A box with a body, a lid and a free-slip side, and a small box for many steps.
#[test]
fn closed_box_keeps_its_mass() {
    let (wall, lid) = (|| Side::Wall, || Side::MovingWall([0.1, 0.0, 0.0]));
    let space = move || {
        let problem = Problem::new(VelocitySet::D3Q19, [10, 9, 8]).sides(2, wall(), Side::FreeSlip);
        problem.body([0.0; 3], |[x, y, z]| (4..6).contains(&x) && y < 3 && z > 2)
    };
    let check = |ranks: usize, steps: u64, error: f64, problem: &(dyn Fn() -> Problem + Sync)| {
        run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
            let problem = problem().sides(0, wall(), wall()).sides(1, wall(), lid()).viscosity(0.02);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            let before = flow.mass()?;
            flow.run(steps)?;
            let (after, cells) = (flow.mass()?, flow.fluid_cells() as f64);
            assert!((after - before).abs() < error * cells, "{before}, {after}");
            Ok(())
        })
        .unwrap();
    };
    check(2, 500, 1e-6, &space);
    check(1, 10_000, 1e-6, &|| Problem::new(VelocitySet::D2Q9, [9, 8, 1]));
    // Noise grows with the root of the steps.
    check(2, 500, 5e-5, &move || space().precision(Precision::Half));
}
