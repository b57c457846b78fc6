//! Running flows that change their problem.

use zippy::{Config, run_with};
use zippy_lbm::cases::{Case as StandardCase, CaseOptions};
use zippy_lbm::{Collision, Cut, Precision, Problem, Side, VelocitySet};

use super::cases::{Case, all_cases};
use super::support::launcher;

type Change = fn(Problem) -> Problem;

/// Hashes after `before` steps of a case, one of these changes of its problem or none, and 4 more
/// steps.
fn hashes_after_changes(case: &Case, ranks: usize, before: u64, changes: &[Option<Change>]) -> Vec<u64> {
    let all = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
        let hash = |change: &Option<Change>| {
            let mut flow = case.flow(world, &Cut::Auto)?;
            flow.run(before)?;
            if let Some(change) = change {
                flow.change_problem(&change(case.problem()))?;
            }
            flow.run(4)?;
            flow.hash()
        };
        changes.iter().map(hash).collect()
    });
    let all: Vec<Vec<u64>> = all.unwrap();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "ranks differ");
    all.into_iter().next().unwrap()
}

#[test]
fn change_to_the_same_problem_has_no_effect() {
    for (number, case) in all_cases().iter().enumerate() {
        // Odd and even steps. One rank in space, where kernels take the longest to compile.
        let ranks = if case.set == VelocitySet::D2Q9 { 2 } else { 1 };
        let found = hashes_after_changes(case, ranks, 2 + number as u64 % 2, &[None, Some(|problem| problem)]);
        assert_eq!(found[0], found[1], "{} {:?}", case.name, case.set);
    }
}

#[test]
fn change_to_another_problem_has_the_same_bits_on_every_number_of_ranks() {
    // Walls that come to rest change their kind also on ranks that have them only as ghost cells.
    let changes: [Option<Change>; 3] =
        [None, Some(|problem| problem.scale_driving(1.5).viscosity(0.07)), Some(|problem| problem.scale_driving(0.0))];
    let driven = |case: &&Case| ["solids", "duct", "stream", "channel"].contains(&case.name);
    // Kernels of D3Q27 take the longest to compile: one case in 16 bits.
    let few = |case: &&Case| case.set != VelocitySet::D3Q27 || case.precision == Precision::Half && case.name == "duct";
    for case in all_cases().iter().filter(driven).filter(few) {
        let alone = hashes_after_changes(case, 1, 3, &changes);
        assert_eq!(hashes_after_changes(case, 3, 3, &changes), alone, "{} {:?}", case.name, case.set);
        assert!(alone[0] != alone[1] && alone[0] != alone[2], "{} {:?}", case.name, case.set);
    }
}

#[test]
fn faster_lid_leads_to_couette_flow_of_its_speed() {
    let choices = CaseOptions { n: [8, 0, 0], reynolds: Some(2.0), speed: Some(0.02), ..CaseOptions::default() };
    let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let case = StandardCase::by_name("couette", &choices)?;
        let mut flow = zippy_lbm::Flow::new(world, &case.problem, &Cut::Auto)?;
        flow.run(100)?;
        let faster = case.with_speed(0.04);
        assert!(case.problem.is_driven() && (faster.reynolds() - 4.0).abs() < 1e-12);
        flow.change_problem(&faster.problem)?;
        flow.run(1000)?;
        let fields = flow.fields()?;
        let line = world.get(fields.velocity.at((1, 1..9, 0, 0)))?;
        world.fence()?.redeem(line)
    });
    for (y, u) in found.unwrap()[0].iter().enumerate() {
        let wanted = 0.04 * (y as f64 + 0.5) / 8.0;
        assert!((f64::from(*u) - wanted).abs() < 1e-5, "at {y}: {u}, not {wanted}");
    }
}

#[test]
fn change_of_a_fixed_property_is_refused_without_effect() {
    let lid = |u: f64| Side::MovingWall([u, 0.0, 0.0]);
    let cavity = |n: i64, hole: i64| {
        Problem::new(VelocitySet::D2Q9, [n, 6, 1])
            .sides(0, Side::Wall, Side::Wall)
            .sides(1, Side::Wall, lid(0.05))
            .body([0.0; 3], move |at| at == [hole, 2, 0])
    };
    let hashes = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let run = |refused: bool| {
            let mut flow = zippy_lbm::Flow::new(world, &cavity(9, 4), &Cut::Parts([3, 1, 1]))?;
            flow.run(3)?;
            let others = [
                (cavity(8, 4), "keeps its lattice"),
                (cavity(9, 4).collision(Collision::Bgk), "keeps its collision"),
                (cavity(9, 4).smagorinsky(0.1), "keeps its collision"),
                (cavity(9, 4).body([0.0; 3], |_| false), "keeps its bodies"),
                (cavity(9, 4).viscosity(-1.0), "the viscosity is -1"),
                (cavity(9, 7), "would become another kind of cell"),
                (cavity(9, 4).sides(0, Side::Wall, Side::FreeSlip), "would become another kind of cell"),
            ];
            for (other, wanted) in others.iter().filter(|_| refused) {
                let error = flow.change_problem(other).expect_err(wanted).to_string();
                assert!(error.contains(wanted), "{error:?} does not say {wanted:?}");
            }
            flow.run(4)?;
            flow.hash()
        };
        Ok((run(true)?, run(false)?))
    });
    for (refused, plain) in hashes.unwrap() {
        assert_eq!(refused, plain);
    }
}
