//! Errors of problems, cuts, cases and arrays: the same on every rank.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use zippy::error::ErrorKind;
use zippy::{Config, run_with};
use zippy_lbm::cases::{Case, CaseOptions};
use zippy_lbm::{CellIndex, Collision, Cut, Fields, Flow, Precision, Problem, Quantity, Side, VelocitySet};

use super::support::launcher;

fn error_on_all_ranks(problem: impl Fn() -> Problem + Sync, cut: Cut) -> String {
    let errors = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let error = Flow::new(world, &problem(), &cut).err().expect("a mistake");
        world.barrier()?;
        Ok(error.to_string())
    });
    let errors = errors.unwrap();
    assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn invalid_problem_or_cut_is_the_same_error_on_every_rank() {
    let cube = || Problem::new(VelocitySet::D3Q19, [4, 5, 6]);
    let checks: [(String, &str); 10] = [
        (error_on_all_ranks(|| Problem::new(VelocitySet::D3Q19, [4, 0, 6]), Cut::Auto), "[4, 0, 6]"),
        (error_on_all_ranks(|| Problem::new(VelocitySet::D2Q9, [4, 4, 2]), Cut::Auto), "1 in two dimensions"),
        (
            error_on_all_ranks(|| cube().sides(1, Side::Wall, Side::Periodic), Cut::Auto),
            "axis 1: only one side is periodic",
        ),
        (error_on_all_ranks(|| cube().viscosity(0.0), Cut::Auto), "the viscosity is 0"),
        (
            error_on_all_ranks(|| cube().collision(Collision::Cumulant), Cut::Auto),
            "cumulants are those of D3Q27, not of D3Q19",
        ),
        (error_on_all_ranks(|| cube().force([0.0, f64::NAN, 0.0]), Cut::Auto), "the force is NaN"),
        (
            error_on_all_ranks(
                || cube().sides(0, Side::Pressure(1.0), Side::Wall).sides(2, Side::Wall, Side::Outlet(1.0)),
                Cut::Auto,
            ),
            "axes 0 and 2 are both open",
        ),
        (
            error_on_all_ranks(cube, Cut::Sizes([vec![4], vec![2, 2], vec![6]])),
            "axis 1 into [2, 2]: the parts must add up to 5",
        ),
        (error_on_all_ranks(cube, Cut::Parts([1, 1, 7])), "7 parts of 6 cells"),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D3Q27, [1 << 20; 3]), Cut::Parts([1; 3])),
            "cut the lattice into more parts",
        ),
    ];
    for (found, wanted) in checks {
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}

/// Message about a value that is invalid on some ranks.
fn value_error(problem: impl Fn() -> Problem + Sync) -> String {
    let errors = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let error = Flow::new(world, &problem(), &Cut::Parts([3, 1, 1])).err().expect("a mistake");
        world.barrier()?;
        Ok(match error.into_kind() {
            ErrorKind::Remote { message, .. } => message,
            kind => kind.to_string(),
        })
    });
    errors.unwrap().into_iter().next().unwrap()
}

#[test]
fn invalid_value_of_a_function_is_an_error_with_its_cell() {
    let cube = || Problem::new(VelocitySet::D3Q19, [6, 5, 4]);
    let plane = || Problem::new(VelocitySet::D2Q9, [6, 5, 1]);
    let stream = |problem: Problem, u: [f64; 3]| {
        let inflow = move |cell: CellIndex| if cell[1] == 2 { u } else { [0.0; 3] };
        problem.sides(0, Side::Velocity(Rc::new(inflow)), Side::Outlet(1.0))
    };
    let one = |value: f64, other: f64| move |cell: CellIndex| if cell == [4, 3, 0] { value } else { other };
    let start = |density: f64, u: [f64; 3]| {
        plane().initial_flow(one(density, 1.0), move |cell| if cell == [4, 3, 0] { u } else { [0.0; 3] })
    };
    let wheel = |problem: Problem, u: [f64; 3]| problem.moving_body([0.0; 3], |cell| cell == [4, 3, 0], move |_| u);
    let force = |value: f64| plane().force_field(move |cell| [0.0, one(value, 0.0)(cell), 0.0]);
    let slower = "finite, and slower than 1 cell a step";
    let checks = [
        (
            value_error(|| stream(cube(), [f64::NAN, 0.0, 0.0])),
            "open side at cell [0, 2, 0] is [NaN, 0.0, 0.0]",
            slower,
        ),
        (value_error(|| stream(cube(), [1.0, 0.0, 0.0])), "open side at cell [0, 2, 0] is [1.0, 0.0, 0.0]", slower),
        (
            value_error(|| stream(plane(), [0.1, 0.0, 0.1])),
            "cell [0, 2, 0] is [0.1, 0.0, 0.1]",
            "without a third component",
        ),
        (value_error(|| start(0.0, [0.0; 3])), "initial density at cell [4, 3, 0] is 0", "above 0"),
        (value_error(|| start(f64::INFINITY, [0.0; 3])), "at cell [4, 3, 0] is inf", "above 0"),
        (value_error(|| start(1.0, [0.0, f64::NAN, 0.0])), "initial velocity at cell [4, 3, 0] is [0.0, NaN", slower),
        (
            value_error(|| start(1.0, [0.0, 0.0, 0.1])),
            "at cell [4, 3, 0] is [0.0, 0.0, 0.1]",
            "without a third component",
        ),
        (
            value_error(|| wheel(cube(), [0.8, -0.8, 0.0])),
            "a body or a wall at cell [4, 3, 0] is [0.8, -0.8, 0.0]",
            slower,
        ),
        (
            value_error(|| wheel(plane(), [0.0, 0.0, 0.1])),
            "a body or a wall at cell [4, 3, 0]",
            "without a third component",
        ),
        (value_error(|| force(f64::NAN)), "the force at cell [4, 3, 0] is [0.0, NaN, 0.0]", "finite"),
        (
            value_error(|| plane().sides(1, Side::Wall, Side::MovingWall([0.0, 0.0, 0.1]))),
            "D2Q9 has two axes",
            "no third",
        ),
    ];
    for (found, cell, wanted) in checks {
        assert!(found.contains(cell) && found.contains(wanted), "{found:?} does not say {cell:?}, {wanted:?}");
    }
}

