//! Input files, labels, output files and the command line.

use std::path::Path;
use std::process::Command;

use super::{BALL, Folder, cells, data, depth, number, program, run_error, run_json};

#[test]
fn surface_of_a_label_encloses_its_samples() {
    let file = data("labels.nrrd");
    for (label, samples) in [("1", 1266.0), ("2", 925.0), ("3", 343.0)] {
        for ranks in [1, 3] {
            let (found, _) = run_json(ranks, &[&file, "--label", label, "--verify"]);
            let found = &found[0];
            assert_eq!((&found["label"].to_string()[..], &found["open_edges"]), (label, &0.into()));
            assert!((number(found, "volume") / samples - 1.0).abs() < 0.06, "{found}");
        }
    }
    let (found, _) = run_json(2, &[&file, "--label", "7"]);
    assert_eq!((&found[0]["triangles"], &found[0]["values"][1]), (&0.into(), &0.0.into()));
    let text = String::from_utf8(program(1, &[&file, "--label", "7"]).stdout).unwrap();
    assert!(text.contains("label 7: 0 triangles") && text.contains("no sample has this label"), "{text}");
    // The background is a label; with --pad its surface includes the outside of the box.
    let (found, _) = run_json(2, &[&file, "--label", "0", "--pad", "--verify"]);
    assert_eq!(found[0]["open_edges"], 0);
    assert!(run_error(&[&file, "--label", "2", "--iso", "1"]).contains("cannot be used with"));
    // Labels beyond the integers that floats hold.
    let folder = Folder::new("labels");
    let head = "NRRD0004\ntype: int64\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    let large = (1_i64 << 62) + 1;
    let bytes = cells([24; 3], |at| large - i64::from(depth(at) < 0.0), |value| value.to_le_bytes().to_vec());
    let path = folder.file("large.nrrd", head, &bytes);
    let (found, _) = run_json(2, &[path.to_str().unwrap(), "--label", &large.to_string(), "--verify"]);
    assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.06, "{found:?}");
}

