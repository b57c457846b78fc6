//! Files that the program reads, values that are equal as 32-bit floats, and labels.

use std::path::Path;
use std::process::Command;

use super::{BALL, Folder, SURFACE, cells, data, depth, number, printed, program, refused};

/// An isovalue and samples near 101,325 that differ by less than a step of 32-bit floats there.
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
        ("long.nrrd", "int64", long, base.to_string()),
        ("unsigned.nrrd", "uint64", unsigned, base.to_string()),
        ("int.nrrd", "int", int, "2e9".into()),
        ("double.nrrd", "double", double, "1e9".into()),
    ] {
        let path = folder.file(name, &head(kind), &bytes);
        let (found, said) = printed(2, &["--iso", &isovalue, "--verify", path.to_str().unwrap()]);
        assert!((number(&found[0], "volume") / SURFACE - 1.0).abs() < 1e-4, "{name}: {found:?}");
        assert!(!said.contains("note"), "{said}");
        // Its values are those of the file, also where they are printed.
        let (none, _) = printed(2, &["--iso", "7", path.to_str().unwrap()]);
        let least = none[0]["values"][0].as_f64().unwrap();
        assert!((least / isovalue.parse::<f64>().unwrap() - 1.0).abs() < 1e-5, "{name}: {none:?}");
        let clip = ["--clip", &isovalue, "--verify", path.to_str().unwrap()];
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
    // Half a step outside of 7 x 7 x 7 samples, without the edges and corners.
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

/// Samples of 30,000 and of 30,001, and bounds nearer to 30,000 than floats are apart.
#[test]
fn bounds_near_a_sample_keep_it_on_its_side() {
    let folder = Folder::new("bounds");
    let is_inner = |at: [i64; 3]| at.iter().all(|x| (2..6).contains(x));
    let whole = |at: [i64; 3]| 30_000 + u16::from(is_inner(at));
    let short = cells([8; 3], whole, |value| value.to_le_bytes().to_vec());
    let int = cells([8; 3], |at| i32::from(whole(at)), |value| value.to_le_bytes().to_vec());
    let double = cells([8; 3], |at| f64::from(whole(at)), |value| value.to_le_bytes().to_vec());
    for (kind, bytes) in [("ushort", short), ("int", int), ("double", double)] {
        let head = format!("NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 8 8 8\nendian: little\nencoding: raw\n\n");
        let path = folder.file(&format!("{kind}.nrrd"), &head, &bytes);
        let path = path.to_str().unwrap();
        let count = |arguments: &[&str], name: &str| number(&printed(2, &[&[path], arguments].concat()).0[0], name);
        assert_eq!(count(&["--iso", "30000"], "triangles"), 0.0, "{kind}");
        assert!(count(&["--iso", "30000.0001"], "triangles") > 0.0, "{kind}");
        for (range, kept) in [
            ("30000,30000.9", 343.0 - 125.0),
            ("30000.0001,30001", 27.0),
            ("29999,30000.9999", 343.0 - 125.0),
            ("30000.0001,30000.0002", 0.0),
        ] {
            assert_eq!(count(&["--threshold", range], "hexahedra"), kept, "{kind}: {range}");
        }
    }
    // Where floats round samples, equal values stay inside.
    let head = "NRRD0004\ntype: double\ndimension: 3\nsizes: 8 8 8\nendian: little\nencoding: raw\n\n";
    let tenths = cells([8; 3], |at| if is_inner(at) { 0.7 } else { 0.0 }, |value: f64| value.to_le_bytes().to_vec());
    let path = folder.file("tenths.nrrd", head, &tenths);
    let (found, _) = printed(2, &["--threshold", "0.7,1", path.to_str().unwrap()]);
    assert_eq!(number(&found[0], "hexahedra"), 27.0, "{found:?}");
}

/// The sum of cells with all corners, and with any corner, whose values are in a range.
fn kept(shape: i64, is_kept: impl Fn([i64; 3]) -> bool) -> [f64; 2] {
    let mut counts = [0.0; 2];
    for [x, y, z] in
        (0..(shape - 1).pow(3)).map(|k| [k % (shape - 1), k / (shape - 1) % (shape - 1), k / (shape - 1).pow(2)])
    {
        let corners = (0..8).filter(|k| is_kept([x + k % 2, y + k / 2 % 2, z + k / 4])).count();
        counts[0] += f64::from(u8::from(corners == 8));
        counts[1] += f64::from(u8::from(corners > 0));
    }
    counts
}

/// Values that differ by less than a step of 32-bit floats, next to a value that stands for nothing.
/// Surfaces are those of the same values without their offset.
#[test]
fn fill_value_leaves_surfaces_next_to_large_values_exact() {
    let folder = Folder::new("fill");
    let head = "NRRD0004\ntype: double\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    let is_filled = |at: [i64; 3]| at[2] > 20;
    let path = |name: &str, value: &dyn Fn([i64; 3]) -> f64| {
        let bytes = cells([24; 3], value, |value: f64| value.to_le_bytes().to_vec());
        folder.file(name, head, &bytes).to_str().unwrap().to_owned()
    };
    let plain = path("plain.nrrd", &|at| if is_filled(at) { -1e6 } else { depth(at) });
    let number_of = |arguments: &[&str], name: &str| number(&printed(2, arguments).0[0], name);
    let surface = number_of(&[&plain, "--iso", "0.3", "--verify"], "volume");
    let solid = number_of(&[&plain, "--clip", "0.3", "--verify"], "volume");
    let [all, any] = kept(24, |at| !is_filled(at) && (0.3..=2.0).contains(&depth(at)));
    for (offset, scale, fill) in [
        (101_325.0, 1e-3, 0.0),
        (101_325.0, 1e-3, -9999.0),
        (101_325.0, 1e-3, -1e9),
        (101_325.0, 1e-3, -1e30),
        (300.0, 1e-4, 0.0),
        (-1e9, 1.0, -2e15),
        (0.0, 1e-36, -9999.0),
        (0.0, 1e-60, 0.0),
        (1e300, 1e290, 0.0),
    ] {
        let value = |at| if is_filled(at) { fill } else { offset + scale * depth(at) };
        let file = path("masked.nrrd", &value);
        let [level, most] = [0.3, 2.0].map(|level| (offset + scale * level).to_string());
        let range = format!("{level},{most}");
        for ranks in [1, 3] {
            let (found, said) = printed(ranks, &[&file, "--iso", &level, "--verify"]);
            let found = &found[0];
            assert_eq!(found["open_edges"], 0, "{offset} {fill}: {found}");
            // The rest is what the file's own numbers are rounded by.
            assert!((number(found, "volume") / surface - 1.0).abs() < 1e-3, "{offset} {fill}: {found}, {surface}");
            assert!(!said.contains("note"), "{said}");
        }
        let volume = number_of(&[&file, "--clip", &level, "--verify"], "volume");
        assert!((volume / solid - 1.0).abs() < 1e-3, "{offset} {fill}: {volume}, {solid}");
        assert_eq!(number_of(&[&file, "--threshold", &range], "hexahedra"), all, "{offset} {fill}");
        assert_eq!(number_of(&[&file, "--threshold", &range, "--any"], "hexahedra"), any, "{offset} {fill}");
        // Values of the file where they are printed.
        let (none, _) = printed(1, &[&file, "--iso", "1e305"]);
        let least = fill.min(value([0; 3]));
        assert_eq!(none[0]["values"][0].as_f64(), Some(least), "{offset} {fill}: {none:?}");
    }
    // Several isovalues, of which the last is the one that floats do not tell apart from its neighbours.
    let file = path("masked.nrrd", &|at| if is_filled(at) { 0.0 } else { 101_325.0 + 1e-3 * depth(at) });
    let (found, said) = printed(2, &["--iso", "50000,101325.0003", "--verify", &file]);
    assert!((number(&found[1], "volume") / surface - 1.0).abs() < 1e-3, "{found:?}");
    assert!(!said.contains("note"), "{said}");
    let (found, said) = printed(2, &["--iso", "1e-12,101325.0003", "--verify", &file]);
    assert!((number(&found[1], "volume") / surface - 1.0).abs() < 1e-3, "{found:?}");
    assert!(!said.contains("note"), "{said}");
    let two = path("two.nrrd", &|at| if is_filled(at) { 1e-3 * at[0] as f64 } else { 101_325.0 + 1e-3 * depth(at) });
    let (found, said) = printed(2, &["--iso", "0.0105,101325.0003", "--verify", &two]);
    assert!(found.iter().all(|surface| number(surface, "triangles") > 0.0), "{found:?}");
    assert_eq!(said.matches("note: 32-bit floats round").count(), 1, "{said}");
}

/// Whole numbers of any type have the same surface: floats hold them, and are not rounded.
#[test]
fn whole_numbers_of_every_type_have_the_same_ambiguous_cells() {
    let folder = Folder::new("whole");
    let value = |[x, y, z]: [i64; 3]| ((x * 7919 + y * 104_729 + z * 1_299_709) * 2_654_435_761 >> 7) % 200;
    let mut found = Vec::new();
    for (kind, bytes) in [
        ("uchar", cells([20; 3], |at| value(at) as u8, |value| vec![value])),
        ("int", cells([20; 3], |at| value(at) as i32, |value| value.to_le_bytes().to_vec())),
        ("float", cells([20; 3], |at| value(at) as f32, |value| value.to_le_bytes().to_vec())),
        ("double", cells([20; 3], |at| value(at) as f64, |value| value.to_le_bytes().to_vec())),
        ("int64", cells([20; 3], value, |value| value.to_le_bytes().to_vec())),
    ] {
        let head = format!("NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 20 20 20\nendian: little\nencoding: raw\n\n");
        let path = folder.file(&format!("{kind}.nrrd"), &head, &bytes);
        let (surfaces, _) = printed(2, &["--iso", "37.37,100,150.5", "--verify", path.to_str().unwrap()]);
        let names = ["triangles", "vertices", "interior_vertices", "euler", "components", "area", "volume"];
        found.push(surfaces.iter().map(|one| names.map(|name| one[name].clone())).collect::<Vec<_>>());
    }
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
}

/// Isovalues of integers of 64 bits, which floats of 64 bits do not hold.
#[test]
fn isovalue_beyond_two_to_53_is_exact() {
    let folder = Folder::new("integers");
    let thousandths = |at| i128::from((1000.0 * depth(at)).round() as i64);
    for (kind, base) in [
        ("int64", (1_i128 << 62) + 12_345),
        ("int64", -(1_i128 << 63) + 20_000),
        ("uint64", (1_i128 << 63) + 7),
        ("uint64", (1_i128 << 64) - 10_000),
    ] {
        let head = format!("NRRD0004\ntype: {kind}\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n");
        let bytes = cells([24; 3], |at| base + thousandths(at), |value| value.to_le_bytes()[..8].to_vec());
        let path = folder.file("large.nrrd", &head, &bytes);
        let path = path.to_str().unwrap();
        let (found, _) = printed(2, &["--iso", &base.to_string(), "--verify", path]);
        assert!((number(&found[0], "volume") / SURFACE - 1.0).abs() < 1e-4, "{kind} {base}: {found:?}");
        assert_eq!(found[0]["isovalue"].to_string(), base.to_string());
        let range = format!("{},{}", base + 1, base + 3_000);
        let [all, _] = kept(24, |at| (1..=3_000).contains(&thousandths(at)));
        let (found, _) = printed(2, &["--threshold", &range, path]);
        assert_eq!(number(&found[0], "hexahedra"), all, "{kind} {base}");
        let (found, _) = printed(2, &["--clip", &base.to_string(), "--verify", path]);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{kind} {base}: {found:?}");
    }
}

/// The layer of `--pad` closes parts; it adds none that is full.
#[test]
fn padded_clip_ends_where_the_padded_surface_does() {
    let file = data("ones.nrrd");
    let number_of = |arguments: &[&str], name: &str| number(&printed(2, arguments).0[0], name);
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
    for what in [["--threshold", "1,1"], ["--cut", "1,0,0,2"]] {
        assert!(refused(&[&file, what[0], what[1], "--pad"]).contains("cannot be used with"));
    }
    // Half a step out, whatever the type of the samples: with a byte of 700 none, and with 200 none below 50 - 150.
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
        let (found, _) = printed(2, &[&path, "--iso", isovalue, "--pad", "--verify"]);
        let [low, high] = [0, 1].map(|end| found[0]["bounds"][end][0].as_f64().unwrap());
        assert!((low + 0.5).abs() < 1e-3 && (high - 5.5).abs() < 1e-3, "{isovalue}: {found:?}");
        assert_eq!(found[0]["open_edges"], 0, "{found:?}");
    }
}

