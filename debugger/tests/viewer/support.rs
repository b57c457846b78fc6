//! A recorded run of three debug points, with values that encode their positions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use zippy_protocol::recording::Writer;
use zippy_protocol::{
    ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, ElementType, Numbers, Point, Program, Recorded, ScalarType, View,
    ViewRequest,
};

pub(crate) const DENSITY: ArrayRef = ArrayRef { rank: None, number: 1 };
pub(crate) const COPY: ArrayRef = ArrayRef { rank: None, number: 2 };
pub(crate) const FLOW: ArrayRef = ArrayRef { rank: None, number: 3 };
pub(crate) const COARSE: ArrayRef = ArrayRef { rank: None, number: 4 };
pub(crate) const LOCAL: [ArrayRef; 2] = [ArrayRef { rank: Some(0), number: 1 }, ArrayRef { rank: Some(1), number: 1 }];
pub(crate) const SHAPE: [i64; 3] = [5, 4, 3];
pub(crate) const STEPS: [u64; 3] = [1, 2, 10];

pub(crate) fn scalar(name: &str, scalar: ScalarType) -> ElementType {
    let numbers = vec![Numbers { name: String::new(), offset: 0, scalar, components: 1 }];
    ElementType { name: name.into(), bytes: scalar.bytes() as u32, numbers }
}

/// A record: a flag, a velocity with three components, and a 64-bit count.
pub(crate) fn record_type() -> ElementType {
    let member = |name: &str, offset, scalar, components| Numbers { name: name.into(), offset, scalar, components };
    let numbers = vec![
        member("flag", 0, ScalarType::U32, 1),
        member("velocity", 4, ScalarType::F32, 3),
        member("count", 16, ScalarType::I64, 1),
    ];
    ElementType { name: "Parcel".into(), bytes: 24, numbers }
}

/// Density of a cell. A few values are not finite.
pub(crate) fn density(step: u64, [x, y, z]: [i64; 3]) -> f32 {
    match [x, y, z] {
        [1, 0, 0] => f32::NAN,
        [2, 0, 0] => f32::INFINITY,
        [3, 0, 0] => f32::NEG_INFINITY,
        _ => (x + 10 * y + 100 * z) as f32 + 1000.0 * step as f32,
    }
}

/// Record of a cell.
pub(crate) fn flow(step: u64, [x, y, z]: [i64; 3]) -> (u32, [f32; 3], i64) {
    let velocity = [x as f32, -(y as f32) * 0.1, z as f32 * step as f32];
    ((x + y) as u32, velocity, i64::MIN + x + 10 * y + 100 * z)
}

pub(crate) fn coarse(x: i64) -> u16 {
    (x * x) as u16
}

