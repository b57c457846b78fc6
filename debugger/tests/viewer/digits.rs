//! Numbers with all digits: in the output of shots and scripts, and as colours.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use zippy_debugger::imaging::ColourMap;
use zippy_protocol::{Recorded, ScalarType};

use crate::commands::pixels;
use crate::support::{DENSITY, answer, arrays, encoded_recording, entries, shot, standard_output, view, viewer};

/// A recording of a line of numbers.
fn record_line(directory: &Path, name: &str, scalar: ScalarType, cells: &[u8]) {
    let count = (cells.len() / scalar.bytes()) as i64;
    let mut entry = arrays(1).remove(0);
    let flat = (vec![count], [vec![0], vec![0]], vec![false]);
    ((entry.shape, entry.ghosts, entry.periodic), entry.grid, entry.chunks) = (flat, None, Vec::new());
    entry.element = crate::support::scalar(name, scalar);
    let kept = |entry: &Recorded| matches!(entry, Recorded::Program(_) | Recorded::Point(_));
    let mut all: Vec<Recorded> = entries().into_iter().filter(kept).take(2).collect();
    all.push(Recorded::Arrays(vec![entry]));
    all.push(Recorded::View(view(DENSITY, 1, &[count], 1, cells.to_vec())));
    all.push(Recorded::End("it has returned".into()));
    std::fs::write(directory.join("line.zrec"), encoded_recording(&all).0).unwrap();
}

/// Returns the description of a shot of a line, and the colours of its cells. `field` is an
/// additional field of the request.
fn line_shot(scalar: ScalarType, cells: &[u8], field: Option<[&str; 2]>) -> (String, Vec<[u8; 3]>) {
    let directory = tempfile::tempdir().unwrap();
    record_line(directory.path(), "numbers", scalar, cells);
    let mut fields = json!({ "array": "density", "scale": 1, "output": "line.png" });
    if let Some([name, value]) = field {
        fields[name] = json!(value);
    }
    let text = answer(shot(directory.path(), "line.zrec", &fields).output().unwrap(), "shot");
    let (_, _, found) = pixels(&directory.path().join("line.png"));
    (text, found.into_iter().map(|[red, green, blue, _]| [red, green, blue]).collect())
}

