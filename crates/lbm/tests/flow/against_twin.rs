//! Density and velocity of every cell, after some steps, against plain vectors in `f64`.

use zippy::{Config, run_with};
use zippy_lbm::{Cut, Precision};

use super::cases::{Case, all};
use super::support::launcher;

/// How near numbers are: a step rounds by some units in the last place of what is about 1; in 16 bits by one of what is
/// about 0.02.
fn close(case: &Case) -> f64 {
    match case.precision {
        Precision::Single => 4e-6,
        Precision::Half => 2e-4,
    }
}

#[test]
fn all_cells() {
    for case in all() {
        // More ranks have the bits of one: see `cuts`, and there which cases.
        compare(&case, &[1]);
    }
}

/// After 1, 2 and 21 steps, on each of these numbers of ranks.
pub fn compare(case: &Case, counts: &[usize]) {
    let mut twin = case.twin();
    let mut expected = Vec::new();
    for steps in [1, 2, 21] {
        while expected.len() < steps {
            twin.step();
            expected.push((0..twin.kinds.len()).map(|i| (twin.flows(i), twin.moments(i))).collect::<Vec<_>>());
        }
    }
    let places: Vec<_> = (0..twin.kinds.len()).map(|i| twin.at(i)).collect();
    for ranks in launcher::counts(counts) {
        run_with(Config::threads(ranks), |world| {
            let mut flow = case.flow(world, &Cut::Auto)?;
            for steps in [1, 2, 21] {
                flow.run(steps - flow.steps())?;
                let fields = flow.fields()?;
                // In 16 bits there may be cells beyond the lattice.
                let [x, y, z] = twin.shape.map(|n| 0..n);
                let excess = world.get(fields.excess.at((x.clone(), y.clone(), z.clone())))?;
                let velocity = world.get(fields.velocity.at((x, y, z, ..)))?;
                let mut fetched = world.fence()?;
                let (excess, velocity) = (fetched.redeem(excess)?, fetched.redeem(velocity)?);
                for (i, (flows, (density, u))) in expected[steps as usize - 1].iter().enumerate() {
                    let found = [0, 1, 2].map(|axis| f64::from(velocity[axis * places.len() + i]));
                    let (wanted, u) = if *flows { (density - 1.0, *u) } else { (0.0, [0.0; 3]) };
                    let far = (0..3).map(|axis| (found[axis] - u[axis]).abs()).fold(0.0, f64::max);
                    let off = (f64::from(excess[i]) - wanted).abs();
                    assert!(
                        off < close(case) && far < close(case),
                        "{} {:?} {:?}, {ranks} ranks, step {steps}, cell {:?}: {} for {wanted}, {found:?} for {u:?}",
                        case.name,
                        case.set,
                        case.precision,
                        places[i],
                        excess[i]
                    );
                }
            }
            Ok(())
        })
        .unwrap();
    }
}
