//! Files that the program reads, values and positions that 32-bit floats do not tell apart, and labels.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use zippy_io::mesh;

/// A directory that goes away with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zippy-isosurface-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, head: &str, data: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, [head.as_bytes(), data].concat()).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn program(ranks: usize, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env_remove("ZIPPY_RANKS").args(["--ranks", &ranks.to_string()]).args(arguments);
    command.output().unwrap()
}

/// Prints of the program as JSON objects, and what it says to people.
fn printed(ranks: usize, arguments: &[&str]) -> (Vec<Value>, String) {
    let output = program(ranks, &[&["--json"], arguments].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), said)
}

fn refused(arguments: &[&str]) -> String {
    let output = program(2, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn number(found: &Value, name: &str) -> f64 {
    found[name].as_f64().unwrap_or_else(|| panic!("{name} in {found}"))
}

/// Cells of a file as bytes, x fastest.
fn cells<T>(shape: [i64; 3], value: impl Fn([i64; 3]) -> T, bytes: impl Fn(T) -> Vec<u8>) -> Vec<u8> {
    let [nx, ny, nz] = shape;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    all.flat_map(|at| bytes(value(at))).collect()
}

/// How deep a point is in a ball of radius 6.3 in the middle of 24 samples a side.
fn depth([x, y, z]: [i64; 3]) -> f64 {
    6.3 - [x, y, z].map(|x| (x as f64 - 11.5).powi(2)).iter().sum::<f64>().sqrt()
}

/// Its volume. The surface between samples has 1.5 % less, as it does for the same ball without an offset.
const BALL: f64 = 4.0 / 3.0 * std::f64::consts::PI * 6.3 * 6.3 * 6.3;

/// The volume of that surface.
const SURFACE: f64 = 1031.735;

/// An isovalue and samples near 101,325 that differ by less than floats of 32 bits tell apart there.
#[test]
fn isovalue_between_values_with_a_large_offset_is_exact() {
    for ranks in [1, 3] {
        let arguments = ["--iso", "101325.00025", "--verify", "--input"];
        let (found, _) = printed(ranks, &[&arguments[..], &[&data("bigoffset_f64.nrrd")]].concat());
        assert!((number(&found[0], "volume") - 1271.3).abs() < 0.5, "{found:?}");
        assert_eq!(number(&found[0], "isovalue"), 101_325.000_25);
        assert_eq!(found[0]["open_edges"], 0);
    }
    // Integers of 64 and 32 bits beyond 2^53 and 2^24, and slope and intercept.
    let folder = Folder::new("offset");
    let head = |kind: &str| {
        format!("NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n")
    };
    let base = 1_i64 << 60;
    let thousandths = |at| (1000.0 * depth(at)).round() as i64;
    let long = cells([24; 3], |at| base + thousandths(at), |value| value.to_le_bytes().to_vec());
    let unsigned = cells([24; 3], |at| (base + thousandths(at)) as u64, |value| value.to_le_bytes().to_vec());
    let int = cells([24; 3], |at| 2_000_000_000 + thousandths(at) as i32, |value| value.to_le_bytes().to_vec());
    let double = cells([24; 3], |at| 1e9 + depth(at), |value| value.to_le_bytes().to_vec());
    for (name, kind, bytes, isovalue) in [
        ("long.nrrd", "int64", long, base as f64),
        ("unsigned.nrrd", "uint64", unsigned, base as f64),
        ("int.nrrd", "int", int, 2e9),
        ("double.nrrd", "double", double, 1e9),
    ] {
        let path = folder.file(name, &head(kind), &bytes);
        let (found, said) = printed(2, &["--iso", &isovalue.to_string(), "--verify", path.to_str().unwrap()]);
        assert!((number(&found[0], "volume") / SURFACE - 1.0).abs() < 1e-4, "{name}: {found:?}");
        assert!(!said.contains("note"), "{said}");
        // Its values are those of the file, also where they are printed.
        let (none, _) = printed(2, &["--iso", "7", path.to_str().unwrap()]);
        let least = none[0]["values"][0].as_f64().unwrap();
        assert!((least / isovalue - 1.0).abs() < 1e-5, "{name}: {none:?}");
        let clip = ["--clip", &isovalue.to_string(), "--verify", path.to_str().unwrap()];
        let (found, _) = printed(2, &clip);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{name}: {found:?}");
    }
}

#[test]
fn values_that_the_file_itself_does_not_tell_apart_are_noted() {
    let folder = Folder::new("few");
    let head = "NRRD0004\ntype: float\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    for (offset, few) in [(101_325.0, true), (0.0, false)] {
        let bytes = cells([24; 3], |at| (offset + 0.1 * depth(at)) as f32, |value| value.to_le_bytes().to_vec());
        let path = folder.file("few.nrrd", head, &bytes);
        let (found, said) = printed(2, &["--iso", &offset.to_string(), "--verify", path.to_str().unwrap()]);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
        assert_eq!(said.matches("note: the values of the file go from").count(), usize::from(few), "{said}");
    }
}

/// Files get doubles where floats do not tell vertices apart, and the same mesh at any origin.
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
            let (found, said) = printed(ranks, &[&["--iso", "0", "--verify"], &paths[..]].concat());
            assert!(
                (number(&found[0], "volume") / (SURFACE * spacing * spacing * spacing) - 1.0).abs() < 1e-5,
                "{found:?}"
            );
            assert!(!said.contains("note"), "{said}");
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
        printed(2, &[far, "--iso", "0", "--normals", "--output", output.to_str().unwrap()]);
        let bytes = std::fs::read(&output).unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains(wanted), "{name}");
        if name != "mesh.vtu" {
            let mesh = mesh::read(&output).unwrap();
            assert!(mesh.positions.iter().all(|[x, y, _]| (x - 5e6).abs() < 2.0 && (y - 4e6).abs() < 2.0), "{name}");
        }
    }
    let output = folder.0.join("mesh.stl");
    let (_, said) = printed(2, &[far, "--iso", "0", "--output", output.to_str().unwrap()]);
    assert!(said.contains("STL has positions as floats"), "{said}");
    assert!(mesh::read(&output).unwrap().positions.iter().all(|[x, ..]| (x - 5e6).abs() < 2.0));
    // Cells and sections, and the plane, are in space as well.
    let output = folder.0.join("cells.vtu");
    let (found, _) = printed(2, &[far, "--clip", "0", "--verify", "--output", output.to_str().unwrap()]);
    assert!((number(&found[0], "volume") / (BALL * 1e-6) - 1.0).abs() < 0.02, "{found:?}");
    assert!(String::from_utf8_lossy(&std::fs::read(output).unwrap()).contains("type=\"Float64\" Name=\"Points\""));
    let (found, _) = printed(2, &[far, "--cut", "1,0,0,5000000.115", "--verify"]);
    assert!((number(&found[0], "area") - 0.23 * 0.23).abs() < 1e-6, "{found:?}");
    // Where floats are good enough they stay.
    let output = folder.0.join("mesh.ply");
    printed(2, &[near.to_str().unwrap(), "--iso", "0", "--output", output.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&std::fs::read(output).unwrap()).contains("property float x"));
}

