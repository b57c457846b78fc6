//! Density and velocity of every cell after some steps, compared with a reference in `f64`.

use zippy::{Config, run_with};
use zippy_lbm::{Cut, Precision};

use super::cases::{Case, all_cases};
use super::support::launcher;

/// Largest rounding error of some steps: some units in the last place of 1 in 32 bits, and one unit
/// in the last place of 0.02 in 16 bits.
fn tolerance(case: &Case) -> f64 {
    match case.precision {
        Precision::Single => 4e-6,
        Precision::Half => 2e-4,
    }
}

#[test]
fn fields_of_all_cases_are_those_of_the_reference() {
    for case in all_cases() {
        // `cuts` compares more ranks with one rank.
        compare_with_reference(&case, &[1]);
    }
}

/// Compares a case with the reference after 1, 2 and 21 steps, on each of these numbers of ranks.
pub(crate) fn compare_with_reference(case: &Case, counts: &[usize]) {
    let mut reference = case.reference();
    let mut expected = Vec::new();
    for steps in [1, 2, 21] {
        while expected.len() < steps {
            reference.step();
            expected.push(
                (0..reference.roles.len()).map(|i| (reference.is_fluid(i), reference.moments(i))).collect::<Vec<_>>(),
            );
        }
    }
    let cells: Vec<_> = (0..reference.roles.len()).map(|i| reference.cell(i)).collect();
    for ranks in launcher::counts(counts) {
        run_with(Config::threads(ranks), |world| {
            let mut flow = case.flow(world, &Cut::Auto)?;
            for steps in [1, 2, 21] {
                flow.run(steps - flow.steps())?;
                let fields = flow.fields()?;
                // 16 bits may have padding cells after the lattice.
                let [x, y, z] = reference.shape.map(|n| 0..n);
                let excess = world.get(fields.excess.at((x.clone(), y.clone(), z.clone())))?;
                let velocity = world.get(fields.velocity.at((x, y, z, ..)))?;
                let mut fetched = world.fence()?;
                let (excess, velocity) = (fetched.redeem(excess)?, fetched.redeem(velocity)?);
                for (i, (flows, (density, u))) in expected[steps as usize - 1].iter().enumerate() {
                    let found = [0, 1, 2].map(|axis| f64::from(velocity[axis * cells.len() + i]));
                    let (wanted, u) = if *flows { (density - 1.0, *u) } else { (0.0, [0.0; 3]) };
                    let far = (0..3).map(|axis| (found[axis] - u[axis]).abs()).fold(0.0, f64::max);
                    let off = (f64::from(excess[i]) - wanted).abs();
                    assert!(
                        off < tolerance(case) && far < tolerance(case),
                        "{} {:?} {:?}, {ranks} ranks, step {steps}, cell {:?}: {} for {wanted}, {found:?} for {u:?}",
                        case.name,
                        case.set,
                        case.precision,
                        cells[i],
                        excess[i]
                    );
                }
            }
            Ok(())
        })
        .unwrap();
    }
}
