//! Programs that run, as the test plays them: wrong ones, slow ones, those that vanish and come back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use zippy::debug::protocol::greeting::{self, GREETING_BYTES, Reception};
use zippy::debug::protocol::{
    Answer, Ask, Control, Message, Point, Program, Recorded, Request, Rule, VERSION, View, ViewRequest, When, frame,
};
use zippy_debugger::client::Client;
use zippy_debugger::session::{Live, MOST_UNANSWERED, Replay, Session, State};

use crate::support::{COARSE, DENSITY, arrays, said, scalar, viewer};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// As long is waited for what has to come.
const LONG: Duration = Duration::from_secs(60);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Accepts a viewer, hears its greeting and receives it so.
fn accept(listener: &TcpListener) -> (TcpStream, Option<Reception>) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = [0; GREETING_BYTES];
    stream.read_exact(&mut bytes).unwrap();
    let reception = greeting::received(&bytes, TOKEN);
    (stream, reception)
}

fn welcome(listener: &TcpListener, name: &str) -> TcpStream {
    let (mut stream, reception) = accept(listener);
    assert_eq!(reception, Some(Reception::Welcome));
    greeting::answer(&mut stream, Reception::Welcome).unwrap();
    tell(&mut stream, &program(name));
    stream
}

fn program(name: &str) -> Program {
    Program { name: name.into(), ranks: 4, checked: false, adapters: Vec::new() }
}

fn tell(stream: &mut TcpStream, value: &impl serde::Serialize) {
    frame::write(stream, value, frame::MOST_TOLD).unwrap();
}

fn asked(stream: &mut TcpStream) -> Option<Ask> {
    frame::read(stream, frame::MOST_ASKED).unwrap()
}

fn point(step: u64, paused: bool) -> Message {
    let (name, file, reason) = ("after collide".into(), "flow.rs".into(), String::new());
    Message::Point(Point { step, name, file, line: 7, paused, reason, micros: step })
}

/// Waits until this is so, and hands back all that was said.
fn until(live: &mut Live, so: impl Fn(&State, &[Message]) -> bool) -> Vec<Message> {
    let mut told = Vec::new();
    for _ in 0..LONG.as_millis() / 50 {
        let state = live.state();
        told.extend(live.poll());
        if so(&state, &told) {
            return told;
        }
        live.wait(Duration::from_millis(50));
    }
    panic!("it did not come to that: {:?}, {told:?}", live.state());
}

fn is_open(state: &State, _: &[Message]) -> bool {
    *state == State::Open
}

fn closed(state: &State) -> &str {
    if let State::Closed(how) = state { how } else { "" }
}