/// Each label of a map is a surface of its own, closed, of about the volume of its samples.
#[test]
fn surface_of_a_label_encloses_its_samples() {
    let file = data("labels.nrrd");
    for (label, samples) in [("1", 1266.0), ("2", 925.0), ("3", 343.0)] {
        for ranks in [1, 3] {
            let (found, _) = printed(ranks, &[&file, "--label", label, "--verify"]);
            let found = &found[0];
            assert_eq!((&found["label"].to_string()[..], &found["open_edges"]), (label, &0.into()));
            assert!((number(found, "volume") / samples - 1.0).abs() < 0.06, "{found}");
        }
    }
    let (found, _) = printed(2, &[&file, "--label", "7"]);
    assert_eq!((&found[0]["triangles"], &found[0]["values"][1]), (&0.into(), &0.0.into()));
    let text = String::from_utf8(program(1, &[&file, "--label", "7"]).stdout).unwrap();
    assert!(text.contains("label 7: 0 triangles") && text.contains("no sample has this label"), "{text}");
    // The background is a label, too, with the outside of the box around it.
    let (found, _) = printed(2, &[&file, "--label", "0", "--pad", "--verify"]);
    assert_eq!(found[0]["open_edges"], 0);
    assert!(refused(&[&file, "--label", "2", "--iso", "1"]).contains("cannot be used with"));
    // Labels beyond the numbers that floats hold.
    let folder = Folder::new("labels");
    let head = "NRRD0004\ntype: int64\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    let large = (1_i64 << 62) + 1;
    let bytes = cells([24; 3], |at| large - i64::from(depth(at) < 0.0), |value| value.to_le_bytes().to_vec());
    let path = folder.file("large.nrrd", head, &bytes);
    let (found, _) = printed(2, &[path.to_str().unwrap(), "--label", &large.to_string(), "--verify"]);
    assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.06, "{found:?}");
}