#[test]
fn force_field_is_called_once_for_each_fluid_cell() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let called: Rc<RefCell<Vec<CellIndex>>> = Rc::default();
        let list = Rc::clone(&called);
        let plain = Problem::new(VelocitySet::D3Q19, [6, 5, 4])
            .sides(0, Side::Pressure(1.0), Side::Outlet(1.0))
            .sides(1, Side::Wall, Side::FreeSlip)
            .body([0.0; 3], |cell| cell[0] == 3 && cell[1] < 3);
        let forced = plain.clone().force_field(move |cell| {
            list.borrow_mut().push(cell);
            [1e-4, 0.0, 0.0]
        });
        let flow = Flow::new(world, &forced, &Cut::Auto)?;
        let once: BTreeSet<CellIndex> = called.borrow().iter().copied().collect();
        assert_eq!(once.len(), called.borrow().len());
        assert!(once.iter().all(|&cell| plain.is_fluid(cell)));
        let mut sum = [once.len() as u64];
        world.group().all_reduce(&mut sum, |one, other| *one += *other)?;
        assert_eq!((sum[0], flow.fluid_cells()), (6 * 5 * 4 - 12, 6 * 5 * 4 - 12));
        Ok(())
    })
    .unwrap();
}

/// A flow refuses arrays of another cut before it writes anything.
#[test]
fn arrays_of_another_cut_are_refused() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        for precision in [Precision::Single, Precision::Half] {
            let problem = |name: &str| Problem::new(VelocitySet::D3Q19, [12, 6, 4]).precision(precision).name(name);
            let flow = |name: &str, cut: Cut| Flow::new(world, &problem(name), &cut);
            let mut own = flow("own", Cut::Parts([3, 1, 1]))?;
            let fields = own.fields()?;
            let again = own.fields()?;
            assert_eq!([fields.velocity.name(), again.velocity.name()], ["own velocity", "own velocity 2"]);
            let parts = Cut::Sizes([vec![3, 4, 5], vec![6], vec![own.problem().cut_extents()[2]]]);
            for (name, cut) in [("sizes", parts), ("across", Cut::Parts([1, 3, 1]))] {
                let mut other = flow(name, cut)?;
                let others = other.fields()?;
                let mixed = Fields { excess: fields.excess.clone(), velocity: others.velocity.clone() };
                let (values, motion) = (other.scalar_array("values")?, other.sample_array("motion")?);
                let refused = |result: zippy::Result<()>| {
                    let error = result.expect_err("an array of another flow").to_string();
                    assert!(error.contains("is not of this flow"), "{error}");
                };
                refused(own.update_fields(&others));
                refused(own.update_fields(&mixed));
                refused(own.compute_quantity(Quantity::Speed, &fields, &values));
                refused(own.compute_samples(&fields, &motion));
                refused(own.check_stability(&others));
            }
            own.update_fields(&again)?;
            own.check_stability(&again)?;
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn error_of_a_cut_has_its_unit() {
    let half = || Problem::new(VelocitySet::D3Q19, [6, 5, 8]).precision(Precision::Half);
    let thin =
        |cells: [i64; 3]| Problem::new(VelocitySet::D2Q9, cells).sides(0, Side::Pressure(1.0), Side::Outlet(1.0));
    let checks = [
        (
            error_on_all_ranks(half, Cut::Sizes([vec![6], vec![5], vec![4, 4]])),
            "axis 2 into [4, 4]: the parts must add up to 4 words (two cells each)",
        ),
        (error_on_all_ranks(half, Cut::Parts([1, 1, 5])), "cut of axis 2: 5 parts of 4 words (two cells each)"),
        (
            error_on_all_ranks(half, Cut::Parts([1, 6, 1])),
            "cut of axis 1: 6 parts of 5 cells: each part must have at least one",
        ),
        (
            error_on_all_ranks(|| thin([6, 4, 1]), Cut::Parts([7, 1, 1])),
            "at outlets and mirrors more: the first one 1, the last one 3",
        ),
        (
            error_on_all_ranks(|| thin([6, 4, 1]), Cut::Sizes([vec![6, 2], vec![4], vec![1]])),
            "the first part must have at least 1 cells, the last one 3",
        ),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D3Q19, [100_000; 3]), Cut::Auto),
            "chunks or more; there can be",
        ),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D2Q9, [1 << 24, 1 << 24, 1]), Cut::Auto),
            "chunks or more; there can be",
        ),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D3Q19, [1 << 24; 3]), Cut::Parts([1 << 24; 3])),
            "there can be 65536",
        ),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D3Q19, [4; 3]), Cut::Parts([usize::MAX, 1, 1])),
            "parts of 4 cells",
        ),
        (
            error_on_all_ranks(|| Problem::new(VelocitySet::D3Q19, [1 << 24; 3]), Cut::Parts([1; 3])),
            "cut the lattice into more",
        ),
    ];
    for (found, wanted) in checks {
        assert!(found.contains(wanted) && !found.contains("into []"), "{found:?} does not say {wanted:?}");
    }
}

