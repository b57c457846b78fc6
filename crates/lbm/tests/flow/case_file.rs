//! Case files.

use std::rc::Rc;

use zippy::{Config, Error, run_with};
use zippy_lbm::case_file::{BodyFile, CaseFile};
use zippy_lbm::solids::{SolidShape, TriangleSurface};
use zippy_lbm::{Collision, Cut, Flow, Problem, Side, VelocitySet};

use super::support::launcher;

/// Example in the documentation of `case_file`.
fn example() -> String {
    include_str!("../../examples/channel.toml").to_owned()
}

fn no_files(_: &zippy::World, source: &BodyFile) -> zippy::Result<Rc<dyn SolidShape>> {
    Err(Error::program(format!("{source:?} is not there")))
}

/// Water around a rotating cylinder in metres, compared with the same problem in lattice units.
#[test]
fn example_has_the_bits_of_the_problem_in_lattice_units() {
    let hashes = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let file = CaseFile::parse(&example())?;
        assert_eq!(file.name(), "a cylinder that turns in a channel");
        assert_eq!((file.every(), file.warnings()), (Some(50), &[][..]));
        let units = file.units().expect("units");
        // 0.0625 cells a step are 0.25 m/s.
        assert_eq!((units.cell, units.step, units.density), (0.0078125, 0.001953125, 1000.0));
        let case = file.build_case(world, &no_files)?;
        assert!((case.reynolds() - 100.0).abs() < 1e-9 && case.length == 16.0 && case.speed == 0.0625);
        assert_eq!((case.steps, case.area), (20_000, Some(16.0)));
        let [probe] = file.probes() else { panic!("{:?}", file.probes()) };
        assert_eq!((probe.name.as_str(), probe.cell), ("wake", [72, 32, 0]));

        let (n, centre, radius) = ([256, 64, 1], [47.5, 31.5, 0.0], 8.0);
        let profile = |at: [i64; 3]| {
            let y = (at[1] as f64 + 0.5) / 64.0;
            [0.09375 * (4.0 * y * (1.0 - y)), 0.0, 0.0]
        };
        let spin = 2.0 * 0.001953125;
        let problem = Problem::new(VelocitySet::D2Q9, n)
            .sides(0, Side::Velocity(Rc::new(profile)), Side::Outlet(1.0))
            .sides(1, Side::Wall, Side::Wall)
            .viscosity(0.01)
            .collision(Collision::Trt { magic: 3.0 / 16.0 })
            .moving_body(
                centre,
                move |at| (at[0] as f64 - centre[0]).powi(2) + (at[1] as f64 - centre[1]).powi(2) < radius * radius,
                move |at| [-spin * (at[1] as f64 - centre[1]), spin * (at[0] as f64 - centre[0]), 0.0],
            )
            .initial_flow(|_| 1.0, |_| [0.0625, 0.0, 0.0]);
        let mut hashes = Vec::new();
        for problem in [&case.problem, &problem] {
            let mut flow = Flow::new(world, problem, &Cut::Auto)?;
            flow.run(20)?;
            let fields = flow.fields()?;
            flow.check_stability(&fields)?;
            hashes.push((flow.hash()?, flow.body_forces()?));
        }
        Ok(hashes)
    });
    for both in hashes.unwrap() {
        assert_eq!(both[0], both[1]);
        assert!(both[0].1[0].force[0] > 0.0);
    }
}

