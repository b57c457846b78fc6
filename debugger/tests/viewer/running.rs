//! A program with a large array, stepped and fetched.

use std::io::Write;
use std::net::TcpListener;
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use zippy_debugger::client::Client;
use zippy_debugger::session::{Live, Replay};
use zippy_protocol::{
    Answer, ArrayEntry, Ask, Control, Message, Recorded, Request, Rule, ScalarType, View, ViewRequest, When,
};

use crate::fake::{TIME_LIMIT, TOKEN, asked, listener, point, program, send_message, welcome};
use crate::support::{COARSE, DENSITY, arrays, encoded_recording, scalar, standard_error, standard_output, viewer};

/// Value of cell (x, y) of the large array.
fn large_value(x: i64, y: i64) -> f32 {
    (x + 4096 * y) as f32
}

fn large_view(of: &ViewRequest, step: u64) -> View {
    let extents = of.extents().unwrap();
    assert!(of.bytes(4).unwrap() <= 4 << 20);
    let at = |axis: usize, place: i64| of.start[axis] + place * of.stride[axis];
    let cells = (0..extents[1]).flat_map(|j| (0..extents[0]).map(move |i| large_value(at(0, i), at(1, j))));
    View { of: of.clone(), step, cells: cells.flat_map(f32::to_le_bytes).collect() }
}

fn large_entry(shape: [i64; 2]) -> ArrayEntry {
    let mut entry = arrays(1).remove(0);
    (entry.shape, entry.chunks, entry.element) = (shape.to_vec(), Vec::new(), scalar("f32", ScalarType::F32));
    (entry.ghosts, entry.periodic, entry.grid) = ([vec![0; 2], vec![0; 2]], vec![false; 2], None);
    entry
}

/// A program with a large array. It pauses at once and at requested debug points. If
/// `continues_during_views`, it continues without a command while its views are fetched.
fn large_program(listener: TcpListener, continues_during_views: bool) -> JoinHandle<Vec<Request>> {
    thread::spawn(move || {
        let mut stream = welcome(&listener, "large");
        let mut step = 1;
        send_message(&mut stream, &point(step, true));
        let mut requests = Vec::new();
        while let Some(Ask { id, request }) = asked(&mut stream) {
            let mut answer = |answer| send_message(&mut stream, &Message::Answer(id, answer));
            match &request {
                Request::Arrays => answer(Ok(Answer::Arrays(vec![large_entry([3001, 1003])]))),
                Request::View(of) => {
                    step += u64::from(continues_during_views);
                    answer(Ok(Answer::View(large_view(of, step))));
                }
                Request::Rules(_) => answer(Ok(Answer::Done)),
                Request::Control(Control::Stop) => {
                    answer(Ok(Answer::Done));
                    send_message(&mut stream, &Message::End("it was stopped".into()));
                }
                Request::Control(_) => {
                    answer(Ok(Answer::Done));
                    // It continues and pauses later.
                    send_message(&mut stream, &point(step + 1, false));
                    thread::sleep(Duration::from_millis(50));
                    step += 10;
                    send_message(&mut stream, &point(step, true));
                }
                _ => answer(Err("not here".into())),
            }
            requests.push(request);
        }
        requests
    })
}

#[test]
fn large_slices_are_fetched_in_parts() {
    for continues_during_views in [false, true] {
        let (listener, address) = listener();
        let fake = large_program(listener, continues_during_views);
        let mut client = Client::new(Box::new(Live::connect(&address.to_string(), TOKEN)), TIME_LIMIT).unwrap();
        let request = ViewRequest {
            array: DENSITY,
            chunk: None,
            start: vec![0, 0],
            end: vec![3001, 1003],
            stride: vec![1, 1],
            numbers: None,
        };
        match client.cells(&request, 4) {
            Ok(view) => {
                let wanted = (0..1003).flat_map(|y| (0..3001).map(move |x| large_value(x, y)));
                assert!(!continues_during_views && view.of == request && view.cells.len() == 3001 * 1003 * 4);
                assert!(view.cells.chunks_exact(4).zip(wanted).all(|(cell, wanted)| *cell == wanted.to_le_bytes()));
            }
            Err(error) => assert!(continues_during_views && error.contains("went on"), "{error}"),
        }
        let huge = ViewRequest { end: vec![1 << 40, 1 << 40], ..request };
        assert!(client.cells(&huge, 4).unwrap_err().contains("1073741824"));
        drop(client);
        assert!(fake.join().unwrap().len() > 3);
    }
}

