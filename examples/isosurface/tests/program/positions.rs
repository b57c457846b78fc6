//! Surfaces at the positions of the file: far from the origin of space, mirrored, with exchanged
//! axes.

use std::path::Path;

use serde_json::Value;
use zippy_io::mesh;

use super::{BALL, Folder, SURFACE, cells, data, depth, number, run_json};

/// Files have doubles where neighbouring vertices are equal as floats; the mesh does not depend on
/// the origin.
#[test]
fn positions_far_from_the_origin_of_space_are_kept() {
    let folder = Folder::new("far");
    let ball = cells([24; 3], |at| depth(at) as f32, |value| value.to_le_bytes().to_vec());
    let spacing = 0.01;
    let file = |name: &str, origin: &str| {
        let steps = "space dimension: 3\nspace directions: (0.01,0,0) (0,0.01,0) (0,0,0.01)\n";
        let head = format!(
            "NRRD0004\ntype: float\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n{steps}space origin: \
             {origin}\n\n"
        );
        folder.file(name, &head, &ball)
    };
    let origin = [5_000_000.0, 4_000_000.0, -3_000_000.0];
    let far = file("far.nrrd", "(5000000,4000000,-3000000)");
    let near = file("near.nrrd", "(0,0,0)");
    let lines = |path: &Path| -> Vec<[f64; 3]> {
        let text = std::fs::read_to_string(path).unwrap();
        let vertices = text.lines().filter_map(|line| line.strip_prefix("v "));
        let vertex = |line: &str| {
            let mut numbers = line.split(' ').map(|word| word.parse::<f64>().unwrap());
            std::array::from_fn(|_| numbers.next().unwrap())
        };
        vertices.map(vertex).collect()
    };
    for ranks in [1, 3] {
        let [at_far, at_near] = [&far, &near].map(|input| {
            let output = folder.0.join("mesh.obj");
            let paths = [input.to_str().unwrap(), "--output", output.to_str().unwrap()];
            let (found, notes) = run_json(ranks, &[&["--iso", "0", "--verify"], &paths[..]].concat());
            assert!(
                (number(&found[0], "volume") / (SURFACE * spacing * spacing * spacing) - 1.0).abs() < 1e-5,
                "{found:?}"
            );
            assert!(!notes.contains("note"), "{notes}");
            (lines(&output), found[0]["bounds"].clone())
        });
        assert!(at_far.0.len() == at_near.0.len() && at_far.0.len() > 600);
        for (far, near) in at_far.0.iter().zip(&at_near.0) {
            for axis in 0..3 {
                let off = far[axis] - origin[axis] - near[axis];
                assert!(off.abs() < 1e-8, "{far:?} {near:?}");
            }
        }
        let corner = |bounds: &Value, axis: usize| bounds[0][axis].as_f64().unwrap();
        for (axis, first) in origin.iter().enumerate() {
            let off = corner(&at_far.1, axis) - first - corner(&at_near.1, axis);
            assert!(off.abs() < 1e-8, "{at_far:?}");
        }
    }
    let far = far.to_str().unwrap();
    for (name, wanted) in [
        ("mesh.ply", "property double x\nproperty double y\nproperty double z\nproperty float nx"),
        ("mesh.vtp", "type=\"Float64\" Name=\"Points\""),
        ("mesh.vtu", "type=\"Float64\" Name=\"Points\""),
        ("mesh.pvtp", "type=\"Float64\" Name=\"Points\""),
    ] {
        let output = folder.0.join(name);
        run_json(2, &[far, "--iso", "0", "--normals", "--output", output.to_str().unwrap()]);
        let bytes = std::fs::read(&output).unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains(wanted), "{name}");
        if name != "mesh.vtu" {
            let mesh = mesh::read(&output).unwrap();
            let near = |[x, y, _]: &[f32; 3]| {
                let position = |axis: usize, x: f32| mesh.origin[axis] + f64::from(x);
                (position(0, *x) - 5e6).abs() < 2.0 && (position(1, *y) - 4e6).abs() < 2.0
            };
            assert!(mesh.positions.iter().all(near), "{name}");
        }
    }
    let output = folder.0.join("mesh.stl");
    let (_, notes) = run_json(2, &[far, "--iso", "0", "--output", output.to_str().unwrap()]);
    assert!(notes.contains("STL has positions as floats"), "{notes}");
    assert!(mesh::read(&output).unwrap().positions.iter().all(|[x, ..]| (x - 5e6).abs() < 2.0));
    let output = folder.0.join("cells.vtu");
    let (found, _) = run_json(2, &[far, "--clip", "0", "--verify", "--output", output.to_str().unwrap()]);
    assert!((number(&found[0], "volume") / (BALL * 1e-6) - 1.0).abs() < 0.02, "{found:?}");
    assert!(String::from_utf8_lossy(&std::fs::read(output).unwrap()).contains("type=\"Float64\" Name=\"Points\""));
    let (found, _) = run_json(2, &[far, "--cut", "1,0,0,5000000.115", "--verify"]);
    assert!((number(&found[0], "area") - 0.23 * 0.23).abs() < 1e-6, "{found:?}");
    // Files have floats where these are precise enough.
    let output = folder.0.join("mesh.ply");
    run_json(2, &[near.to_str().unwrap(), "--iso", "0", "--output", output.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&std::fs::read(output).unwrap()).contains("property float x"));
}

