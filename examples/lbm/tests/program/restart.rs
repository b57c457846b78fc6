//! Continued runs: with the same solid, and with an edited case file.

use std::path::Path;

use super::pictures::run;

const CASE: &str = "
steps = 6
[lattice]
cells = [24, 16, 1]
[fluid]
viscosity = 0.02
velocity = [0.05, 0, 0]
[reference]
length = 6
speed = 0.05
[sides.x]
below = { velocity = [0.05, 0, 0] }
above = { outlet = 0.0 }
[[bodies]]
shape.sphere = { centre = [8, 8, 0], radius = 3 }
";

fn hash(text: &str) -> &str {
    text.split("hash ").nth(1).expect("a hash").trim()
}

#[test]
fn edited_case_is_applied_or_refused_with_its_differences() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    let run = |options: &str| run(directory.path(), options);
    write("case.toml", CASE);
    write("thick.toml", &CASE.replace("viscosity = 0.02", "viscosity = 0.04"));
    write("other.toml", &CASE.replace("radius = 3", "radius = 4").replace("[24, 16, 1]", "[24, 18, 1]"));
    run("--ranks 2 case.toml --steps 6 --checkpoint ck").unwrap();
    let plain = run("--ranks 3 --restart ck --steps 5 --hash").unwrap();
    let same = run("--ranks 2 --restart ck --case case.toml --steps 5 --hash").unwrap();
    let thick = run("--ranks 2 --restart ck --case thick.toml --steps 5 --hash --checkpoint ck").unwrap();
    assert_eq!(hash(&plain), hash(&same));
    assert!(hash(&plain) != hash(&thick) && thick.contains("relaxation time 0.6200"), "{thick}");
    // Changes persist.
    assert!(run("--restart ck --steps 1").unwrap().contains("relaxation time 0.6200"));
    for (options, wanted) in [
        ("--restart ck --case other.toml", "lattice.cells: [24, 16, 1] -> [24, 18, 1]"),
        ("--restart ck other.toml", "bodies[0].shape.sphere.radius: 3.0 -> 4.0"),
        ("--restart ck --case cavity2d", "a case of a file by an edited .toml file"),
        (
            "--restart ck --case case.toml --collision bgk",
            "--collision is for named cases; the file contains this value",
        ),
        ("--restart ck --case case.toml --smagorinsky 0.1", "--smagorinsky is for named cases"),
        ("--restart ck --smagorinsky 0.1", "--smagorinsky is for named cases"),
        ("--restart ck --case missing.toml", "cannot read missing.toml"),
    ] {
        let text = run(&format!("--ranks 3 {options}")).unwrap_err();
        assert!(text.contains(wanted), "{options}: {text}");
    }
    run("--case cavity2d --n 8 --steps 2 --checkpoint named").unwrap();
    let text = run("--restart named --case case.toml").unwrap_err();
    assert!(text.contains("the checkpoint has the case cavity2d"), "{text}");
}

/// A binary STL file of a box with a corner at the origin.
fn write_box(path: &Path, edges: [f32; 3]) {
    let corner = |bits: usize| [0, 1, 2].map(|axis| if bits >> axis & 1 == 1 { edges[axis] } else { 0.0 });
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut bytes = vec![0_u8; 80];
    bytes.extend(12_u32.to_le_bytes());
    for [a, b, c] in faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]) {
        bytes.extend([0; 12]);
        [a, b, c].iter().flat_map(|&bits| corner(bits)).for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn solid_that_has_changed_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("block.stl");
    let described = "
        steps = 4
        lattice.cells = [20, 16, 12]
        fluid = { viscosity = 0.02, acceleration = [1e-5, 0, 0] }
        reference = { length = 4, speed = 0.05 }
        [[bodies]]
        shape.surface = { file = \"block.stl\", unit = 1, centre = [10, 8, 6] }
    ";
    std::fs::write(directory.path().join("case.toml"), described).unwrap();
    let run = |options: &str| run(directory.path(), options);
    let named = "--case object --solid block.stl --solid-size 6 --n 20x16x12";
    for (begin, name, [cells, after]) in [(named, "named", [144, 96]), ("case.toml", "file", [96, 64])] {
        write_box(&file, if name == "named" { [6.0, 6.0, 4.0] } else { [6.0, 4.0, 4.0] });
        run(&format!("--ranks 2 {begin} --steps 4 --checkpoint {name}")).unwrap();
        let whole = run(&format!("--ranks 3 --restart {name} --steps 3 --hash")).unwrap();
        write_box(&file, if name == "named" { [6.0, 4.0, 4.0] } else { [4.0, 4.0, 4.0] });
        let text = run(&format!("--ranks 3 --restart {name} --steps 3")).unwrap_err();
        let wanted = format!("it had {cells} solid cells, {after} now");
        assert!(text.contains(&wanted) && text.contains("block.stl") && text.contains("step 4"), "{text}");
        // The file may differ if the solid cells are the same.
        write_box(&file, if name == "named" { [6.0, 6.0, 4.0] } else { [6.1, 4.1, 4.1] });
        let again = run(&format!("--ranks 1 --restart {name} --steps 3 --hash")).unwrap();
        assert_eq!(hash(&whole), hash(&again), "{name}");
    }
}

#[test]
fn thin_solid_is_an_error_and_thicken_closes_it() {
    let directory = tempfile::tempdir().unwrap();
    write_box(&directory.path().join("plate.stl"), [0.3, 10.0, 10.0]);
    let plate = "--case object --solid plate.stl --solid-size 10 --n 31x20x20 --steps 1 --json";
    let text = run(directory.path(), plate).unwrap_err();
    assert!(text.contains("plate.stl") && text.contains("thicken"), "{text}");
    let text = run(directory.path(), &format!("--ranks 2 {plate} --thicken")).unwrap();
    // One layer of 10 x 10 cells of 31 x 20 x 20.
    assert!(text.contains("\"fluid_cells\":12300"), "{text}");
}

/// Options of the solid are part of the checkpoint.
#[test]
fn options_of_the_solid_are_refused_at_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    write_box(&directory.path().join("block.stl"), [6.0, 6.0, 4.0]);
    let run = |options: &str| run(directory.path(), options);
    run("--case object --solid block.stl --solid-size 6 --n 20x16x12 --steps 2 --checkpoint ck").unwrap();
    for option in ["--thicken", "--solid-size 5", "--above 100", "--below 3", "--axes xyz", "--raw 4x4x4:u8"] {
        let text = run(&format!("--restart ck --steps 1 {option}")).unwrap_err();
        assert!(text.contains("cannot be used with") && text.contains("--restart"), "{option}: {text}");
    }
}

/// Checkpoints of another run stay, even of the same case at an earlier step.
#[test]
fn restart_leaves_checkpoints_of_other_runs_alone() {
    let directory = tempfile::tempdir().unwrap();
    let run = |options: &str| run(directory.path(), options);
    let names = |name: &str| -> Vec<String> {
        let entries = std::fs::read_dir(directory.path().join(name)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    run("cavity2d --n 8 --steps 6 --checkpoint own").unwrap();
    run("cavity2d --n 8 --steps 4 --every 2 --checkpoint other").unwrap();
    let before = names("other");
    let text = run("--restart own --steps 4 --every 2 --checkpoint other").unwrap_err();
    assert!(text.contains("--checkpoint other: it has checkpoints of the case cavity2d"), "{text}");
    assert_eq!(names("other"), before);
    run("--restart own --steps 4 --every 2 --checkpoint ./other/../own").unwrap();
    run("--restart own --steps 4 --every 2 --checkpoint new").unwrap();
}