#[test]
fn integers_are_printed_with_all_digits_and_keep_contrast() {
    let ramp = |share: usize| ColourMap::first().at(share as f64 / 10.0);
    let colours: Vec<[u8; 3]> = (0..=10).map(ramp).collect();
    let check = |scalar, base: i128, bytes: fn(i128) -> Vec<u8>| {
        let cells: Vec<u8> = (0..=10).flat_map(|offset| bytes(base + offset)).collect();
        let (text, found) = line_shot(scalar, &cells, None);
        let (low, high) = (base, base + 10);
        assert!(text.contains(&format!("colours from {low} to {high}, linear")), "{text}");
        assert!(text.contains(&format!("min {low}, max {high}, 0 NaN")), "{text}");
        assert_eq!(found, colours, "{text}");
    };
    let [i64s, u64s] =
        [|value: i128| (value as i64).to_le_bytes().to_vec(), |value: i128| (value as u64).to_le_bytes().to_vec()];
    for base in [i128::from(i64::MIN), i128::from(i64::MAX) - 10, 4_294_966_272, -5, (1 << 62) + 1] {
        check(ScalarType::I64, base, i64s);
    }
    for base in [i128::from(u64::MAX) - 10, 1 << 63, 1 << 53] {
        check(ScalarType::U64, base, u64s);
    }
    check(ScalarType::U32, 4_294_966_272, |value| (value as u32).to_le_bytes().to_vec());
    check(ScalarType::I32, i32::MIN.into(), |value| (value as i32).to_le_bytes().to_vec());
    // Fixed ends, and percentiles.
    let cells: Vec<u8> = (0..=10).flat_map(|offset| (u64::MAX - 10 + offset).to_le_bytes()).collect();
    let range = format!("{}:{}", u64::MAX - 9, u64::MAX - 1);
    let (text, _) = line_shot(ScalarType::U64, &cells, Some(["range", &range]));
    assert!(
        text.contains(&format!("from {} to {}, linear, viridis; 1 below, 1 above", u64::MAX - 9, u64::MAX - 1)),
        "{text}"
    );
    let (text, _) = line_shot(ScalarType::U64, &cells, Some(["range", "p10:p90"]));
    assert!(text.contains(&format!("from {} to {}", u64::MAX - 9, u64::MAX - 1)), "{text}");
    // The lowest and the highest integer: the middle is 0.
    let cells: Vec<u8> = [i64::MIN, 0, i64::MAX].into_iter().flat_map(i64::to_le_bytes).collect();
    let (text, found) = line_shot(ScalarType::I64, &cells, None);
    assert!(text.contains("min -9223372036854775808, max 9223372036854775807"), "{text}");
    assert_eq!(found, [0.0, 0.5, 1.0].map(|share| ColourMap::first().at(share)));
    // A script prints the same digits.
    let directory = tempfile::tempdir().unwrap();
    record_line(directory.path(), "numbers", ScalarType::I64, &cells);
    let request = r#"{"summary":{"array":"density","percentiles":[0,100],"bins":2}}"#;
    let mut child = viewer(directory.path(), &["script", "line.zrec"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    let answer: Value = serde_json::from_str(&standard_output(child.wait_with_output().unwrap())).unwrap();
    let of = &answer["summary"]["components"][0];
    assert_eq!((&of["min"], &of["max"]), (&json!(i64::MIN), &json!(i64::MAX)));
    assert_eq!((&of["percentiles"], &of["bins"]), (&json!([i64::MIN, i64::MAX]), &json!([1, 2])));
}

#[test]
fn floats_are_printed_with_few_digits_that_distinguish_them() {
    let said_of = |values: &[f64], field: Option<[&str; 2]>| {
        let cells: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        line_shot(ScalarType::F64, &cells, field)
    };
    let of_f32 = |values: &[f32]| {
        let cells: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        line_shot(ScalarType::F32, &cells, None).0
    };
    let next = 1.0_f64.next_up();
    let (text, found) = said_of(&[1.0, next], None);
    assert!(
        text.contains("colours from 1 to 1.0000000000000002") && text.contains("min 1, max 1.0000000000000002"),
        "{text}"
    );
    assert_eq!(found, [0.0, 1.0].map(|share| ColourMap::first().at(share)));
    let single = f64::from(0.1_f32);
    let (text, _) = said_of(&[single, single.next_up()], None);
    assert!(text.contains("min 0.10000000149011612, max 0.10000000149011613"), "{text}");
    let (text, found) = said_of(&[101_325.0, 101_325.000_25, 101_325.000_5], None);
    assert!(text.contains("from 101325 to 101325.0005"), "{text}");
    assert_eq!(found[1], ColourMap::first().at(0.5));
    let text = of_f32(&[1e-45, f32::MAX]);
    assert!(text.contains("min 1e-45, max 3.4028235e38"), "{text}");
    let text = of_f32(&[16_777_216.0, 4_294_966_272.0]);
    assert!(text.contains("min 16777216, max 4294966272"), "{text}");
    let text = of_f32(&[0.1, 0.1_f32.next_up()]);
    assert!(text.contains("min 0.1, max 0.10000001"), "{text}");
    assert!(text.lines().all(|line| line.len() < 120), "{text}");
    // Numbers in between on a logarithmic scale.
    let (text, found) = said_of(&[-1.0, 0.0, 1e-300, 1.0, 1e300], Some(["norm", "log"]));
    assert!(text.contains("colours from 1e-300 to 1e300, logarithmic, viridis; 2 below, 0 above"), "{text}");
    assert_eq!(found[3], ColourMap::first().at(0.5));
}