/// Files with the same voxels at the same positions.
#[test]
fn picture_by_driver_of_mirrored_axes_equals_the_plain_file() {
    let folder = Folder::new("mirrored");
    let [nx, ny, nz] = [19_i64, 15, 12];
    let value = |[x, y, z]: [i64; 3]| {
        let off = [x - 8, 2 * y - 13, 2 * z - 10 - (x - 8) / 3];
        (200 - off.iter().map(|x| x * x).sum::<i64>() * 2 - 9 * (x - 8) - 5 * (y - 7)).clamp(0, 250) as u8
    };
    let file = |name: &str, sizes: [i64; 3], directions: &str, origin: &str, at: &dyn Fn([i64; 3]) -> [i64; 3]| {
        let head = format!(
            "NRRD0004\ntype: uint8\ndimension: 3\nspace dimension: 3\nsizes: {} {} {}\nspace directions: {directions}\nspace \
             origin: {origin}\nencoding: raw\n\n",
            sizes[0], sizes[1], sizes[2]
        );
        let voxels = cells(sizes, |index| value(at(index)), |value| vec![value]);
        folder.file(name, &head, &voxels)
    };
    let files = [
        file("plain.nrrd", [nx, ny, nz], "(1,0,0) (0,1,0) (0,0,2)", "(0,0,0)", &|at| at),
        file("mirrored.nrrd", [nx, ny, nz], "(-1,0,0) (0,1,0) (0,0,2)", "(18,0,0)", &|[x, y, z]| [nx - 1 - x, y, z]),
        file("exchanged.nrrd", [nz, nx, ny], "(0,0,-2) (1,0,0) (0,-1,0)", "(0,14,22)", &|[z, x, y]| {
            [x, ny - 1 - y, nz - 1 - z]
        }),
    ];
    let pictures = files.map(|path| {
        let picture = folder.0.join("p.png");
        let arguments = ["--iso", "60", "--size", "90x80", "--render", picture.to_str().unwrap()];
        let (found, _) = run_json(2, &[&arguments[..], &["--verify", path.to_str().unwrap()]].concat());
        assert!(number(&found[0], "volume") > 100.0, "{found:?}");
        let bytes = zippy_io::png::read(&picture, Some((90, 80))).unwrap().bytes;
        (bytes.iter().map(|&part| i32::from(part)).collect::<Vec<_>>(), found[0]["bounds"].clone())
    });
    let lit = pictures[0].0.iter().filter(|&&part| part > 20).count();
    assert!(lit > 3000, "{lit}");
    for (picture, bounds) in &pictures[1..] {
        let differs = picture.iter().zip(&pictures[0].0).filter(|(one, other)| (*one - *other).abs() > 8).count();
        assert!(differs < lit / 50, "{differs} of {lit}");
        assert_eq!(bounds, &pictures[0].1);
    }
}

#[test]
fn mirrored_volume_has_its_surface_at_the_positions_of_the_file() {
    let (found, _) = run_json(2, &[&data("mirror.nrrd"), "--iso", "0", "--verify"]);
    let found = &found[0];
    // An inside-out surface has a negative volume.
    assert!(number(found, "volume") > 0.0 && found["open_edges"] == 0, "{found}");
    let bounds = |corner: usize, axis: usize| found["bounds"][corner][axis].as_f64().unwrap();
    assert!(bounds(0, 0) > -13.0 && bounds(1, 0) < 10.0, "{found}");
}
