//! Differences of case files, mistakes in them, and their warnings.

use std::rc::Rc;

use zippy::{Config, Error, run_with};
use zippy_lbm::case_file::{BodyFile, CaseFile};
use zippy_lbm::solids::SolidShape;
use zippy_lbm::{Cut, Flow};

use super::support::launcher;

fn no_files(_: &zippy::World, source: &BodyFile) -> zippy::Result<Rc<dyn SolidShape>> {
    Err(Error::program(format!("{source:?} is not there")))
}

const CHANNEL: &str = "
steps = 20
[lattice]
cells = [24, 16, 12]
[fluid]
viscosity = 0.02
acceleration = [1e-5, 0, 0]
[reference]
length = 6
speed = 0.05
[sides.y]
below = \"wall\"
above = { moving-wall = [0.01, 0, 0] }
[[bodies]]
shape.sphere = { centre = [12, 8, 6], radius = 3 }
spin = [0, 0, 0.001]
";

fn edit(from: &str, to: &str) -> String {
    assert!(CHANNEL.contains(from), "{from}");
    CHANNEL.replacen(from, to, 1)
}

#[test]
fn edited_file_lists_its_differences() {
    let before = CaseFile::parse(CHANNEL).unwrap();
    let differences = |text: &str| before.differences(&CaseFile::parse(text).unwrap()).unwrap();
    for (from, to, line) in [
        ("viscosity = 0.02", "viscosity = 0.03", "fluid.viscosity: 0.02 -> 0.03"),
        ("steps = 20", "steps = 40", "steps: 20 -> 40"),
        (
            "viscosity = 0.02",
            "viscosity = 0.02\nvelocity = [0.01, 0, 0]",
            "fluid.velocity: [0.0, 0.0, 0.0] -> [0.01, 0.0, 0.0]: has no effect on a run that goes on",
        ),
        ("[0.01, 0, 0]", "[0.02, 0, 0]", "sides.y.above.moving-wall: [0.01, 0.0, 0.0] -> [0.02, 0.0, 0.0]"),
        ("spin = [0, 0, 0.001]", "", "bodies[0].spin: [0.0, 0.0, 0.001] -> [0.0, 0.0, 0.0]"),
        ("cells = [24, 16, 12]", "cells = [24, 16, 12]\ncollision = \"bgk\"", "lattice.collision: \"trt\" -> \"bgk\""),
        ("speed = 0.05", "speed = 0.06\narea = 28.3", "reference.area: nothing -> 28.3"),
        ("[[bodies]]", "[[probes]]\nname = \"a\"\nat = [1, 1, 1]\n[[bodies]]", "probes[0].name: nothing -> \"a\""),
    ] {
        let found = differences(&edit(from, to));
        assert!(found.accepted.contains(&line.to_owned()) && found.refused.is_empty(), "{line}: {found:?}");
    }
    for (from, to, line) in [
        ("[24, 16, 12]", "[24, 16, 14]", "lattice.cells: [24, 16, 12] -> [24, 16, 14]"),
        ("[24, 16, 12]", "[24, 16, 12]\nvelocities = \"D3Q27\"", "lattice.velocities: \"D3Q19\" -> \"D3Q27\""),
        ("radius = 3", "radius = 4", "bodies[0].shape.sphere.radius: 3.0 -> 4.0"),
        ("below = \"wall\"", "below = \"free-slip\"", "sides.y.below: \"wall\" -> \"free-slip\""),
        ("{ moving-wall = [0.01, 0, 0] }", "\"wall\"", "sides.y.above: nothing -> \"wall\""),
        ("[fluid]", "[units]\ncell = 2\nstep = 1\ndensity = 1\n[fluid]", "units.cell: nothing -> 2.0"),
        ("[[bodies]]", "[[bodies]]\nshape.sphere = { centre = [2, 2, 2], radius = 2 }\n[[bodies]]", "bodies[1].shape"),
    ] {
        let found = differences(&edit(from, to));
        assert!(found.refused.iter().any(|one| one.starts_with(line)), "{line}: {found:?}");
    }
    let explicit = "cells = [24, 16, 12]\nvelocities = \"D3Q19\"\ncollision = \"trt\"\nmagic = 0.1875";
    let explicit = edit("cells = [24, 16, 12]", explicit)
        .replace("[[bodies]]", "[sides.x]\nbelow = \"periodic\"\nabove = \"periodic\"\n[[bodies]]");
    assert_eq!(differences(&explicit), Default::default());
}