#[test]
fn pad_closes_a_region_that_fills_its_box() {
    let file = data("ones.nrrd");
    // Half a step outside of 7 x 7 x 7 samples, without the edges and corners.
    let wanted = 6.0_f64.powi(3) + 6.0 * 36.0 * 0.5;
    for ranks in [1, 3] {
        let (found, _) = run_json(ranks, &[&file, "--iso", "0.5", "--pad", "--verify"]);
        assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
        let volume = number(&found[0], "volume");
        assert!(volume > wanted && volume < 343.0, "{volume}");
    }
    // Isovalues below the range of the sample type, and the value of all samples.
    for isovalue in ["0", "-3", "1", "-1e6,0.5"] {
        let (found, _) = run_json(2, &[&file, "--iso", isovalue, "--pad", "--verify"]);
        for surface in &found {
            assert_eq!((&surface["open_edges"], &surface["euler"]), (&0.into(), &2.into()), "{isovalue}: {found:?}");
            assert!(number(surface, "volume") >= 216.0 - 1e-6, "{isovalue}: {found:?}");
        }
    }
    let (found, _) = run_json(2, &[&file, "--label", "1", "--pad", "--verify"]);
    assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
    // The layer must not change a surface whose isovalue is above the smallest value.
    let (found, _) = run_json(2, &["--field", "sphere", "--n", "20", "--pad", "--verify"]);
    let (plain, _) = run_json(2, &["--field", "sphere", "--n", "20", "--verify"]);
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
    let (found, _) = run_json(2, &[vti, "--array", "depth", "--iso", "0", "--verify"]);
    assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
    let error = run_error(&[vti, "--iso", "0"]);
    assert!(
        error.contains("3 numbers in each voxel") && error.contains("--array") && error.contains("\"depth\""),
        "{error}"
    );
    assert!(run_error(&[vti, "--array", "none", "--iso", "0"]).contains("it has \"depth\", \"flow\""));
    let raw = folder.file("a.raw", "header", &ball);
    let raw = raw.to_str().unwrap();
    let big: Vec<u8> = ball.chunks(4).flat_map(|bytes| bytes.iter().rev().copied()).collect();
    let big = folder.file("b.raw", "", &big);
    for arguments in [
        &[raw, "--raw-shape", "24x24x24", "--raw-type", "f32", "--raw-offset", "6"][..],
        &["--input", raw, "--raw-shape", "24,24,24", "--raw-type", "float", "--raw-offset", "6"],
        &[big.to_str().unwrap(), "--raw-shape", "24", "--raw-type", "MET_FLOAT", "--raw-endian", "big"],
    ] {
        let (found, _) = run_json(2, &[arguments, &["--iso", "0", "--verify"]].concat());
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
    }
    let spaced = ["--raw-shape", "24", "--raw-type", "f32", "--raw-offset", "6", "--raw-spacing", "1,2,3"];
    let (found, _) = run_json(2, &[&[raw, "--iso", "0", "--verify"], &spaced[..]].concat());
    assert!((number(&found[0], "volume") / BALL / 6.0 - 1.0).abs() < 0.02, "{found:?}");
    let error = run_error(&[raw, "--iso", "0"]);
    assert!(error.contains("give --raw-shape and --raw-type"), "{error}");
    // Two axes: an error, and with --pad a surface.
    let head = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 8 8\nencoding: raw\n\n";
    let flat = folder.file("flat.nrrd", head, &[1; 64]);
    let flat = flat.to_str().unwrap();
    for operation in [["--iso", "0.5"], ["--clip", "0.5"], ["--threshold", "0,1"], ["--cut", "1,0,0,2"]] {
        let error = run_error(&[&[flat][..], &operation].concat());
        assert!(error.contains("8 x 8 x 1 samples") && error.contains("along three axes"), "{error}");
    }
    let (found, _) = run_json(2, &[flat, "--iso", "0.5", "--pad", "--verify"]);
    assert_eq!((&found[0]["open_edges"], &found[0]["euler"]), (&0.into(), &2.into()), "{found:?}");
}