/// Oil between plates in SI units: u = a h² / (8 ν) in the middle.
#[test]
fn velocity_in_physical_units_is_exact() {
    let text = "
        steps = 3000
        lattice = { cells = [4, 16, 1] }
        units = { cell = 0.000625, step = 0.0001, density = 900.0 }
        fluid = { viscosity = 1e-3, acceleration = [0.8, 0, 0] }
        reference = { length = 0.01, speed = 0.01 }
        sides.y = { below = \"wall\", above = \"wall\" }
        probes = [{ name = \"middle\", at = [0.001, 0.0052, 0] }]
    ";
    run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let file = CaseFile::parse(text)?;
        let case = file.build_case(world, &no_files)?;
        let mut flow = Flow::new(world, &case.problem, &Cut::Auto)?;
        flow.run(case.steps)?;
        let cell = file.probes()[0].cell;
        assert_eq!(cell, [1, 8, 0]);
        let fields = flow.fields()?;
        let inside = flow.box_ranges();
        let found = world.get(fields.velocity.at((inside[0].start + 1, inside[1].start + 8, 0, 0)))?;
        let found = f64::from(world.fence()?.redeem(found)?[0]) * file.units().expect("units").speed();
        let y = 8.5 * 0.000625;
        let exact = 0.8 / (2.0 * 1e-3) * y * (0.01 - y);
        assert!((found - exact).abs() < 1e-3 * exact, "{found}, {exact}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn bodies_of_files_have_the_positions_of_the_case_file() {
    let text = "
        steps = 1
        lattice.cells = [20, 16, 12]
        units = { cell = 0.5, step = 1.0, density = 1.0 }
        fluid.viscosity = 0.025
        reference = { length = 2.0, speed = 0.01 }
        [[bodies]]
        shape.surface = { file = 'cube.stl', size = 2.0, centre = [5.0, 4.0, 3.0] }
        [[bodies]]
        shape.surface = { file = 'cube.stl', unit = 1.0 }
    ";
    let cells = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let load = |_: &zippy::World, source: &BodyFile| -> zippy::Result<Rc<dyn SolidShape>> {
            assert_eq!(*source, BodyFile::Surface { file: "cube.stl".into() });
            // A cube of edge 1 with its lower corner at (1, 1, 1).
            let corner = |bits: usize| [0, 1, 2].map(|axis| if bits >> axis & 1 == 1 { 2.0 } else { 1.0 });
            let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            let halves = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
            Ok(Rc::new(TriangleSurface::new(&halves.map(|corners| corners.map(corner)).collect::<Vec<_>>())?))
        };
        let case = CaseFile::parse(text)?.build_case(world, &load)?;
        let solid = |at: &[i64; 3]| !case.problem.is_fluid(*at);
        let all = (0..12).flat_map(|z| (0..16).flat_map(move |y| (0..20).map(move |x| [x, y, z])));
        Ok(all.filter(solid).collect::<Vec<_>>())
    });
    // An edge of 4 cells with its centre at (5, 4, 3) m, and an edge of 2 cells with its corner at
    // 1 m.
    for cells in cells.unwrap() {
        let large = |at: &[i64; 3]| (8..12).contains(&at[0]) && (6..10).contains(&at[1]) && (4..8).contains(&at[2]);
        let small = |at: &[i64; 3]| at.iter().all(|x| (2..4).contains(x));
        assert_eq!(cells.len(), 64 + 8);
        assert!(cells.iter().all(|at| large(at) || small(at)), "{cells:?}");
    }
}

#[test]
fn invalid_entry_is_an_error_with_line_and_key() {
    let base = example();
    let changed = |from: &str, to: &str| {
        assert!(base.contains(from), "{from}");
        base.replacen(from, to, 1)
    };
    let line = |text: &str| 1 + base.lines().position(|line| line.contains(text)).expect("a line with this text");
    let checks: Vec<(String, usize, &str)> = vec![
        (changed("viscosity = ", "viscousity = "), line("viscosity = "), "unknown field `viscousity`"),
        (changed("cells = [256, 64, 1]", "cells = [256, 64]"), line("cells = ["), "2 numbers; there must be 3"),
        (changed("cells = [256, 64, 1]", "cells = [256, -64, 1]"), line("[lattice]"), "lattice.cells: -64"),
        (changed("lattice_speed = ", "step = 1.0\nlattice_speed = "), line("[units]"), "give one of step"),
        (changed("density = 1000.0", "density = 0"), line("[units]"), "units.density: it is 0"),
        (changed("\"wall\"", "\"wal\""), line("below = \"wall\""), "unknown variant `wal`"),
        (changed("above = \"wall\"", "above = \"periodic\""), line("[sides.y]"), "only one side is periodic"),
        (changed("outlet = 0.0", "outlet = 1e9"), line("[sides.x]"), "sides.x.above: 1000000000 is the density"),
        (changed("radius = 0.0625", "radius = -1"), line("[[bodies]]"), "bodies[0].cylinder.radius: it is -1"),
        (
            changed("centre = [0.375, 0.25, 0]", "centre = [0.375, 0.6, 0]"),
            line("[[bodies]]"),
            "bodies[0]: it is from 0.5375 to",
        ),
        (changed("at = [0.5664", "at = [9.5664"), line("[[probes]]"), "along axis 0 must be from 0 to below 2"),
        (changed("at = [0.5664", "at = [nan, 0.5664"), line("at = [0.5664"), "4 numbers; there must be 3"),
        (changed("steps = 20000", "steps = -1"), line("steps = "), "invalid value"),
        (changed("steps = 20000", "steps = 20000 20"), line("steps = "), ""),
    ];
    for (text, line, wanted) in checks {
        let error = CaseFile::parse(&text).expect_err(wanted).to_string();
        assert!(error.starts_with(&format!("line {line}, ")) && error.contains(wanted), "{line}, {wanted:?}: {error}");
    }
    assert!(CaseFile::parse("").expect_err("nothing").to_string().contains("missing field `steps`"));
    let fast = CaseFile::parse(&changed("lattice_speed = 0.0625", "lattice_speed = 0.5")).expect("a valid file");
    assert!(fast.warnings()[0].contains("sides.x.below has Mach number 1.30"), "{:?}", fast.warnings());
}

/// Square cylinder in a plane; the file does not mention the third axis.
const SQUARE: &str = "
    steps = 1
    lattice = { cells = [24, 16, 1], velocities = \"D2Q9\" }
    fluid = { viscosity = 0.02, velocity = [0.05, 0, 0] }
    reference = { length = 4, speed = 0.05, area = 4 }
    sides.x = { below = { velocity = [0.05, 0, 0] }, above = { outlet = 0.0 } }
    sides.y = { below = \"free-slip\", above = \"free-slip\" }
    [[bodies]]
    shape.box = { from = [8, 6, 0], to = [12, 10, 1] }
";

#[test]
fn box_in_a_plane_has_the_cells_of_its_rectangle() {
    let forces = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let case = CaseFile::parse(SQUARE)?.build_case(world, &no_files)?;
        let solid = (0..16).flat_map(|y| (0..24).map(move |x| [x, y, 0])).filter(|at| !case.problem.is_fluid(*at));
        let wanted = (6..10).flat_map(|y| (8..12).map(move |x| [x, y, 0]));
        assert!(solid.eq(wanted));
        let mut flow = Flow::new(world, &case.problem, &Cut::Auto)?;
        flow.run(20)?;
        flow.body_forces()
    });
    let forces = forces.unwrap();
    // Sound waves dominate the first steps.
    let [along, across, _] = forces[0][0].force;
    assert!(along.abs() > 1e-3 && across.abs() < 1e-6, "{forces:?}");
}

#[test]
fn surface_cells_are_counted_and_a_box_without_fluid_is_an_error() {
    let surfaces = |text: &str| {
        run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
            let case = CaseFile::parse(text)?.build_case(world, &no_files)?;
            Ok(Flow::new(world, &case.problem, &Cut::Auto)?.surface_cells().to_vec())
        })
    };
    let box_of = |corners: &str| SQUARE.replace("from = [8, 6, 0], to = [12, 10, 1]", corners);
    let within = "[[bodies]]\n shape.box = { from = [9, 7, 0], to = [11, 9, 1] }\n";
    // The rim of 4 x 4 cells; the second body is inside of the first.
    assert_eq!(surfaces(&(SQUARE.to_owned() + within)).unwrap()[0], [12, 0]);
    assert_eq!(surfaces(&box_of("from = [8.6, 6.6, 0], to = [9.4, 7.4, 1]")).unwrap()[0], [0]);
    let full = surfaces(&box_of("from = [0, 0, 0], to = [24, 16, 1]")).unwrap_err().to_string();
    assert!(full.contains("no cell of the box has fluid: 384 cells"), "{full}");
}

#[test]
fn inflow_without_a_way_out_is_a_warning() {
    let warnings = |above: &str| {
        let text = SQUARE.replace("{ outlet = 0.0 }", above);
        CaseFile::parse(&text).unwrap().warnings().iter().filter(|text| text.contains("fluid flows")).cloned().collect()
    };
    for above in ["{ outlet = 0.0 }", "{ pressure = 0.0 }", "{ velocity = [0.05, 0, 0] }"] {
        assert_eq!(warnings(above), [""; 0], "{above}");
    }
    let closed: Vec<String> = warnings("\"wall\"");
    // 16 faces of 0.05 cells into 384 cells.
    let expected = "more fluid flows in than out (sides.x.below), and no side has a pressure: the density of the box changes by +208.333 %";
    assert!(closed.len() == 1 && closed[0].starts_with(expected), "{closed:?}");
    let fast: Vec<String> = warnings("{ velocity = [0.06, 0, 0] }");
    assert!(
        fast.len() == 1 && fast[0].starts_with("more fluid flows out than in (sides.x.below, sides.x.above)"),
        "{fast:?}"
    );
}