#[test]
fn error_of_a_side_or_shape_has_the_correction() {
    for (from, to, wanted) in [
        ("below = \"wall\"", "below = \"outlet\"", "\"outlet\" needs a value: { outlet = 0.0 }"),
        ("below = \"wall\"", "below = \"velocity\"", "\"velocity\" needs a value: { velocity = [0.05, 0, 0] }"),
        (
            "below = \"wall\"",
            "below = { wall = 1 }",
            "\"wall\" has no value: \"wall\"; a wall that moves is { moving-wall = [",
        ),
        ("below = \"wall\"", "below = {}", "a side is one of \"periodic\""),
        ("below = \"wall\"", "below = 1", "expected a side: \"wall\" or { outlet = 0.0 }"),
        ("below = \"wall\"", "below = { outlet = 0, pressure = 1 }", "here are two, outlet and pressure"),
        ("below = \"wall\"", "below = { velocity = [1, 0] }", "2 numbers; there must be 3"),
        ("below = \"wall\"", "below = { outlets = 1 }", "unknown variant `outlets`"),
        (
            "radius = 3 }",
            "radius = 3 }\nshape.box = { from = [1, 1, 1], to = [2, 2, 2] }",
            "here are two, box and sphere",
        ),
        ("radius = 3 }", "radius = 3, size = 3 }", "unknown field `size`"),
        ("shape.sphere = { centre = [12, 8, 6], radius = 3 }", "shape = {}", "a body needs a shape: one of sphere"),
        ("shape.sphere = { centre = [12, 8, 6], radius = 3 }", "shape = \"sphere\"", "a sphere needs its numbers"),
        ("shape.sphere", "shape.ball", "unknown variant `ball`"),
    ] {
        let error = CaseFile::parse(&edit(from, to)).expect_err(wanted).to_string();
        let line = 1 + CHANNEL.lines().position(|line| line.contains(from)).expect("a line with this text");
        assert!(error.contains(wanted), "{wanted:?}: {error}");
        assert!(
            error.starts_with(&format!("line {line}, ")) || error.starts_with(&format!("line {}, ", line + 1)),
            "{line}: {error}"
        );
    }
}

/// Images have the cells, the force and the torque of a body in the middle.
#[test]
fn bodies_have_images_along_periodic_axes() {
    let shapes = [
        "sphere = { centre = [X, 8, Z], radius = 3.3 }",
        "cylinder = { centre = [X, 8, Z], radius = 2.6, axis = \"x\", length = 7 }",
        "cylinder = { centre = [X, 8, Z], radius = 2.6, axis = \"z\" }",
    ];
    for shape in shapes {
        let found = |[x, z]: [f64; 2]| {
            let shape = shape.replace('X', &x.to_string()).replace('Z', &z.to_string());
            let text = edit("sphere = { centre = [12, 8, 6], radius = 3 }", &shape);
            let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
                let case = CaseFile::parse(&text)?.build_case(world, &no_files)?;
                let mut flow = Flow::new(world, &case.problem, &Cut::Auto)?;
                flow.run(25)?;
                Ok((flow.fluid_cells(), flow.body_forces()?))
            });
            found.unwrap().swap_remove(0)
        };
        let (cells, forces) = found([12.5, 6.5]);
        assert!(cells < 24 * 16 * 12 - 80 && forces[0].force[0] != 0.0);
        for cell in [[0.5, 6.5], [12.5, 0.5], [23.5, 11.5], [0.5, 0.5]] {
            let (there, moved) = found(cell);
            assert_eq!(there, cells, "{shape} at {cell:?}");
            for axis in 0..3 {
                let (a, b) = (forces[0].force[axis], moved[0].force[axis]);
                assert!((a - b).abs() <= 1e-6 * forces[0].force[0].abs(), "{shape} at {cell:?}: force {a} and {b}");
                // Arms along an infinite cylinder differ.
                let (a, b) = (forces[0].torque[axis], moved[0].torque[axis]);
                let is_known = !shape.contains("\"z\"") || axis == 2;
                assert!(
                    !is_known || (a - b).abs() <= 1e-5 * forces[0].force[0].abs(),
                    "{shape} at {cell:?}: torque {a}, {b}"
                );
            }
        }
    }
    // Inside and across the sides, some with faces at cell centres.
    let count = |from: f64| {
        let shape = format!("box = {{ from = [{from}, 5.5, 4], to = [{}, 9.5, 8] }}", from + 6.0);
        let text = edit("sphere = { centre = [12, 8, 6], radius = 3 }", &shape);
        let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
            Ok(Flow::new(world, &CaseFile::parse(&text)?.build_case(world, &no_files)?.problem, &Cut::Auto)?
                .fluid_cells())
        });
        24 * 16 * 12 - found.unwrap()[0]
    };
    for from in [3.0, 3.3, 3.5, 21.0, 21.5, -2.5, -0.7] {
        assert_eq!(count(from), 6 * 4 * 4, "{from}");
    }
}