/// All indices of a box, axis 0 fastest.
pub(crate) fn cells(shape: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let [nx, ny, nz] = shape;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

pub(crate) fn arrays(step: u64) -> Vec<ArrayEntry> {
    let entry = |array: ArrayRef, name: &str, element: ElementType, shape: &[i64], kind| ArrayEntry {
        array,
        name: name.into(),
        kind,
        bytes: shape.iter().product::<i64>() as u64 * u64::from(element.bytes),
        element,
        shape: shape.to_vec(),
        ghosts: [vec![0; shape.len()], vec![0; shape.len()]],
        periodic: vec![false; shape.len()],
        chunk_count: 2,
        grid: (0..shape.len()).map(|axis| if axis == 0 { Some(2) } else { Some(1) }).collect(),
        // Cut at 3 along x.
        chunks: (0..2)
            .map(|rank| {
                let (mut start, mut end) = (vec![0; shape.len()], shape.to_vec());
                (if rank == 0 { &mut end } else { &mut start })[0] = 3;
                ChunkEntry { rank, start, end, writes: step }
            })
            .collect(),
        writes: step,
        last_write: None,
    };
    let local = LOCAL.map(|array| entry(array, "scratch", scalar("f64", ScalarType::F64), &[4], ArrayKind::Local));
    let mut all = vec![
        entry(DENSITY, "density", scalar("f32", ScalarType::F32), &SHAPE, ArrayKind::Global),
        entry(COPY, "copy", scalar("f32", ScalarType::F32), &SHAPE, ArrayKind::Global),
        entry(FLOW, "flow", record_type(), &SHAPE, ArrayKind::Global),
        entry(COARSE, "coarse", scalar("u16", ScalarType::U16), &[100], ArrayKind::Global),
    ];
    all.extend(local);
    all
}

pub(crate) fn view(array: ArrayRef, step: u64, shape: &[i64], stride: i64, cells: Vec<u8>) -> View {
    let axes = shape.len();
    let of = ViewRequest {
        array,
        chunk: None,
        start: vec![0; axes],
        end: shape.to_vec(),
        stride: vec![stride; axes],
        numbers: None,
    };
    View { of, step, cells }
}

pub(crate) fn flow_bytes(step: u64, at: [i64; 3]) -> Vec<u8> {
    let (flag, velocity, count) = flow(step, at);
    let mut bytes = flag.to_le_bytes().to_vec();
    velocity.iter().for_each(|part| bytes.extend(part.to_le_bytes()));
    bytes.extend(count.to_le_bytes());
    bytes
}

/// Entries of the recording: a list of arrays and views per debug point. `copy` differs in one cell
/// at the last debug point.
pub(crate) fn entries() -> Vec<Recorded> {
    let program = Program { name: "lbm".into(), ranks: 2, checked: true, adapters: vec!["software".into()] };
    let mut entries = vec![Recorded::Program(program)];
    for step in STEPS {
        let name = if step == 2 { "after collide" } else { "after stream" };
        let (file, reason) = ("flow.rs".into(), String::new());
        entries.push(Recorded::Point(Point {
            step,
            name: name.into(),
            file,
            line: 40 + step as u32,
            paused: false,
            reason,
            micros: step * 1000,
        }));
        entries.push(Recorded::Arrays(arrays(step)));
        let one = cells(SHAPE).flat_map(|at| density(step, at).to_le_bytes()).collect();
        let other = cells(SHAPE).flat_map(|at| {
            let changed = step == 10 && at == [4, 2, 1];
            (if changed { -1.0 } else { density(step, at) }).to_le_bytes()
        });
        entries.push(Recorded::View(view(DENSITY, step, &SHAPE, 1, one)));
        entries.push(Recorded::View(view(COPY, step, &SHAPE, 1, other.collect())));
        let flow = cells(SHAPE).flat_map(|at| flow_bytes(step, at)).collect();
        entries.push(Recorded::View(view(FLOW, step, &SHAPE, 1, flow)));
        let every_third = (0..100).step_by(3).flat_map(|x| coarse(x).to_le_bytes()).collect();
        entries.push(Recorded::View(view(COARSE, step, &[100], 3, every_third)));
    }
    entries.push(Recorded::End("it has returned".into()));
    entries
}

/// The same entries with the density recorded by chunks, which have ghost cells along x.
pub(crate) fn with_density_in_chunks(mut entries: Vec<Recorded>) -> Vec<Recorded> {
    let chunk = |step: u64, chunk: u64, start: i64, end: i64| {
        let cells = cells(SHAPE).filter(|[x, ..]| (start..end).contains(x));
        let mut view = view(DENSITY, step, &SHAPE, 1, cells.flat_map(|at| density(step, at).to_le_bytes()).collect());
        (view.of.chunk, view.of.start[0], view.of.end[0]) = (Some(chunk), start, end);
        Recorded::View(view)
    };
    for entry in &mut entries {
        if let Recorded::Arrays(arrays) = entry {
            arrays[0].ghosts = [vec![1, 0, 0], vec![1, 0, 0]];
        }
    }
    let split = |entry: Recorded| match entry {
        Recorded::View(View { of, step, .. }) if of.array == DENSITY => {
            vec![chunk(step, 0, 0, 4), chunk(step, 1, 2, 5)]
        }
        entry => vec![entry],
    };
    entries.into_iter().flat_map(split).collect()
}

/// Returns the bytes of a recording and the end of each entry.
pub(crate) fn encoded_recording(entries: &[Recorded]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    for entry in entries {
        writer.add(entry).unwrap();
    }
    let mut at = 10;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        at += 8 + length;
        ends.push(at);
    }
    (bytes, ends)
}

/// A directory that contains the whole recording.
pub(crate) fn recording() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    std::fs::write(&path, encoded_recording(&entries()).0).unwrap();
    (directory, path)
}

/// The viewer's command without a token in its environment.
pub(crate) fn viewer(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zippy-debugger"));
    command.current_dir(directory).args(arguments).env_remove("ZIPPY_DEBUG_TOKEN");
    command
}

/// The command that writes a slice of a recording.
pub(crate) fn shot(directory: &Path, source: &str, fields: &Value) -> Command {
    viewer(directory, &["script", source, &json!({ "shot": fields }).to_string()])
}

/// Returns the field of the only answer of a script: `shot` of a successful one, or `error` of a
/// script that failed without a panic.
pub(crate) fn answer(output: Output, field: &str) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.is_empty() && output.status.code() == Some(i32::from(field == "error")), "{complaint}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer[field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Returns the standard output of a successful command.
pub(crate) fn standard_output(output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the error output of a command that failed without a panic.
pub(crate) fn standard_error(output: Output) -> String {
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}
