//! Quantities compared with loops over the velocities.

use zippy::{Config, run_with};
use zippy_lbm::{Cut, Precision, Quantity, VelocitySet};

use super::cases::{Case, all_cases};
use super::reference_flow::CellRole;
use super::support::launcher;

#[test]
fn quantities_are_those_of_loops_over_velocities() {
    let chosen = |case: &Case| ["periodic", "solids", "channel"].contains(&case.name);
    // Quantities depend only on velocities, so D3Q27 is tested only in 16 bits.
    let few = |case: &Case| case.set != VelocitySet::D3Q27 || case.precision == Precision::Half && case.has_solids;
    for case in all_cases().into_iter().filter(|case| chosen(case) && few(case)) {
        let reference = case.reference();
        let [nx, ny, nz] = reference.shape;
        let index = |at: [i64; 3]| -> Option<usize> {
            let mut wrapped = at;
            for ((x, n), periodic) in wrapped.iter_mut().zip(reference.shape).zip(reference.periodic) {
                *x = if periodic && n > 1 { x.rem_euclid(n) } else { *x };
            }
            let [x, y, z] = wrapped;
            let inside = (0..nx).contains(&x) && (0..ny).contains(&y) && (0..nz).contains(&z);
            inside.then(|| ((z * ny + y) * nx + x) as usize)
        };
        run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
            let mut flow = case.flow(world, &Cut::Auto)?;
            flow.run(3)?;
            let fields = flow.fields()?;
            let values = flow.scalar_array("values")?;
            for quantity in [Quantity::Speed, Quantity::Vorticity, Quantity::QCriterion] {
                flow.compute_quantity(quantity, &fields, &values)?;
                let (found, u) = (world.get(values.at(..))?, world.get(fields.velocity.at(..))?);
                let mut fetched = world.fence()?;
                let (found, u) = (fetched.redeem(found)?, fetched.redeem(u)?);
                let count = found.len();
                let velocity =
                    |at: [i64; 3]| [0, 1, 2].map(|axis| index(at).map_or(0.0, |i| f64::from(u[axis * count + i])));
                for i in (0..count).filter(|&i| reference.is_fluid(i)) {
                    let at = reference.cell(i);
                    let neighbour = |axis: usize, step: i64| {
                        let mut next = at;
                        next[axis] += step;
                        let Some(there) = index(next) else { return velocity(at) };
                        let open = matches!(reference.roles[i], CellRole::Velocity { .. } | CellRole::Pressure { .. });
                        match reference.roles[there] {
                            CellRole::Mirror(_) => {
                                let mut u = velocity(at);
                                u[axis] = -u[axis];
                                u
                            }
                            CellRole::Solid if open => velocity(at),
                            _ => velocity(next),
                        }
                    };
                    // Gradient; a row is the axis of the difference.
                    let rows = [0, 1, 2].map(|axis| {
                        let (next, before) = (neighbour(axis, 1), neighbour(axis, -1));
                        [0, 1, 2].map(|k| 0.5 * (next[k] - before[k]))
                    });
                    let expected = match quantity {
                        Quantity::Speed => velocity(at).iter().map(|x| x * x).sum::<f64>().sqrt(),
                        Quantity::Vorticity => {
                            let curl = [(1, 2), (2, 0), (0, 1)].map(|(a, b)| rows[a][b] - rows[b][a]);
                            curl.iter().map(|x| x * x).sum::<f64>().sqrt()
                        }
                        // Half of the squares of rotation minus those of strain.
                        Quantity::QCriterion => {
                            let parts = |sign: f64| -> f64 {
                                let part = |a: usize, b: usize| (0.5 * (rows[a][b] + sign * rows[b][a])).powi(2);
                                (0..3).map(|a| (0..3).map(|b| part(a, b)).sum::<f64>()).sum()
                            };
                            0.5 * (parts(-1.0) - parts(1.0))
                        }
                    };
                    let found = f64::from(found[i]);
                    assert!((found - expected).abs() < 1e-6, "{quantity:?} at {at:?}: {found}, {expected}");
                }
            }
            Ok(())
        })
        .unwrap();
    }
}