#[test]
fn large_coarse_recording_is_fetched_with_recorded_cells() {
    let shape = [4001, 2203];
    let of = ViewRequest {
        array: DENSITY,
        chunk: None,
        start: vec![0, 0],
        end: shape.to_vec(),
        stride: vec![2, 3],
        numbers: None,
    };
    let cells = (0..2203).step_by(3).flat_map(|y| (0..4001).step_by(2).map(move |x| large_value(x, y)));
    let recorded = View { of: of.clone(), step: 1, cells: cells.flat_map(f32::to_le_bytes).collect() };
    let Message::Point(first) = point(1, true) else { panic!() };
    let entries = [
        Recorded::Program(program("large")),
        Recorded::Point(first),
        Recorded::Arrays(vec![large_entry(shape)]),
        Recorded::View(recorded.clone()),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.zrec");
    std::fs::write(&path, encoded_recording(&entries).0).unwrap();
    let mut client = Client::new(Box::new(Replay::open(&path).unwrap()), TIME_LIMIT).unwrap();
    let view = client.cells(&ViewRequest { stride: vec![1, 1], ..of.clone() }, 4).unwrap();
    assert_eq!((&view.of.start, &view.of.stride, view.of.extents()), (&of.start, &of.stride, of.extents()));
    assert!(view.cells == recorded.cells);
}

#[test]
fn script_steps_a_running_program() {
    let (listener, address) = listener();
    let fake = large_program(listener, false);
    let directory = tempfile::tempdir().unwrap();
    let mut command = viewer(directory.path(), &["script", &address.to_string()]);
    command.env("ZIPPY_DEBUG_TOKEN", TOKEN);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = [
        json!({"wait": "paused"}),
        json!({"rules": [{"condition": "max(abs(u)) > 0.3"}]}),
        json!({"control": "continue"}),
        json!({"wait": "paused"}),
        json!({"pick": {"array": "density", "at": [3, 4]}}),
        json!({"step": 3}),
        json!({"wait": {"for": "paused", "seconds": 50}}),
        json!({"go_to": 3}),
        json!({"moves": {}}),
        json!({"control": "stop"}),
        json!({"wait": "end"}),
        json!({"arrays": {}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = standard_output(child.wait_with_output().unwrap());
    let found: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), lines.len());
    // The wait ends at the next pause and not at the previous one.
    let steps = [0, 3, 6].map(|place| found[place]["point"]["step"].as_u64().unwrap());
    assert_eq!(steps, [1, 11, 21]);
    assert_eq!(found[4]["pick"]["value"], json!(large_value(3, 4)));
    assert!(found[7]["error"].as_str().unwrap().contains("where it is"), "{}", found[7]);
    assert_eq!(found[8]["error"], "not here");
    assert_eq!(found[9]["control"], "done");
    assert!(found[10]["how"].as_str().unwrap().contains("it was stopped"), "{}", found[10]);
    assert!(found[11]["error"].is_string());
    let requests = fake.join().unwrap();
    let rule = Rule { name: None, when: When::Condition("max(abs(u)) > 0.3".into()) };
    assert!(requests.contains(&Request::Rules(vec![rule])) && requests.contains(&Request::Control(Control::Step(3))));
    assert!(!requests.iter().any(|request| matches!(request, Request::View(of) if of.array == COARSE)));
}

#[test]
fn commands_end_without_a_program() {
    let address = listener().1.to_string();
    let directory = tempfile::tempdir().unwrap();
    let command = ["script", &address, "--patience", "1", r#"{"shot":{"array":"u","output":"u.png"}}"#];
    let text = standard_error(viewer(directory.path(), &command).env("ZIPPY_DEBUG_TOKEN", TOKEN).output().unwrap());
    assert!(text.contains("nobody is there after 1 s") && text.contains(&address), "{text}");
}
