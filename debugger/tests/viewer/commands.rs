//! Command line: shots, scripts, comparisons and descriptions of recordings.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use zippy_debugger::imaging::{ColourMap, SPECIAL_COLOURS};

use crate::support::{
    SHAPE, answer, coarse, density, encoded_recording, entries, flow, recording, shot, standard_error, standard_output,
    viewer,
};

pub(crate) fn pixels(path: &Path) -> (usize, usize, Vec<[u8; 4]>) {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgba, png::BitDepth::Eight));
    let pixels = bytes.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect();
    (info.width as usize, info.height as usize, pixels)
}

/// Returns `fields` with the fields of `more` added or replaced.
fn with_fields(mut fields: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more} has no fields") };
    more.into_iter().for_each(|(name, value)| fields[name] = value);
    fields
}

#[test]
fn shot_has_colours_of_the_map() {
    let (directory, path) = recording();
    let fields = json!({
        "array": "density", "slice": "z=0", "step": 10, "map": "magma", "range": "10002:10030", "scale": 3,
        "output": "shot.png"
    });
    let text = answer(shot(directory.path(), "run.zrec", &fields).output().unwrap(), "shot");
    for part in ["density at debug point 10 (after stream), z=0", "x across, 5 cells; y up, 4 cells", "f32", "magma"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("1 below, 4 above") && text.contains("min 10000, max 10034, 1 NaN, 2 infinite"), "{text}");
    let (width, height, found) = pixels(&directory.path().join("shot.png"));
    assert_eq!((width, height), (15, 12));
    for (place, pixel) in found.into_iter().enumerate() {
        let at = [(place % width / 3) as i64, 3 - (place / width / 3) as i64, 0];
        let value = f64::from(density(10, at));
        let colour = match value {
            value if value.is_nan() => SPECIAL_COLOURS.nan,
            f64::INFINITY => SPECIAL_COLOURS.plus_infinity,
            f64::NEG_INFINITY => SPECIAL_COLOURS.minus_infinity,
            value if value < 10_002.0 => SPECIAL_COLOURS.below,
            value if value > 10_030.0 => SPECIAL_COLOURS.above,
            value => ColourMap::named("magma").unwrap().at((value - 10_002.0) / 28.0),
        };
        assert_eq!(pixel, [colour[0], colour[1], colour[2], 255], "{at:?}");
    }
    drop(path);
}