#[test]
fn body_next_to_the_box_is_refused_across_walls_only() {
    let parse = |centre: &str| CaseFile::parse(&edit("centre = [12, 8, 6]", &format!("centre = {centre}")));
    for centre in ["[-12, 8, 6]", "[36, 8, 6]", "[12, 8, -6]", "[12, 8, 18]"] {
        assert!(parse(centre).is_ok(), "{centre}");
    }
    for centre in ["[12, -8, 6]", "[12, 24, 6]"] {
        let error = parse(centre).expect_err(centre).to_string();
        assert!(error.contains("outside of the box"), "{error}");
    }
}

#[test]
fn body_that_a_side_cuts_off_is_a_warning() {
    let warnings = |shape: &str, below: &str| -> Vec<String> {
        let text = edit("sphere = { centre = [12, 8, 6], radius = 3 }", shape).replace("\"wall\"", below);
        let file = CaseFile::parse(&text).unwrap();
        file.warnings().iter().filter(|warning| warning.contains("cuts it off")).cloned().collect()
    };
    let sphere = "sphere = { centre = [12, 2, 6], radius = 4 }";
    assert_eq!(warnings(sphere, "\"wall\""), ["bodies[0] reaches 2.00 cells beyond sides.y.below, which cuts it off"]);
    let above = "box = { from = [2, 14, 2], to = [4, 17.5, 4] }";
    assert_eq!(warnings(above, "\"wall\""), ["bodies[0] reaches 1.50 cells beyond sides.y.above, which cuts it off"]);
    for (shape, below) in [
        // Half of a sphere at a mirror, a step on a wall, a cylinder from wall to wall, and
        // periodic sides.
        ("sphere = { centre = [12, 0, 6], radius = 4 }", "\"free-slip\""),
        ("box = { from = [2, 0, 2], to = [4, 5, 4] }", "\"wall\""),
        ("cylinder = { centre = [12, 8, 6], radius = 2, axis = \"y\" }", "\"wall\""),
        ("sphere = { centre = [0, 8, 6], radius = 4 }", "\"wall\""),
    ] {
        assert_eq!(warnings(shape, below), [""; 0], "{shape}");
    }
}