/// A region that fills its box is closed by a layer below the isovalue.
#[test]
fn pad_closes_a_region_that_fills_its_box() {
    let file = data("ones.nrrd");
    // Half a step outside of 7 x 7 x 7 samples, but for the edges and corners.
    let wanted = 6.0_f64.powi(3) + 6.0 * 36.0 * 0.5;
    for ranks in [1, 3] {
        let (found, _) = printed(ranks, &[&file, "--iso", "0.5", "--pad", "--verify"]);
        assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
        let volume = number(&found[0], "volume");
        assert!(volume > wanted && volume < 343.0, "{volume}");
    }
    // Isovalues below all that the type of the samples has, and that of all samples.
    for isovalue in ["0", "-3", "1", "-1e6,0.5"] {
        let (found, _) = printed(2, &[&file, "--iso", isovalue, "--pad", "--verify"]);
        for surface in &found {
            assert_eq!((&surface["open_edges"], &surface["euler"]), (&0.into(), &2.into()), "{isovalue}: {found:?}");
            assert!(number(surface, "volume") >= 216.0 - 1e-6, "{isovalue}: {found:?}");
        }
    }
    let (found, _) = printed(2, &[&file, "--label", "1", "--pad", "--verify"]);
    assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
    // Another layer where the least value is below the isovalue would move the surface.
    let (found, _) = printed(2, &["--field", "sphere", "--n", "20", "--pad", "--verify"]);
    let (plain, _) = printed(2, &["--field", "sphere", "--n", "20", "--verify"]);
    assert_eq!(found[0]["volume"], plain[0]["volume"]);
}

#[test]
fn arrays_raw_numbers_and_files_of_two_axes() {
    let folder = Folder::new("inputs");
    let ball = cells([24; 3], |at| depth(at) as f32, |value| value.to_le_bytes().to_vec());
    let text =
        |array: &str, numbers: &str| format!("<DataArray type=\"Float32\" Name=\"{array}\"{numbers}</DataArray>");
    let vectors = " NumberOfComponents=\"3\" format=\"ascii\">".to_string() + &"1 2 3 ".repeat(24 * 24 * 24);
    let scalars: Vec<String> = cells([24; 3], |at| depth(at) as f32, |value| value.to_le_bytes().to_vec())
        .chunks(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).to_string())
        .collect();
    let document = format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 23 0 23 0 23\"><Piece Extent=\"0 23 0 23 \
         0 23\"><PointData Scalars=\"flow\">{}{}</PointData></Piece></ImageData></VTKFile>",
        text("flow", &vectors),
        text("depth", &format!(" format=\"ascii\">{}", scalars.join(" ")))
    );
    let vti = folder.file("a.vti", &document, b"");
    let vti = vti.to_str().unwrap();
    let (found, _) = printed(2, &[vti, "--array", "depth", "--iso", "0", "--verify"]);
    assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
    let error = refused(&[vti, "--iso", "0"]);
    assert!(
        error.contains("3 numbers in each voxel") && error.contains("--array") && error.contains("\"depth\""),
        "{error}"
    );
    assert!(refused(&[vti, "--array", "none", "--iso", "0"]).contains("it has \"depth\", \"flow\""));
    // Raw numbers of several types, after other bytes, in both byte orders.
    let raw = folder.file("a.raw", "header", &ball);
    let raw = raw.to_str().unwrap();
    let big: Vec<u8> = ball.chunks(4).flat_map(|bytes| bytes.iter().rev().copied()).collect();
    let big = folder.file("b.raw", "", &big);
    for arguments in [
        &[raw, "--raw-shape", "24x24x24", "--raw-type", "f32", "--raw-offset", "6"][..],
        &["--input", raw, "--raw-shape", "24,24,24", "--raw-type", "float", "--raw-offset", "6"],
        &[big.to_str().unwrap(), "--raw-shape", "24", "--raw-type", "MET_FLOAT", "--raw-endian", "big"],
    ] {
        let (found, _) = printed(2, &[arguments, &["--iso", "0", "--verify"]].concat());
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
    }
    let spaced = ["--raw-shape", "24", "--raw-type", "f32", "--raw-offset", "6", "--raw-spacing", "1,2,3"];
    let (found, _) = printed(2, &[&[raw, "--iso", "0", "--verify"], &spaced[..]].concat());
    assert!((number(&found[0], "volume") / BALL / 6.0 - 1.0).abs() < 0.02, "{found:?}");
    let error = refused(&[raw, "--iso", "0"]);
    assert!(error.contains("give --raw-shape and --raw-type"), "{error}");
    // Two axes: a clear message, and a surface with layers around.
    let head = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 8 8\nencoding: raw\n\n";
    let flat = folder.file("flat.nrrd", head, &[1; 64]);
    let flat = flat.to_str().unwrap();
    for what in [["--iso", "0.5"], ["--clip", "0.5"], ["--threshold", "0,1"], ["--cut", "1,0,0,2"]] {
        let error = refused(&[&[flat][..], &what].concat());
        assert!(error.contains("8 x 8 x 1 samples") && error.contains("along three axes"), "{error}");
    }
    let (found, _) = printed(2, &[flat, "--iso", "0.5", "--pad", "--verify"]);
    assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
}