#[test]
fn shot_writes_exact_numbers_to_npy_and_csv() {
    let (directory, _) = recording();
    let write = |more: Value| {
        let fields = with_fields(json!({ "array": "flow", "step": 2, "slice": "x=-1" }), more);
        answer(shot(directory.path(), "run.zrec", &fields).output().unwrap(), "shot");
    };
    // z across and y up: opposite to the order in memory.
    write(json!({ "across": "z", "up": "y", "component": "velocity.z", "output": "z.npy" }));
    let bytes = std::fs::read(directory.path().join("z.npy")).unwrap();
    let head = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(head.contains("'descr': '<f4'") && head.contains("(4, 3,)"), "{head}");
    let wanted = (0..4).flat_map(|y| (0..3).flat_map(move |z| flow(2, [4, y, z]).1[2].to_le_bytes()));
    assert_eq!(bytes[128..], wanted.collect::<Vec<u8>>());

    write(json!({ "component": "velocity", "output": "length.npy" }));
    let bytes = std::fs::read(directory.path().join("length.npy")).unwrap();
    assert!(
        String::from_utf8_lossy(&bytes[10..128]).contains("'descr': '<f8', 'fortran_order': False, 'shape': (3, 4,)")
    );
    for (place, found) in bytes[128..].chunks_exact(8).enumerate() {
        let (_, velocity, _) = flow(2, [4, place as i64 % 4, place as i64 / 4]);
        let length = velocity.map(|part| f64::from(part).powi(2)).iter().sum::<f64>().sqrt();
        assert!((f64::from_le_bytes(found.try_into().unwrap()) - length).abs() < 1e-14);
    }

    write(json!({ "output": "all.npy" }));
    let bytes = std::fs::read(directory.path().join("all.npy")).unwrap();
    let start = bytes.len() - 12 * 24;
    let head = String::from_utf8_lossy(&bytes[10..start]).into_owned();
    assert!(head.contains("[('flag', '<u4'), ('velocity', '<f4', (3,)), ('count', '<i8')]"), "{head}");
    let wanted = (0..3).flat_map(|z| (0..4).flat_map(move |y| crate::support::flow_bytes(2, [4, y, z])));
    assert_eq!(bytes[start..], wanted.collect::<Vec<u8>>());

    write(json!({ "output": "all.csv" }));
    let text = std::fs::read_to_string(directory.path().join("all.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("x,y,z,flag,velocity.x,velocity.y,velocity.z,count"));
    let places = (0..3).flat_map(|z| (0..4).map(move |y| [4, y, z]));
    let wanted = places.map(|[x, y, z]| {
        let (flag, [u, v, w], count) = flow(2, [x, y, z]);
        format!("{x},{y},{z},{flag},{u:?},{v:?},{w:?},{count}")
    });
    assert!(lines.eq(wanted), "{text}");
}

#[test]
fn shot_of_coarse_recording_has_recorded_cells() {
    let (directory, _) = recording();
    let fields = json!({ "array": "coarse", "output": "line.csv" });
    let text = answer(shot(directory.path(), "run.zrec", &fields).output().unwrap(), "shot");
    assert!(text.contains("x across, 34 cells; u16; only every so-manyth cell: [3]"), "{text}");
    let lines = std::fs::read_to_string(directory.path().join("line.csv")).unwrap();
    let wanted: String = (0..100).step_by(3).map(|x| format!("{x},{}\n", coarse(x))).collect();
    assert_eq!(lines, format!("x,value\n{wanted}"));
}

#[test]
fn invalid_shots_report_errors() {
    let (directory, _) = recording();
    std::fs::write(directory.path().join("text.zrec"), "no recording, but long enough").unwrap();
    let good = json!({ "array": "density", "output": "x.png" });
    for (more, parts) in [
        (json!({ "step": 3 }), vec!["no debug point 3", "1, 2, 10"]),
        (json!({ "component": "x" }), vec!["no `x`", "f32"]),
        (json!({ "slice": "z=3" }), vec!["z=3", "3 cells"]),
        (json!({ "slice": "x=0,y=0,z=0" }), vec!["`slice` names every axis"]),
        (json!({ "slice": "q=0" }), vec!["`q`", "x, y, z"]),
        (json!({ "across": "x", "up": "0" }), vec!["either"]),
        (json!({ "slice": "x=0", "up": "x" }), vec!["`slice` names it"]),
        (json!({ "map": "jet" }), vec!["`jet`", "viridis"]),
        (json!({ "range": "1:0" }), vec!["`1:0`", "p1:p99"]),
        (json!({ "range": "0:1", "norm": "log" }), vec!["above 0"]),
        (json!({ "norm": "cubic" }), vec!["`cubic`", "symlog:SIZE"]),
        (json!({ "rank": 1 }), vec!["`density` of rank 1"]),
        (json!({ "scale": 0 }), vec!["scale", "1 to 512"]),
        (json!({ "stride": 0 }), vec!["stride is at least 1"]),
        (json!({ "array": "pressure" }), vec!["`pressure`", "coarse, copy, density"]),
        (json!({ "array": "scratch" }), vec!["ranks 0, 1"]),
        (json!({ "output": "x.gif" }), vec!["x.gif", ".npy"]),
        (json!({ "output": "no/x.png" }), vec!["no/x.png"]),
    ] {
        let fields = with_fields(good.clone(), more);
        let text = answer(shot(directory.path(), "run.zrec", &fields).output().unwrap(), "error");
        assert!(parts.iter().all(|part| text.contains(part)), "{fields}: {text}");
    }
    for (command, parts) in [
        (vec!["script", "none.zrec"], vec!["none.zrec", "neither"]),
        (vec!["script", "text.zrec"], vec!["text.zrec", "zippyrec"]),
        (vec!["script", "127.0.0.1:1"], vec!["set ZIPPY_DEBUG_TOKEN"]),
        (vec!["connect", "127.0.0.1:1"], vec!["set ZIPPY_DEBUG_TOKEN"]),
        (vec!["connect", "127.0.0.1:1", "--token", "abc"], vec!["--token"]),
        (vec!["connect", "nowhere"], vec!["127.0.0.1:7777"]),
        (vec!["info", "none.zrec"], vec!["none.zrec"]),
        (vec!["replay", "text.zrec"], vec!["zippyrec"]),
    ] {
        let text = standard_error(viewer(directory.path(), &command).output().unwrap());
        assert!(parts.iter().all(|part| text.contains(part)), "{command:?}: {text}");
    }
    let mut command = viewer(directory.path(), &["connect", "127.0.0.1:1"]);
    let text = standard_error(command.env("ZIPPY_DEBUG_TOKEN", "abc").output().unwrap());
    assert!(text.contains("32 digits, and this one has 3"), "{text}");
    assert!(!directory.path().join("x.png").exists(), "nothing is written of what fails");
}

#[test]
fn info_describes_recording() {
    let (directory, path) = recording();
    let text = standard_output(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    for part in [
        "\"lbm\", 2 ranks, checked, on \"software\"",
        "3 debug points: 1 to 10",
        "\"after stream\", after 0.010 s",
        "6 arrays",
        "\"density\": 5 x 4 x 3 of f32, in 2 x 1 x 1 chunks, 240 bytes; every cell",
        "\"coarse\": 100 of u16, in 2 chunks, 200 bytes; one cell of every [3]",
        "\"scratch\": 4 of f64, of rank 1, 32 bytes; the recording has no cells",
        "whole: it has returned",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (bytes, ends) = encoded_recording(&entries());
    std::fs::write(&path, &bytes[..ends[8] - 1]).unwrap();
    let text = standard_output(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    assert!(text.contains("2 debug points: 1 to 2") && text.contains("good up to debug point 2"), "{text}");
    std::fs::write(&path, &bytes[..ends[6]]).unwrap();
    let text = standard_output(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    assert_eq!(text.matches("the last one").count(), 1, "{text}");
    std::fs::write(&path, &bytes[..20]).unwrap();
    let text = standard_output(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    assert!(text.contains("no debug point") && text.contains("nothing"), "{text}");
}

/// Returns the answers to the lines of a script.
fn script(directory: &Path, lines: &[Value]) -> Vec<Value> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    answers(directory, text.as_bytes())
}

fn answers(directory: &Path, text: &[u8]) -> Vec<Value> {
    let mut command = viewer(directory, &["script", "run.zrec"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = text.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&text).unwrap());
    let said = standard_output(child.wait_with_output().unwrap());
    writer.join().unwrap();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn script_answers_every_request() {
    let (directory, _) = recording();
    let found = script(
        directory.path(),
        &[
            json!({"program": {}}),
            json!({"steps": {}}),
            json!({"arrays": {"name": "sit"}}),
            json!({"view": {"array": "density", "box": [[0, 5], [1, 3], [2, 3]], "stride": [2, 1, 1]}}),
            json!({"view": {"array": "density", "box": [[0, 4], [0, 1], [0, 1]]}}),
            json!({"pick": {"array": "flow", "at": [3, 1, 2]}}),
            json!({"pick": {"array": "density", "at": [2, 1, 0]}}),
            json!({"step": 1}),
            json!({"wait": "paused"}),
            json!({"summary": {"array": "flow", "component": "velocity.z", "bins": 2, "range": [0, 4]}}),
            json!({"rules": [{"name": "after stream", "every": 5}]}),
            json!({"control": "continue"}),
            json!({"wait": {"for": "paused", "seconds": 5}}),
            json!({"compare": ["density", "copy"]}),
            json!({"go_to": 1}),
            json!({"control": {"run_to": "after collide"}}),
            json!({"view": {"array": "flow", "box": [[1, 2], [1, 2], [1, 2]]}}),
            json!({"view": {"array": "flow", "box": [[1, 3], [1, 2], [1, 2]], "component": "velocity.y"}}),
            json!({"view": {"array": "coarse", "box": [[10, 20]]}}),
            json!({"shot": {"array": "density", "slice": "z=1", "output": "s.png", "scale": 1}}),
        ],
    );
    assert_eq!(found.len(), 20);
    assert_eq!(found[0]["program"]["name"], "lbm");
    assert_eq!((&found[0]["program"]["state"], &found[0]["program"]["ranks"]), (&json!("open"), &json!(2)));
    assert_eq!(found[1], json!({"steps": [1, 2, 10]}));
    assert_eq!(found[2]["arrays"].as_array().unwrap().len(), 1);
    assert_eq!(found[2]["arrays"][0]["shape"], json!(SHAPE));
    let wanted: Vec<f32> = [1, 2].iter().flat_map(|&y| [0, 2, 4].map(|x| density(1, [x, y, 2]))).collect();
    let view = &found[3]["view"];
    assert_eq!((&view["cells"], &view["extents"], &view["step"]), (&json!(wanted), &json!([3, 2, 1]), &json!(1)));
    assert_eq!(found[4]["view"]["cells"], json!([1000.0, "NaN", "inf", "-inf"]));
    let pick = &found[5]["pick"];
    assert_eq!((&pick["rank"], &pick["chunk"], &pick["owned"]), (&json!(1), &json!(1), &json!(true)));
    assert_eq!(pick["local"], json!([0, 1, 2]));
    assert_eq!(pick["members"]["velocity"][1], json!({"value": -0.1, "bits": "0xbdcccccd"}));
    assert_eq!(pick["members"]["count"]["value"], json!(i64::MIN + 213), "all digits");
    let bits = format!("{:#010x}", density(1, [2, 1, 0]).to_bits());
    assert_eq!((&found[6]["pick"]["value"], &found[6]["pick"]["bits"]), (&json!(1012.0), &json!(bits)));
    assert_eq!((&found[6]["pick"]["rank"], &found[6]["pick"]["at"]), (&json!(0), &json!([2, 1, 0])));
    assert_eq!(found[7]["control"], "done");
    assert_eq!((&found[8]["point"]["step"], &found[8]["point"]["name"]), (&json!(2), &json!("after collide")));
    let component = &found[9]["summary"]["components"][0];
    assert_eq!(
        (&component["bins"], &component["max"], &component["count"]),
        (&json!([20, 40]), &json!(4.0), &json!(60))
    );
    assert_eq!(found[9]["summary"]["components"].as_array().unwrap().len(), 1);
    assert_eq!((&found[10]["rules"], &found[12]["point"]["step"]), (&json!("done"), &json!(10)));
    assert!(found[12]["point"]["reason"].as_str().unwrap().contains("every 5"));
    assert_eq!(found[13], json!({"compare": {"cells": 1, "first": [4, 2, 1]}}));
    assert_eq!((&found[14]["point"]["step"], &found[15]["point"]["step"]), (&json!(1), &json!(2)));
    let (flag, velocity, count) = flow(2, [1, 1, 1]);
    let wanted = json!({"flag": flag, "velocity": [1.0, -0.1, velocity[2]], "count": count});
    assert_eq!(found[16]["view"]["cells"], json!([wanted]));
    assert_eq!(found[17]["view"]["cells"], json!([-0.1, -0.1]));
    let view = &found[18]["view"];
    assert_eq!((&view["start"], &view["stride"]), (&json!([12]), &json!([3])));
    assert_eq!(view["cells"], json!([12, 15, 18].map(coarse)));
    assert!(found[19]["shot"].as_str().unwrap().contains("z=1"), "{}", found[19]);
    assert_eq!(pixels(&directory.path().join("s.png")).0, 5);
}

#[test]
fn script_continues_after_errors() {
    let (directory, _) = recording();
    let long = format!("{{\"steps\":{{}}, \"{}\":1}}", "x".repeat(3 << 20));
    let deep = "[".repeat(10_000);
    let lines: Vec<(&str, &str)> = vec![
        ("not json", "no request"),
        ("{}", "no request"),
        ("{\"paint\":{}}", "`paint`"),
        ("{\"view\":{\"array\":\"density\"}}", "box"),
        ("{\"view\":{\"array\":7,\"box\":[]}}", "an array is a name"),
        ("{\"view\":{\"array\":\"none\",\"box\":[]}}", "copy, density"),
        ("{\"view\":{\"array\":\"density\",\"box\":[[0,1]]}}", "3 axes"),
        ("{\"view\":{\"array\":\"density\",\"box\":[[0,1],[0,1],[0,1]],\"stride\":[1,0,1]}}", "at least 1"),
        ("{\"view\":{\"array\":\"density\",\"box\":[[0,1],[0,1],[0,99]]}}", "outside"),
        ("{\"view\":{\"array\":\"scratch\",\"box\":[[0,1]]}}", "ranks 0, 1"),
        ("{\"pick\":{\"array\":\"density\",\"at\":[1,2]}}", "3 axes"),
        ("{\"pick\":{\"array\":\"density\",\"at\":[9223372036854775807,0,0]}}", "outside"),
        ("{\"pick\":{\"array\":\"coarse\",\"at\":[10]}}", "the nearest one is [9]"),
        ("{\"pick\":{\"array\":{\"name\":\"scratch\",\"rank\":1},\"at\":[3]}}", "no cells of `scratch`"),
        ("{\"pick\":{\"array\":{\"name\":\"scratch\",\"rank\":7},\"at\":[3]}}", "0, 1"),
        ("{\"summary\":{\"array\":\"density\",\"bins\":70000}}", "70000"),
        ("{\"summary\":{\"array\":\"density\",\"percentiles\":[101]}}", "101 was asked for"),
        ("{\"control\":\"jump\"}", "`jump`"),
        ("{\"rules\":[{}]}", "a rule has"),
        ("{\"rules\":[{\"every\":1,\"condition\":\"nan(u)\"}]}", "two"),
        ("{\"rules\":[{\"condition\":\"nan(u > 0\"}]}", "column 7"),
        ("{\"wait\":\"rain\"}", "waited for"),
        ("{\"wait\":{\"for\":\"end\",\"seconds\":-1}}", "-1 s"),
        ("{\"wait\":{\"for\":\"end\",\"seconds\":0.01}}", "recording"),
        ("{\"go_to\":3}", "1, 2, 10"),
        ("{\"moves\":{}}", "no moves"),
        ("{\"timeline\":{}}", "no timeline"),
        ("{\"ghosts\":{\"array\":\"none\"}}", "copy, density"),
        ("{\"shot\":{\"array\":\"density\",\"output\":\"x\"}}", ".png"),
        ("{\"shot\":{\"array\":\"density\",\"colour\":\"x\"}}", "`colour`"),
        ("\"\\u0000\\u001b[2J\"", "no request"),
        (&deep, "no request"),
        (&long, "at most 1048576 bytes"),
    ];
    let mut text = b"\n  \n\xff\xfe\n".to_vec();
    lines.iter().for_each(|(line, _)| text.extend(format!("{line}\n").bytes()));
    text.extend(b"{\"steps\":{}}");
    let found = answers(directory.path(), &text);
    assert_eq!(found.len(), lines.len() + 2);
    assert_eq!(found[0]["line"], 3);
    for (place, ((line, part), answer)) in lines.iter().zip(&found[1..]).enumerate() {
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(error.contains(part), "{}: {error}", &line[..line.len().min(90)]);
        assert_eq!(answer["line"], place + 4);
    }
    assert_eq!(found.last().unwrap(), &json!({"steps": [1, 2, 10]}));
}

#[test]
fn compare_reports_differences_and_exit_code() {
    let (directory, _) = recording();
    // Another run: one cell is the next number of its type, and one NaN is a number.
    let mut other = entries();
    for entry in &mut other {
        if let zippy_protocol::Recorded::View(view) = entry
            && (view.of.array, view.step) == (crate::support::DENSITY, 2)
        {
            view.cells[4..8].copy_from_slice(&7.0_f32.to_le_bytes());
            let place = 4 * (3 + 5 * (2 + 4));
            view.cells[place..place + 4].copy_from_slice(&density(2, [3, 2, 1]).next_up().to_le_bytes());
        }
    }
    std::fs::write(directory.path().join("other.zrec"), encoded_recording(&other).0).unwrap();
    let compare = |arguments: &[&str]| {
        let output = viewer(directory.path(), &["compare", "run.zrec"]).args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(!text.contains("panicked"), "{text}");
        (output.status.code().unwrap(), text)
    };
    for (arguments, code, parts) in [
        (vec!["other.zrec", "--array", "density", "--step", "10"], 0, vec!["none of 60 cells differs"]),
        (
            vec!["other.zrec", "--array", "density", "--step", "2"],
            1,
            vec![
                "2 of 60 cells differ, the first one at [1, 0, 0]: NaN (0x",
                " and 7.0 (0x40e00000)",
                " 1 ULP",
                "1 cells are NaN",
            ],
        ),
        (
            vec!["--array", "density", "--other-array", "copy", "--step", "10"],
            1,
            vec!["1 of 60", "[4, 2, 1]: 10124.0 (0x", "-1.0 (0xbf800000)", "at most 10125 apart"],
        ),
        (
            vec!["--array", "flow", "--step", "1", "--other-step", "10", "--component", "velocity.z"],
            1,
            vec!["debug point 1, flow at debug point 10", "40 of 60", "[0, 0, 1]", "velocity.z: at most 18 apart"],
        ),
        (
            vec!["--array", "coarse", "--step", "1", "--other-step", "10"],
            0,
            vec!["every so-manyth cell: [3]", "none of 34"],
        ),
        (vec!["--array", "density", "--other-array", "flow"], 2, vec!["f32", "Parcel"]),
        (vec!["--array", "density", "--other-array", "coarse"], 2, vec!["[5, 4, 3]", "[100]"]),
        (vec!["--array", "density", "--step", "3"], 2, vec!["no debug point 3"]),
        (vec!["none.zrec", "--array", "density"], 2, vec!["none.zrec"]),
    ] {
        let (found, text) = compare(&arguments);
        assert!(parts.iter().all(|part| text.contains(part)), "{arguments:?}: {text}");
        assert_eq!(found, code, "{text}");
    }
}
