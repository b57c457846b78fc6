//! Checks by the fastest cell, compared with the fields of all cells.

use std::rc::Rc;

use zippy::error::ErrorKind;
use zippy::{Config, Result, World, run_with};
use zippy_lbm::{CellIndex, Cut, FastestCell, Flow, FlowError, Precision, Problem, Side, VelocitySet};

use super::support::launcher;

/// Vortices in a box with a body and walls at rest.
fn vortices(set: VelocitySet, precision: Precision) -> Problem {
    let extents = if set.axes() == 2 { [22, 18, 1] } else { [12, 18, 22] };
    let start = |at: CellIndex| [0.05 * (at[1] as f64).sin(), 0.04 * (0.7 * at[0] as f64).cos(), 0.0];
    Problem::new(set, extents)
        .sides(1, Side::Wall, Side::Wall)
        .precision(precision)
        .body([4.0; 3], |at| at[0] < 4 && at[1] > 9)
        .initial_flow(|_| 1.0, start)
}

/// Largest speed of all cells and the speed of one cell, from the fields.
fn speeds_from_fields(world: &World, flow: &mut Flow<'_>, [x, y, z]: CellIndex) -> Result<[f64; 2]> {
    let fields = flow.fields()?;
    let inside = flow.box_ranges();
    let [nx, ny, _] = inside.each_ref().map(|range| range.end - range.start);
    let u = world.get(fields.velocity.at((inside[0].clone(), inside[1].clone(), inside[2].clone(), ..)))?;
    let u = world.fence()?.redeem(u)?;
    let count = u.len() / 3;
    let speed = |i: usize| (0..3).map(|axis| f64::from(u[axis * count + i]).powi(2)).sum::<f64>().sqrt();
    Ok([(0..count).map(speed).fold(0.0, f64::max), speed((x + nx * (y + ny * z)) as usize)])
}

#[test]
fn checks_find_the_fastest_cell_on_every_number_of_ranks() {
    for (set, precisions) in [
        (VelocitySet::D2Q9, &[Precision::Single, Precision::Half][..]),
        (VelocitySet::D3Q19, &[Precision::Half]),
        (VelocitySet::D3Q27, &[Precision::Single]),
    ] {
        for &precision in precisions {
            let found = |ranks: usize| {
                let found = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
                    let mut flow = Flow::new(world, &vortices(set, precision), &Cut::Auto)?;
                    let mut all = Vec::new();
                    for _ in 0..3 {
                        flow.run(7)?;
                        flow.start_check()?;
                        flow.finish_checks()?;
                        let fastest = flow.fastest_cell().expect("a check");
                        let [largest, there] = speeds_from_fields(world, &mut flow, fastest.cell)?;
                        assert_eq!(fastest.step, flow.steps());
                        for speed in [largest, there] {
                            assert!(
                                (fastest.speed - speed).abs() < 1e-6 * speed,
                                "{fastest:?} {speed} {set:?} {precision:?}"
                            );
                        }
                        all.push(fastest);
                    }
                    // Checks do not change the flow.
                    Ok((all, flow.hash()?))
                });
                let found = found.unwrap();
                assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
                found[0].clone()
            };
            assert_eq!(found(1), found(3));
            let plain = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
                let mut flow = Flow::new(world, &vortices(set, precision), &Cut::Auto)?;
                flow.run(21)?;
                flow.hash()
            });
            assert_eq!(plain.unwrap()[0], found(2).1, "{set:?} {precision:?}");
        }
    }
}

/// The flow itself reads the results of 32 pending checks.
#[test]
fn more_checks_than_the_limit_are_read_in_between() {
    run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let mut flow = Flow::new(world, &vortices(VelocitySet::D2Q9, Precision::Single), &Cut::Auto)?;
        for _ in 0..70 {
            flow.step()?;
            flow.start_check()?;
        }
        assert_eq!(flow.fastest_cell().map(|fastest| fastest.step), Some(64));
        flow.finish_checks()?;
        assert_eq!(flow.fastest_cell().map(|fastest| fastest.step), Some(70));
        Ok(())
    })
    .unwrap();
}

/// Step, cell and fastest cell are the same on every rank and for every number of ranks.
#[test]
fn unstable_flow_names_the_fastest_cell_of_the_last_finite_state() {
    let fails = |ranks: usize| {
        let errors = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
            let stream = |at: CellIndex| [if at[1] == 7 { 0.25 } else { 0.1 }, 0.0, 0.0];
            let problem = Problem::new(VelocitySet::D2Q9, [40, 16, 1])
                .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
                .sides(1, Side::Wall, Side::Wall)
                .viscosity(1e-7)
                .initial_flow(|_| 1.0, stream);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.start_check()?;
            flow.finish_checks()?;
            let error = (0..400).find_map(|_| {
                let started = flow.run(10).and_then(|()| flow.start_check());
                started.and_then(|()| flow.finish_checks()).err()
            });
            let error = error.expect("an unstable flow");
            let ErrorKind::Other(other) = error.clone().into_kind() else { panic!("{error}") };
            let unstable = other.as_error::<FlowError>().cloned().expect("one of a flow");
            let fields = flow.fields()?;
            let by_all_cells = flow.check_stability(&fields).expect_err("an unstable flow").kind().to_string();
            Ok((unstable, error.kind().to_string(), by_all_cells))
        });
        let errors = errors.unwrap();
        assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
        errors.into_iter().next().unwrap()
    };
    let alone = fails(1);
    assert_eq!(alone, fails(3));
    let (
        FlowError::Unstable { step, fastest: Some(FastestCell { step: before, cell, speed }), relaxation_time, .. },
        text,
        all,
    ) = alone
    else {
        panic!("{alone:?}")
    };
    assert_eq!((step, step % 10), (before + 10, 0));
    assert!((0..40).contains(&cell[0]) && (0..16).contains(&cell[1]) && cell[2] == 0, "{cell:?}");
    assert!((0.1..0.578).contains(&speed) && (relaxation_time - 0.5000003).abs() < 1e-9, "{speed}");
    let expected =
        format!("the fastest cell of the last finite state, step {before}, was {cell:?} with {speed:.4} cells a step");
    for text in [text, all] {
        assert!(text.contains(&expected) && text.contains("the relaxation time is 0.5000"), "{text}");
    }
}
