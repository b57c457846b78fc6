//! Pictures and reports of the program, equal for every number of ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Renders two surfaces and returns the PNG file.
fn render(directory: &Path, ranks: usize, host_map: &str, options: &[&str]) -> Vec<u8> {
    let picture = directory.join(format!("{ranks}.png"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env("ZIPPY_HOST_MAP", host_map).env_remove("ZIPPY_RANKS").current_dir(directory);
    command.args(["--ranks", &ranks.to_string(), "--field", "tangle", "--n", "20", "--iso", "0.2,1.5"]);
    command.args(["--opacity", "0.4,1", "--size", "40x36", "--render"]).arg(&picture).args(options);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&picture).unwrap();
    std::fs::remove_file(picture).unwrap();
    bytes
}

#[test]
fn pictures_by_driver_are_the_same_for_every_number_of_ranks() {
    let directory: PathBuf = std::env::temp_dir().join(format!("zippy-isosurface-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let plain = render(&directory, 1, "0", &[]);
    assert!(plain == render(&directory, 3, "0", &[]));
    let mut colours = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 20 20 20\nencoding: raw\n\n".to_vec();
    colours.extend((0..8000).map(|index| (index % 20 * 12) as u8));
    std::fs::write(directory.join("colours.nrrd"), colours).unwrap();
    let coloured = ["--with-volume", "--colour-by", "colours.nrrd"];
    let with_colours = render(&directory, 1, "0", &coloured);
    assert!(with_colours == render(&directory, 4, "0", &coloured) && with_colours != plain);
    std::fs::remove_dir_all(directory).unwrap();
}

/// At the second origin, the spacing of 32-bit floats is half a length unit, five samples.
#[test]
fn picture_by_driver_does_not_depend_on_the_origin_of_the_file() {
    let directory: PathBuf = std::env::temp_dir().join(format!("zippy-isosurface-far-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let pictures = ["(0,0,0)", "(500000.3,4600000.3,0)"].map(|origin| {
        let head = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 21 19 17\nspace dimension: 3\nencoding: raw\n";
        let steps = "space directions: (0.1,0,0) (0,-0.1,0) (0,0,0.15)\n";
        let mut file = format!("{head}{steps}space origin: {origin}\n\n").into_bytes();
        let from = |at: i64, middle: i64| (at - middle).pow(2);
        let squared = |index: i64| from(index % 21, 11) + from(index / 21 % 19, 8) + from(index / 399, 9);
        file.extend((0..21 * 19 * 17).map(|index| 250 - squared(index).min(250) as u8));
        std::fs::write(directory.join("ball.nrrd"), file).unwrap();
        ["0", "1"].map(|host_map| {
            let picture = directory.join("picture.png");
            let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
            command.env("ZIPPY_HOST_MAP", host_map).env_remove("ZIPPY_RANKS").current_dir(&directory);
            command.args(["--ranks", "2", "--input", "ball.nrrd", "--iso", "200.5", "--pad", "--size", "40x36"]);
            let output = command.arg("--render").arg(&picture).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            std::fs::read(picture).unwrap()
        })
    });
    assert!(pictures[0] == pictures[1]);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn colours_by_driver_at_other_positions_than_the_field_cause_a_warning() {
    let directory: PathBuf = std::env::temp_dir().join(format!("zippy-isosurface-positions-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, origin: &str, step: &str| {
        let head = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 9 9 9\nspace dimension: 3\nencoding: raw\n";
        let position = format!("space directions: ({step},0,0) (0,0.5,0) (0,0,0.5)\nspace origin: {origin}\n\n");
        let mut file = format!("{head}{position}").into_bytes();
        file.extend((0..729).map(|index| (index % 9 * 20) as u8));
        std::fs::write(directory.join(name), file).unwrap();
    };
    file("field.nrrd", "(3,4,5)", "0.5");
    for (origin, step, warnings) in [("(3,4,5.01)", "0.5", 0), ("(3,4,5.1)", "0.5", 1), ("(3,4,5)", "-0.5", 1)] {
        file("colours.nrrd", origin, step);
        let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
        command.env_remove("ZIPPY_RANKS").current_dir(&directory).args(["--ranks", "2", "--input", "field.nrrd"]);
        command.args(["--iso", "50.5", "--size", "16x12", "--colour-by", "colours.nrrd", "--render", "picture.png"]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches("have other positions").count(), warnings, "{origin} {step}: {text}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

/// The first index of an array is z in one file and x in the other.
#[test]
fn meshes_of_numpy_arrays_in_both_orders_of_axes_are_equal() {
    let directory: PathBuf = std::env::temp_dir().join(format!("zippy-isosurface-axes-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let [nx, ny, nz] = [13_i64, 11, 9];
    let value = |x: i64, y: i64, z: i64| ((x - 5).pow(2) + 2 * (y - 6).pow(2) + 3 * (z - 3).pow(2)) as f32;
    let by_z = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| value(x, y, z))));
    let by_x = (0..nx).flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| value(x, y, z))));
    let files: [(&str, Vec<f32>, &str); 2] =
        [("(9, 11, 13)", by_z.collect(), "zyx"), ("(13, 11, 9)", by_x.collect(), "xyz")];
    let meshes = files.map(|(shape, cells, axes)| {
        let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend(format!("{head:<117}\n").bytes());
        file.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        std::fs::write(directory.join("field.npy"), file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
        command.env_remove("ZIPPY_RANKS").current_dir(&directory).args(["--ranks", "3", "--input", "field.npy"]);
        let output = command.args(["--axes", axes, "--iso", "20.5", "--output", "mesh.obj"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(directory.join("mesh.obj")).unwrap()
    });
    assert!(meshes[0] == meshes[1]);
    // Half axes of the ellipsoid: 4.5 along x, 2.6 along z.
    let largest = |axis: usize| {
        let vertices = meshes[0].lines().filter(|line| line.starts_with("v "));
        vertices.map(|line| line.split(' ').nth(1 + axis).unwrap().parse::<f32>().unwrap()).fold(0.0, f32::max)
    };
    assert!((largest(0) - 9.5).abs() < 0.1 && (largest(2) - 5.6).abs() < 0.1, "{} {}", largest(0), largest(2));
    std::fs::remove_dir_all(directory).unwrap();
}

fn run_json(arguments: &[&str]) -> Vec<serde_json::Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env_remove("ZIPPY_RANKS").args(["--ranks", "3", "--n", "12", "--json"]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn isovalue_range_and_plane_that_miss_the_field_are_reported_with_its_values() {
    // Lists may begin with a negative number.
    let surfaces = run_json(&["--iso", "-500,0.4"]);
    let [least, greatest] = [0, 1].map(|end| surfaces[0]["values"][end].as_f64().unwrap());
    assert!(least < 0.4 && 0.4 < greatest && least > -10.0, "{surfaces:?}");
    assert_eq!((&surfaces[0]["triangles"], &surfaces[1]["values"]), (&0.into(), &serde_json::Value::Null));
    let nothing = run_json(&["--threshold", "-2000,-1000"]);
    assert_eq!(nothing[0]["values"], surfaces[0]["values"], "{nothing:?}");
    let outside = run_json(&["--cut", "-1,0,0,-900"]);
    assert!(outside[0]["triangles"] == 0 && outside[0]["box"].is_array(), "{outside:?}");
}

/// A ball in Hounsfield units, stored without and with an intercept of -1024.
#[test]
fn isovalue_of_a_file_with_intercept_is_a_scaled_value() {
    let surfaces = ["ct_plain.nii.gz", "ct_inter.nii.gz"].map(|name| {
        let file = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
        command
            .env_remove("ZIPPY_RANKS")
            .args(["--ranks", "2", "--input", &file, "--iso", "300", "--verify", "--json"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["area"].as_f64().unwrap(), found["triangles"].clone())
    });
    assert!((surfaces[0].0 - 197.2).abs() < 0.05, "{surfaces:?}");
    assert_eq!(surfaces[0], surfaces[1]);
}

#[path = "program/mod.rs"]
mod program;