#[test]
fn output_files_are_checked_before_the_extraction() {
    let file = data("ones.nrrd");
    for (option, name) in
        [("--output", "no/such/mesh.ply"), ("--output", "no/such/mesh.pvtp"), ("--render", "no/such/p.png")]
    {
        let error = run_error(&[&file, "--iso", "0.5", option, name]);
        assert!(error.contains("the folder no/such is missing"), "{error}");
    }
    // No user can create files in /proc.
    if Path::new("/proc/self").is_dir() {
        let error = run_error(&[&file, "--iso", "0.5", "--output", "/proc/mesh.ply"]);
        assert!(error.contains("/proc/mesh.ply: cannot write"), "{error}");
    }
    let folder = Folder::new("outputs");
    let error = run_error(&[&file, "--iso", "0.5", "--output", folder.0.join("mesh.txt").to_str().unwrap()]);
    assert!(error.contains("\"txt\""), "{error}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn command_line_errors_name_the_correct_form() {
    let file = data("ones.nrrd");
    let output = program(0, &[&file, "--iso", "0.5"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("0 ranks cannot run a program"), "{error}");
    for (arguments, wanted) in [
        (vec!["--size", "16;12"], "width and height, as in 512x512"),
        (vec!["--iso", "nan"], "is not a number"),
        (vec!["--input", &file], "cannot be used with"),
    ] {
        let error = run_error(&[&[&file[..], "--pad", "--render", "p.png"], &arguments[..]].concat());
        assert!(error.contains(wanted), "{arguments:?}: {error}");
    }
}

#[test]
fn picture_by_driver_has_the_size_of_the_command_line() {
    let file = data("ones.nrrd");
    for size in ["16,12", "16x12", "16X12"] {
        let folder = Folder::new("size");
        let picture = folder.0.join("p.png");
        run_json(1, &[&file, "--iso", "0.5", "--pad", "--size", size, "--render", picture.to_str().unwrap()]);
        let bytes = std::fs::read(picture).unwrap();
        assert_eq!(bytes[16..24], [0, 0, 0, 16, 0, 0, 0, 12]);
    }
}

/// The clip has no full cells of the layer.
#[test]
fn padded_clip_ends_where_the_padded_surface_does() {
    let file = data("ones.nrrd");
    let number_of = |arguments: &[&str], name: &str| number(&run_json(2, arguments).0[0], name);
    for (kept, level) in [(&[][..], "0.5"), (&["--below"], "1.5")] {
        let clip = [&[&file[..], "--clip", level, "--verify"], kept].concat();
        assert_eq!(number_of(&clip, "volume"), 216.0);
        let padded = number_of(&[&clip[..], &["--pad"]].concat(), "volume");
        // Half a step outside of 7 x 7 x 7 samples, less along edges and at corners.
        assert!(padded > 216.0 + 6.0 * 36.0 * 0.5 && padded < 343.0, "{padded}");
        if kept.is_empty() {
            let surface = number_of(&[&file, "--iso", level, "--pad", "--verify"], "volume");
            assert!((padded / surface - 1.0).abs() < 0.02, "{padded} {surface}");
        }
    }
    for operation in [["--threshold", "1,1"], ["--cut", "1,0,0,2"]] {
        assert!(run_error(&[&file, operation[0], operation[1], "--pad"]).contains("cannot be used with"));
    }
    // Types of 8 bits have no number for the layer: -100 for samples of 200 and isovalue 50, -341
    // for 100 and -120.5.
    let folder = Folder::new("pad");
    let whole = |kind: &str, bytes: &[u8]| {
        let head = format!("NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 6 6 6\nendian: little\nencoding: raw\n\n");
        folder.file(&format!("{kind}.nrrd"), &head, &bytes.repeat(216)).to_str().unwrap().to_owned()
    };
    for (path, isovalue) in [
        (whole("ushort", &700_u16.to_le_bytes()), "600"),
        (whole("uchar", &[200]), "50"),
        (whole("int8", &[100]), "-120.5"),
        (whole("float", &700_f32.to_le_bytes()), "-600"),
        (whole("double", &1e-3_f64.to_le_bytes()), "1e-4"),
    ] {
        let (found, _) = run_json(2, &[&path, "--iso", isovalue, "--pad", "--verify"]);
        let [low, high] = [0, 1].map(|end| found[0]["bounds"][end][0].as_f64().unwrap());
        assert!((low + 0.5).abs() < 1e-3 && (high - 5.5).abs() < 1e-3, "{isovalue}: {found:?}");
        assert_eq!(found[0]["open_edges"], 0, "{found:?}");
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let file = data("ones.nrrd");
    for arguments in [
        &["--iso", "0.5", "--any"][..],
        &["--iso", "0.5", "--below"],
        &["--clip", "0.5", "--normals"],
        &["--cut", "1,0,0,2", "--any"],
    ] {
        run_error(&[&[&file[..]], arguments].concat());
    }
    assert!(run_error(&["--field", "tangle", "--label", "2"]).contains("--input"));
    let error = run_error(&["--field", "tangle", "--n", "1"]);
    assert!(error.contains("whole number from 2 to 4096"), "{error}");
    for (option, value) in [("--label", "1.5"), ("--raw-offset", "-5")] {
        let error = run_error(&[&file, option, value]);
        assert!(error.contains("is not a whole number") || error.contains("is below 0"), "{error}");
    }
}

/// Opening a pipe for writing waits for a reader.
#[cfg(unix)]
#[test]
fn recording_to_a_pipe_without_a_reader_is_refused() {
    let folder = Folder::new("pipe");
    let pipe = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env("ZIPPY_DEBUG", format!("record:{}", pipe.display())).args(["--field", "sphere", "--n", "8"]);
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("a pipe that no program reads"), "{error}");
}