#[test]
fn outputs_are_checked_before_the_work() {
    let file = data("ones.nrrd");
    for (option, name) in
        [("--output", "no/such/mesh.ply"), ("--output", "no/such/mesh.pvtp"), ("--render", "no/such/p.png")]
    {
        let error = refused(&[&file, "--iso", "0.5", option, name]);
        assert!(error.contains("the folder no/such is missing"), "{error}");
    }
    // Nobody can make files there, whoever runs the test.
    if Path::new("/proc/self").is_dir() {
        let error = refused(&[&file, "--iso", "0.5", "--output", "/proc/mesh.ply"]);
        assert!(error.contains("/proc/mesh.ply: cannot write"), "{error}");
    }
    let folder = Folder::new("outputs");
    let error = refused(&[&file, "--iso", "0.5", "--output", folder.0.join("mesh.txt").to_str().unwrap()]);
    assert!(error.contains("\"txt\""), "{error}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn words_of_the_command_line() {
    let file = data("ones.nrrd");
    let output = program(0, &[&file, "--iso", "0.5"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("0 ranks cannot run a program"), "{error}");
    for size in ["16,12", "16x12", "16X12"] {
        let folder = Folder::new("size");
        let picture = folder.0.join("p.png");
        printed(1, &[&file, "--iso", "0.5", "--pad", "--size", size, "--render", picture.to_str().unwrap()]);
        let bytes = std::fs::read(picture).unwrap();
        assert_eq!(bytes[16..24], [0, 0, 0, 16, 0, 0, 0, 12]);
    }
    for (arguments, wanted) in [
        (vec!["--size", "16;12"], "width and height, as in 512x512"),
        (vec!["--iso", "nan"], "is not a number"),
        (vec!["--input", &file], "cannot be used with"),
    ] {
        let error = refused(&[&[&file[..], "--pad", "--render", "p.png"], &arguments[..]].concat());
        assert!(error.contains(wanted), "{arguments:?}: {error}");
    }
}

/// A file with mirrored and exchanged axes is drawn as the plain file with the same voxels at the same places.
#[test]
fn picture_of_mirrored_and_exchanged_axes_is_that_of_the_plain_file() {
    let folder = Folder::new("mirrored");
    let [nx, ny, nz] = [19_i64, 15, 12];
    // A pear, which has no symmetry.
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
        let (found, _) = printed(2, &[&arguments[..], &["--verify", path.to_str().unwrap()]].concat());
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

/// Axes that point the other way or are exchanged: the mesh is that of the plain file.
#[test]
fn mirrored_volume_has_its_surface_where_the_file_places_it() {
    let (found, _) = printed(2, &[&data("mirror.nrrd"), "--iso", "0", "--verify"]);
    let found = &found[0];
    // A closed surface that is inside out would have a negative volume.
    assert!(number(found, "volume") > 0.0 && found["open_edges"] == 0, "{found}");
    let bounds = |corner: usize, axis: usize| found["bounds"][corner][axis].as_f64().unwrap();
    // Samples 0 to 23 of the first axis are at x = 10 to -13.
    assert!(bounds(0, 0) > -13.0 && bounds(1, 0) < 10.0, "{found}");
}
