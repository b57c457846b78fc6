//! Isovalues and other levels near values that 32-bit floats do not distinguish.

use std::process::Command;

use super::{BALL, Folder, SURFACE, cells, data, depth, number, run_json};

/// Differences of the samples from the isovalue are below the spacing of 32-bit floats.
#[test]
fn isovalue_between_values_with_a_large_offset_is_exact() {
    for ranks in [1, 3] {
        let arguments = ["--iso", "101325.00025", "--verify", "--input"];
        let (found, _) = run_json(ranks, &[&arguments[..], &[&data("bigoffset_f64.nrrd")]].concat());
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
        let (found, notes) = run_json(2, &["--iso", &isovalue, "--verify", path.to_str().unwrap()]);
        assert!((number(&found[0], "volume") / SURFACE - 1.0).abs() < 1e-4, "{name}: {found:?}");
        assert!(!notes.contains("note"), "{notes}");
        let (none, _) = run_json(2, &["--iso", "7", path.to_str().unwrap()]);
        let least = none[0]["values"][0].as_f64().unwrap();
        assert!((least / isovalue.parse::<f64>().unwrap() - 1.0).abs() < 1e-5, "{name}: {none:?}");
        let clip = ["--clip", &isovalue, "--verify", path.to_str().unwrap()];
        let (found, _) = run_json(2, &clip);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{name}: {found:?}");
    }
}

#[test]
fn few_distinct_values_in_a_file_give_a_note() {
    let folder = Folder::new("few");
    let head = "NRRD0004\ntype: float\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    for (offset, few) in [(101_325.0, true), (0.0, false)] {
        let bytes = cells([24; 3], |at| (offset + 0.1 * depth(at)) as f32, |value| value.to_le_bytes().to_vec());
        let path = folder.file("few.nrrd", head, &bytes);
        let (found, notes) = run_json(2, &["--iso", &offset.to_string(), "--verify", path.to_str().unwrap()]);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{found:?}");
        assert_eq!(notes.matches("note: the values of the file go from").count(), usize::from(few), "{notes}");
    }
}

/// Samples of 30,000 and 30,001, and bounds closer to 30,000 than the spacing of floats.
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
        let count = |arguments: &[&str], name: &str| number(&run_json(2, &[&[path], arguments].concat()).0[0], name);
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
    // Floats round these samples; a bound equal to a value includes it.
    let head = "NRRD0004\ntype: double\ndimension: 3\nsizes: 8 8 8\nendian: little\nencoding: raw\n\n";
    let tenths = cells([8; 3], |at| if is_inner(at) { 0.7 } else { 0.0 }, |value: f64| value.to_le_bytes().to_vec());
    let path = folder.file("tenths.nrrd", head, &tenths);
    let (found, _) = run_json(2, &["--threshold", "0.7,1", path.to_str().unwrap()]);
    assert_eq!(number(&found[0], "hexahedra"), 27.0, "{found:?}");
}

/// Number of cells with all corners, and with any corner, in a range.
fn count_cells(shape: i64, is_kept: impl Fn([i64; 3]) -> bool) -> [f64; 2] {
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

/// Surfaces equal those of the same values without their offset and fill value.
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
    let number_of = |arguments: &[&str], name: &str| number(&run_json(2, arguments).0[0], name);
    let surface = number_of(&[&plain, "--iso", "0.3", "--verify"], "volume");
    let solid = number_of(&[&plain, "--clip", "0.3", "--verify"], "volume");
    let [all, any] = count_cells(24, |at| !is_filled(at) && (0.3..=2.0).contains(&depth(at)));
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
            let (found, notes) = run_json(ranks, &[&file, "--iso", &level, "--verify"]);
            let found = &found[0];
            assert_eq!(found["open_edges"], 0, "{offset} {fill}: {found}");
            // The remaining difference is the rounding of the file.
            assert!((number(found, "volume") / surface - 1.0).abs() < 1e-3, "{offset} {fill}: {found}, {surface}");
            assert!(!notes.contains("note"), "{notes}");
        }
        let volume = number_of(&[&file, "--clip", &level, "--verify"], "volume");
        assert!((volume / solid - 1.0).abs() < 1e-3, "{offset} {fill}: {volume}, {solid}");
        assert_eq!(number_of(&[&file, "--threshold", &range], "hexahedra"), all, "{offset} {fill}");
        assert_eq!(number_of(&[&file, "--threshold", &range, "--any"], "hexahedra"), any, "{offset} {fill}");
        let (none, _) = run_json(1, &[&file, "--iso", "1e305"]);
        let least = fill.min(value([0; 3]));
        assert_eq!(none[0]["values"][0].as_f64(), Some(least), "{offset} {fill}: {none:?}");
    }
    // Floats distinguish the last isovalue from its neighbours only with an origin near it.
    let file = path("masked.nrrd", &|at| if is_filled(at) { 0.0 } else { 101_325.0 + 1e-3 * depth(at) });
    let (found, notes) = run_json(2, &["--iso", "50000,101325.0003", "--verify", &file]);
    assert!((number(&found[1], "volume") / surface - 1.0).abs() < 1e-3, "{found:?}");
    assert!(!notes.contains("note"), "{notes}");
    let (found, notes) = run_json(2, &["--iso", "1e-12,101325.0003", "--verify", &file]);
    assert!((number(&found[1], "volume") / surface - 1.0).abs() < 1e-3, "{found:?}");
    assert!(!notes.contains("note"), "{notes}");
    let two = path("two.nrrd", &|at| if is_filled(at) { 1e-3 * at[0] as f64 } else { 101_325.0 + 1e-3 * depth(at) });
    let (found, notes) = run_json(2, &["--iso", "0.0105,101325.0003", "--verify", &two]);
    assert!(found.iter().all(|surface| number(surface, "triangles") > 0.0), "{found:?}");
    assert_eq!(notes.matches("note: 32-bit floats round").count(), 1, "{notes}");
}