/// The limits are 0.506 with open sides and 0.505 without.
#[test]
fn small_relaxation_time_is_a_warning() {
    let warnings = |time: f64, sides: &str| {
        let viscosity = (time - 0.5) / 3.0;
        let text = edit("viscosity = 0.02", &format!("viscosity = {viscosity}")).replace("[[bodies]]", sides);
        let warnings = run_with(Config::threads(launcher::counts(&[1])[0]), |world| {
            Ok(CaseFile::parse(&text)?.build_case(world, &no_files)?.warnings())
        });
        warnings.unwrap().swap_remove(0)
    };
    let open = "[sides.x]\nbelow = { velocity = [0.05, 0, 0] }\nabove = { outlet = 0.0 }\n[[bodies]]";
    for (time, sides, wanted) in [
        (0.5055, open, Some("relaxation time 0.5055: sides where fluid comes or goes are stable from 0.506 on")),
        (0.5065, open, None),
        (0.5055, "[[bodies]]", None),
        (0.5045, "[[bodies]]", Some("relaxation time 0.5045: so near to 1/2")),
    ] {
        // Open sides at a low viscosity have sponge layers, too.
        let (sponge, found): (Vec<String>, Vec<String>) =
            warnings(time, sides).into_iter().partition(|warning| warning.contains("the viscosity is raised in"));
        assert_eq!(sponge.len(), usize::from(sides == open), "{time}: {sponge:?}");
        match wanted {
            Some(wanted) => assert!(found.len() == 1 && found[0].starts_with(wanted), "{found:?}"),
            None => assert_eq!(found, [""; 0], "{time}"),
        }
    }
}

/// 0.06 · 0.8^(n - 4) is below 3 ν from n = 22 layers on for ν = 0.0004: two sides fill a box of 44
/// cells and none of 48.
#[test]
fn sponge_layers_that_fill_the_box_are_a_warning() {
    for (cells, is_filled) in [(24, true), (64, false)] {
        let text = edit("viscosity = 0.02", "viscosity = 0.0004")
            .replace("[24, 16, 12]", &format!("[{cells}, 16, 12]"))
            .replace(
                "[[bodies]]",
                "[sides.x]\nbelow = { velocity = [0.05, 0, 0] }\nabove = { outlet = 0.0 }\n[[bodies]]",
            );
        let warnings = run_with(Config::threads(launcher::counts(&[1])[0]), |world| {
            Ok(CaseFile::parse(&text)?.build_case(world, &no_files)?.warnings())
        });
        let warnings = warnings.unwrap().swap_remove(0).join("\n");
        assert_eq!(warnings.contains("they fill the box of"), is_filled, "{cells}: {warnings}");
        assert_eq!(warnings.contains("keep bodies further away"), !is_filled, "{cells}: {warnings}");
    }
}

/// 20 x 20 cells before a box that closes the channel take 20 x 0.05 cells in a step: 250 % in 1000
/// steps.
#[test]
fn fluid_closed_in_by_a_body_is_a_warning() {
    let text = |body: &str, above: &str| {
        format!(
            "steps = 1
            lattice = {{ cells = [40, 20, 1], velocities = \"D2Q9\" }}
            fluid = {{ viscosity = 0.02, velocity = [0.05, 0, 0] }}
            reference = {{ length = 4, speed = 0.05 }}
            [sides.x]
            below = {{ velocity = [0.05, 0, 0] }}
            above = {above}
            [[bodies]]
            shape.box = {body}"
        )
    };
    let whole = "{ from = [20, -1, 0], to = [24, 50, 1] }";
    let outlet = "{ outlet = 0.0 }";
    for (body, above, wanted) in [
        (
            whole,
            outlet,
            Some(["a region of 400 cells is closed by bodies and walls: fluid flows in ", "by +250.000 %"]),
        ),
        (whole, "{ velocity = [0.05, 0, 0] }", Some(["a region of 320 cells", "by -312.500 %"])),
        ("{ from = [20, 0, 0], to = [24, 19, 1] }", outlet, None),
        ("{ from = [20, 3, 0], to = [24, 9, 1] }", outlet, None),
        ("{ from = [20, 3, 0], to = [24, 9, 1] }", "{ velocity = [0.05, 0, 0] }", None),
    ] {
        let text = text(body, above);
        let found = run_with(Config::threads(launcher::counts(&[1])[0]), |world| {
            Ok(CaseFile::parse(&text)?.build_case(world, &no_files)?.problem.closed_region_warning())
        });
        let found = found.unwrap().swap_remove(0);
        match wanted {
            Some(wanted) => {
                let found = found.expect(body);
                assert!(wanted.iter().all(|wanted| found.contains(wanted)), "{found}");
            }
            None => assert_eq!(found, None, "{body}"),
        }
    }
}