#[test]
fn a_program_is_asked_and_answers() {
    let (listener, address) = listener();
    let fake = thread::spawn(move || {
        let mut stream = welcome(&listener, "lbm");
        tell(&mut stream, &point(3, true));
        let mut requests = Vec::new();
        while let Some(ask) = asked(&mut stream) {
            // To nobody's question, to this one, and to this one again.
            tell(&mut stream, &Message::Answer(ask.id + 1000, Ok(Answer::Done)));
            tell(&mut stream, &Message::Answer(ask.id, Ok(Answer::Arrays(arrays(3)))));
            tell(&mut stream, &Message::Answer(ask.id, Ok(Answer::Done)));
            requests.push(ask.request);
        }
        requests
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    until(&mut live, is_open);
    assert_eq!(live.program(), Some(&program("lbm")));
    let ids = [live.ask(Request::Arrays), live.ask(Request::Moves)];
    let mut told = until(&mut live, |_, told| told.iter().filter(|m| matches!(m, Message::Answer(..))).count() == 2);
    told.retain(|message| !matches!(message, Message::Point(_)));
    assert_eq!(told, ids.map(|id| Message::Answer(id, Ok(Answer::Arrays(arrays(3))))));
    drop(live);
    assert_eq!(fake.join().unwrap(), [Request::Arrays, Request::Moves]);
}

#[test]
fn only_the_latest_point_is_kept() {
    let (listener, address) = listener();
    let fake = thread::spawn(move || {
        let mut stream = welcome(&listener, "fast");
        // Far more than connections hold, so that most was heard when all is told.
        for step in 1..=3000 {
            let Message::Point(point) = point(step, false) else { unreachable!() };
            tell(&mut stream, &Message::Point(Point { name: "x".repeat(20_000), ..point }));
        }
        stream
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    let mut stream = fake.join().unwrap();
    let told = live.poll();
    assert!(matches!(told.as_slice(), [Message::Point(point)] if point.step > 1000), "{} points", told.len());
    tell(&mut stream, &point(3001, true));
    until(&mut live, |_, told| told.last() == Some(&point(3001, true)));
}

#[test]
fn who_is_refused_is_told_why_and_does_not_come_again() {
    type Reply = fn(&mut TcpStream, Option<Reception>);
    let cases: [(Reply, &str, &str); 4] = [
        (
            |stream, reception| greeting::answer(stream, reception.unwrap()).unwrap(),
            "f123456789abcdef0123456789abcdef",
            "token",
        ),
        (
            |stream, _| stream.write_all(&[b"zippydbg".as_slice(), &[VERSION as u8 + 1, 0, 1]].concat()).unwrap(),
            TOKEN,
            "release",
        ),
        (|stream, _| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap(), TOKEN, "no program of Zippy's"),
        (|stream, _| stream.write_all(&[b"zippydbg".as_slice(), &[1, 0, 77]].concat()).unwrap(), TOKEN, "77"),
    ];
    for (reply, token, part) in cases {
        let (listener, address) = listener();
        let fake = thread::spawn(move || {
            let (mut stream, reception) = accept(&listener);
            reply(&mut stream, reception);
            listener
        });
        let mut live = Live::connect(&address.to_string(), token);
        let id = live.ask(Request::Arrays);
        let told = until(&mut live, |state, _| !closed(state).is_empty());
        assert!(closed(&live.state()).contains(part), "{:?}", live.state());
        assert!(matches!(&told[..], [Message::Answer(answered, Err(_))] if *answered == id), "{told:?}");
        let listener = fake.join().unwrap();
        listener.set_nonblocking(true).unwrap();
        thread::sleep(Duration::from_millis(300));
        assert!(listener.accept().is_err(), "it came again");
        assert!(closed(&live.state()).contains(part));
    }
}

#[test]
fn what_comes_late_is_waited_for() {
    // A port where nobody listens yet.
    let address = listener().1;
    let mut live = Live::connect(&address.to_string(), TOKEN);
    until(&mut live, |state, _| matches!(state, State::Connecting(why) if why.contains(&address.to_string())));
    let fake = thread::spawn(move || {
        let listener = TcpListener::bind(address).unwrap();
        // At first there is no room, then it hangs up, then it speaks slowly.
        let (mut stream, _) = accept(&listener);
        greeting::answer(&mut stream, Reception::Full).unwrap();
        drop(stream);
        drop(accept(&listener));
        let (mut stream, _) = accept(&listener);
        let mut bytes = Vec::new();
        greeting::answer(&mut bytes, Reception::Welcome).unwrap();
        frame::write(&mut bytes, &program("slow"), frame::MOST_TOLD).unwrap();
        frame::write(&mut bytes, &point(9, true), frame::MOST_TOLD).unwrap();
        for byte in bytes {
            stream.write_all(&[byte]).unwrap();
            stream.flush().unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(asked(&mut stream), None);
    });
    let told = until(&mut live, |_, told| !told.is_empty());
    assert_eq!((told, live.state()), (vec![point(9, true)], State::Open));
    assert_eq!(live.program().unwrap().name, "slow");
    drop(live);
    fake.join().unwrap();
}

#[test]
fn a_program_that_ends_or_vanishes_is_looked_for_again() {
    let (listener, address) = listener();
    let goodbye: [fn(&mut TcpStream); 5] = [
        |stream| tell(stream, &Message::End("it has returned".into())),
        |stream| stream.shutdown(Shutdown::Both).unwrap(),
        // Half of a frame.
        |stream| stream.write_all(&[200, 0, 0, 0, 1, 2, 3]).unwrap(),
        |stream| stream.write_all(&[0xff; 64]).unwrap(),
        |stream| stream.write_all(&[3, 0, 0, 0, 0xff, 0xff, 0xff]).unwrap(),
    ];
    let fake = thread::spawn(move || {
        for (run, goodbye) in goodbye.into_iter().enumerate() {
            let mut stream = welcome(&listener, &format!("run {run}"));
            assert_eq!(asked(&mut stream).unwrap().request, Request::Arrays);
            goodbye(&mut stream);
        }
        assert_eq!(asked(&mut welcome(&listener, "the last run")), None);
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    for (run, part) in ["it has returned", "hung up", "ends after 3", "4294967295", "no sense"].into_iter().enumerate()
    {
        let name = format!("run {run}");
        while live.state() != State::Open || live.program().is_none_or(|program| program.name != name) {
            live.wait(LONG);
            live.poll();
        }
        let id = live.ask(Request::Arrays);
        let lost = |message: &Message| matches!(message, Message::Answer(answered, Err(_)) if *answered == id);
        let told = until(&mut live, |_, told| told.iter().any(lost));
        let Some(Message::Answer(_, Err(text))) = told.iter().find(|message| lost(message)) else { panic!() };
        assert!(text.contains(part), "{run}: {text}");
    }
    while live.program().is_none_or(|program| program.name != "the last run") {
        live.wait(LONG);
        live.poll();
    }
    assert_eq!(live.state(), State::Open);
    drop(live);
    fake.join().unwrap();
}

#[test]
fn asks_are_bounded_and_never_wait() {
    let (listener, address) = listener();
    // It hears nothing.
    let fake = thread::spawn(move || welcome(&listener, "deaf"));
    let mut live = Live::connect(&address.to_string(), TOKEN);
    until(&mut live, is_open);
    let rules = |bytes| Request::Rules(vec![Rule { name: None, when: When::Condition("x".repeat(bytes)) }]);
    for _ in 0..MOST_UNANSWERED {
        live.ask(rules(60_000));
    }
    assert_eq!(live.poll(), []);
    let more = [live.ask(Request::Arrays), live.ask(rules(frame::MOST_ASKED))];
    let told = live.poll();
    let [Message::Answer(first, Err(many)), Message::Answer(second, Err(long))] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!([*first, *second] == more && many.contains("32") && long.contains("65536"), "{many}, {long}");
    drop(fake.join().unwrap());
    let told = until(&mut live, |_, told| told.len() == MOST_UNANSWERED);
    assert!(told.iter().all(|message| matches!(message, Message::Answer(_, Err(_)))));
}

/// Cell (x, y) of the large array of a fake.
fn large(x: i64, y: i64) -> f32 {
    (x + 4096 * y) as f32
}

fn large_view(of: &ViewRequest, step: u64) -> View {
    let extents = of.extents().unwrap();
    assert!(of.bytes(4).unwrap() <= 4 << 20);
    let at = |axis: usize, place: i64| of.start[axis] + place * of.stride[axis];
    let cells = (0..extents[1]).flat_map(|j| (0..extents[0]).map(move |i| large(at(0, i), at(1, j))));
    View { of: of.clone(), step, cells: cells.flat_map(f32::to_le_bytes).collect() }
}

fn large_entry(shape: [i64; 2]) -> zippy::debug::protocol::ArrayEntry {
    let mut entry = arrays(1).remove(0);
    (entry.shape, entry.chunks, entry.element) =
        (shape.to_vec(), Vec::new(), scalar("f32", zippy::debug::protocol::ScalarType::F32));
    entry
}

/// A program with a large array: pauses at once, and at the points that it is told to; it goes on by itself during views where
/// `restless`.
fn large_program(listener: TcpListener, restless: bool) -> JoinHandle<Vec<Request>> {
    thread::spawn(move || {
        let mut stream = welcome(&listener, "large");
        let mut step = 1;
        tell(&mut stream, &point(step, true));
        let mut requests = Vec::new();
        while let Some(Ask { id, request }) = asked(&mut stream) {
            let mut answer = |answer| tell(&mut stream, &Message::Answer(id, answer));
            match &request {
                Request::Arrays => answer(Ok(Answer::Arrays(vec![large_entry([3001, 1003])]))),
                Request::View(of) => {
                    step += u64::from(restless);
                    answer(Ok(Answer::View(large_view(of, step))));
                }
                Request::Rules(_) => answer(Ok(Answer::Done)),
                Request::Control(Control::Stop) => {
                    answer(Ok(Answer::Done));
                    tell(&mut stream, &Message::End("it was stopped".into()));
                }
                Request::Control(_) => {
                    answer(Ok(Answer::Done));
                    // It runs, and pauses later.
                    tell(&mut stream, &point(step + 1, false));
                    thread::sleep(Duration::from_millis(50));
                    step += 10;
                    tell(&mut stream, &point(step, true));
                }
                _ => answer(Err("not here".into())),
            }
            requests.push(request);
        }
        requests
    })
}

#[test]
fn slices_of_any_size_are_fetched_in_parts() {
    for restless in [false, true] {
        let (listener, address) = listener();
        let fake = large_program(listener, restless);
        let mut client = Client::new(Box::new(Live::connect(&address.to_string(), TOKEN)), LONG).unwrap();
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
                let wanted = (0..1003).flat_map(|y| (0..3001).map(move |x| large(x, y)));
                assert!(!restless && view.of == request && view.cells.len() == 3001 * 1003 * 4);
                assert!(view.cells.chunks_exact(4).zip(wanted).all(|(cell, wanted)| *cell == wanted.to_le_bytes()));
            }
            Err(error) => assert!(restless && error.contains("went on"), "{error}"),
        }
        let huge = ViewRequest { end: vec![1 << 40, 1 << 40], ..request };
        assert!(client.cells(&huge, 4).unwrap_err().contains("1073741824"));
        drop(client);
        assert!(fake.join().unwrap().len() > 3);
    }
}

#[test]
fn a_large_coarse_recording_is_fetched_as_it_is() {
    let shape = [4001, 2203];
    let of = ViewRequest {
        array: DENSITY,
        chunk: None,
        start: vec![0, 0],
        end: shape.to_vec(),
        stride: vec![2, 3],
        numbers: None,
    };
    let cells = (0..2203).step_by(3).flat_map(|y| (0..4001).step_by(2).map(move |x| large(x, y)));
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
    std::fs::write(&path, crate::support::written(&entries).0).unwrap();
    let mut client = Client::new(Box::new(Replay::open(&path).unwrap()), LONG).unwrap();
    let view = client.cells(&ViewRequest { stride: vec![1, 1], ..of.clone() }, 4).unwrap();
    assert_eq!((&view.of.start, &view.of.stride, view.of.extents()), (&of.start, &of.stride, of.extents()));
    assert!(view.cells == recorded.cells);
}

#[test]
fn a_script_steps_a_program_that_runs() {
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
    let said = said(child.wait_with_output().unwrap());
    let found: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), lines.len());
    // Waiting waits for the pause that follows, and not for the one before.
    let steps = [0, 3, 6].map(|place| found[place]["point"]["step"].as_u64().unwrap());
    assert_eq!(steps, [1, 11, 21]);
    assert_eq!(found[4]["pick"]["value"], json!(large(3, 4)));
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
fn commands_end_where_no_program_answers() {
    let address = listener().1.to_string();
    let directory = tempfile::tempdir().unwrap();
    let command = ["shot", &address, "--token", TOKEN, "--patience", "1", "--array", "u", "--output", "u.png"];
    let text = crate::support::complaint(viewer(directory.path(), &command).output().unwrap());
    assert!(text.contains("nobody is there after 1 s") && text.contains(&address), "{text}");
}