#[test]
fn samples_that_are_nan_are_noted() {
    let folder = Folder::new("nan");
    let head = "NRRD0004\ntype: float\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    let value = |at: [i64; 3]| if at[2] < 2 { f32::NAN } else { depth(at) as f32 };
    let bytes = cells([24; 3], value, |value| value.to_le_bytes().to_vec());
    let path = folder.file("nan.nrrd", head, &bytes);
    let (_, said) = printed(2, &["--iso", "0", path.to_str().unwrap()]);
    assert!(said.contains("note: 1152 of 13824 samples are NaN"), "{said}");
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
        refused(&[&[&file[..]], arguments].concat());
    }
    assert!(refused(&["--field", "tangle", "--label", "2"]).contains("--input"));
    let error = refused(&["--field", "tangle", "--n", "1"]);
    assert!(error.contains("whole number from 2 to 4096"), "{error}");
    for (option, value) in [("--label", "1.5"), ("--raw-offset", "-5")] {
        let error = refused(&[&file, option, value]);
        assert!(error.contains("is not a whole number") || error.contains("is below 0"), "{error}");
    }
}

#[test]
fn floats_of_an_output_coarser_than_its_samples_are_noted() {
    let folder = Folder::new("coarse");
    for (file, is_noted) in [(data("bigoffset_f64.nrrd"), true), (data("ones.nrrd"), false)] {
        for what in [["--cut", "0,0,1,1"], ["--clip", "101325"], ["--threshold", "0,200000"]] {
            let output = folder.0.join("a.vtu");
            let (_, said) = printed(2, &[&[&*file], &what[..], &["--output", output.to_str().unwrap()]].concat());
            assert_eq!(said.contains("has values near"), is_noted, "{what:?}: {said}");
        }
    }
}

/// A pipe would wait for a reader.
#[cfg(unix)]
#[test]
fn recording_to_a_pipe_is_refused() {
    let folder = Folder::new("pipe");
    let pipe = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env("ZIPPY_DEBUG", format!("record:{}", pipe.display())).args(["--field", "sphere", "--n", "8"]);
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("no regular file"), "{error}");
}

/// Arrays of recordings have the samples of the device: the name has the difference to the values.
#[test]
fn recorded_samples_have_their_offset_in_the_name() {
    let folder = Folder::new("recorded");
    let recording = folder.0.join("run.zrec");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env("ZIPPY_DEBUG", format!("record:{}", recording.display()));
    command.args(["--iso", "101325.00025", &data("bigoffset_f64.nrrd")]);
    assert!(command.status().unwrap().success());
    let bytes = std::fs::read(&recording).unwrap();
    let name = b"field less 101325.00025";
    assert!(bytes.windows(name.len()).any(|part| part == name));
}