#[test]
fn flow_with_ranks_without_cells_has_the_same_bits() {
    let hash = |ranks: usize| {
        let hashes = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
            let stream = |_| [0.01, 0.0, 0.0];
            let problem = Problem::new(VelocitySet::D2Q9, [5, 1, 1])
                .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
                .initial_flow(|_| 1.0, stream);
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run(7)?;
            let fields = flow.fields()?;
            flow.check_stability(&fields)?;
            flow.hash()
        });
        hashes.unwrap()[0]
    };
    assert_eq!(hash(8), hash(1));
}

#[test]
fn size_of_a_case_must_have_its_form() {
    let named = |name: &str, n: [i64; 3], set: Option<VelocitySet>| {
        Case::by_name(name, &CaseOptions { n, set, ..CaseOptions::default() })
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let wrong = |name: &str, n: [i64; 3], wanted: &str| {
        let error = named(name, n, None).expect_err(wanted);
        assert!(error.contains(wanted), "{error:?} does not say {wanted:?}");
    };
    wrong("cavity2d", [16, 8, 0], "the size of the case cavity2d is one number, as 64, not 16x8");
    wrong("taylor-green3d", [16, 8, 8], "not 16x8x8");
    wrong("sphere", [16, 8, 0], "one number or three");
    assert!(named("cavity2d", [16, 0, 0], None).is_ok() && named("cavity2d", [0; 3], None).is_ok());
    assert!(named("sphere", [16, 8, 8], None).is_ok() && named("sphere", [16, 0, 0], None).is_ok());
    assert!(named("sphere", [16, 8, 1], Some(VelocitySet::D2Q9)).is_ok());
    // The extents are checked when the flow is created.
    for name in ["couette", "cylinder", "sphere", "taylor-green3d"] {
        assert!(named(name, [i64::MAX, 0, 0], None).is_ok(), "{name}");
    }
}

#[test]
fn refused_force_field_leaves_the_flow_unchanged() {
    let forced = |value: f64| {
        let force = move |cell: CellIndex| if cell == [4, 3, 0] { [value, 0.0, 0.0] } else { [1e-4, 2e-4, 0.0] };
        Problem::new(VelocitySet::D2Q9, [6, 5, 1]).sides(1, Side::Wall, Side::Wall).force_field(force)
    };
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let hash = |refused: bool| {
            let mut flow = Flow::new(world, &forced(1e-3), &Cut::Parts([3, 1, 1]))?;
            flow.run(3)?;
            if refused {
                let error = flow.change_problem(&forced(f64::NAN)).expect_err("a force that is no number").to_string();
                assert!(error.contains("the force at cell [4, 3, 0] is [NaN, 0.0, 0.0]"), "{error}");
            }
            flow.run(3)?;
            flow.hash()
        };
        assert_eq!(hash(true)?, hash(false)?);
        Ok(())
    })
    .unwrap();
}