#[test]
fn integers_of_every_type_give_the_same_surface() {
    let folder = Folder::new("whole");
    let value = |[x, y, z]: [i64; 3]| (((x * 7919 + y * 104_729 + z * 1_299_709) * 2_654_435_761) >> 7) % 200;
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
        let (surfaces, _) = run_json(2, &["--iso", "37.37,100,150.5", "--verify", path.to_str().unwrap()]);
        let names = ["triangles", "vertices", "interior_vertices", "euler", "components", "area", "volume"];
        found.push(surfaces.iter().map(|surface| names.map(|name| surface[name].clone())).collect::<Vec<_>>());
    }
    assert!(found.iter().all(|surfaces| *surfaces == found[0]), "{found:?}");
}

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
        let (found, _) = run_json(2, &["--iso", &base.to_string(), "--verify", path]);
        assert!((number(&found[0], "volume") / SURFACE - 1.0).abs() < 1e-4, "{kind} {base}: {found:?}");
        assert_eq!(found[0]["isovalue"].to_string(), base.to_string());
        let range = format!("{},{}", base + 1, base + 3_000);
        let [all, _] = count_cells(24, |at| (1..=3_000).contains(&thousandths(at)));
        let (found, _) = run_json(2, &["--threshold", &range, path]);
        assert_eq!(number(&found[0], "hexahedra"), all, "{kind} {base}");
        let (found, _) = run_json(2, &["--clip", &base.to_string(), "--verify", path]);
        assert!((number(&found[0], "volume") / BALL - 1.0).abs() < 0.02, "{kind} {base}: {found:?}");
    }
}

#[test]
fn nan_samples_give_a_note() {
    let folder = Folder::new("nan");
    let head = "NRRD0004\ntype: float\ndimension: 3\nsizes: 24 24 24\nendian: little\nencoding: raw\n\n";
    let value = |at: [i64; 3]| if at[2] < 2 { f32::NAN } else { depth(at) as f32 };
    let bytes = cells([24; 3], value, |value| value.to_le_bytes().to_vec());
    let path = folder.file("nan.nrrd", head, &bytes);
    let (_, notes) = run_json(2, &["--iso", "0", path.to_str().unwrap()]);
    assert!(notes.contains("note: 1152 of 13824 samples are NaN"), "{notes}");
}

#[test]
fn output_coarser_than_its_samples_gives_a_note() {
    let folder = Folder::new("coarse");
    for (file, is_noted) in [(data("bigoffset_f64.nrrd"), true), (data("ones.nrrd"), false)] {
        for operation in [["--cut", "0,0,1,1"], ["--clip", "101325"], ["--threshold", "0,200000"]] {
            let output = folder.0.join("a.vtu");
            let (_, notes) =
                run_json(2, &[&[&*file], &operation[..], &["--output", output.to_str().unwrap()]].concat());
            assert_eq!(notes.contains("has values near"), is_noted, "{operation:?}: {notes}");
        }
    }
}

/// Recordings have the samples of the device.
#[test]
fn recorded_samples_have_their_offset_in_the_name() {
    let folder = Folder::new("recorded");
    let recording = folder.0.join("run.zrec");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env("ZIPPY_DEBUG", format!("record:{}", recording.display()));
    command.args(["--iso", "101325.00025", &data("bigoffset_f64.nrrd")]);
    assert!(command.output().unwrap().status.success());
    let bytes = std::fs::read(&recording).unwrap();
    let name = b"field less 101325.00025";
    assert!(bytes.windows(name.len()).any(|part| part == name));
}
