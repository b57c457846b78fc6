//! Encodings of all messages, which must not change without a new version.

use std::fmt::Write;

use serde::Serialize;

use super::recording::{Reader, Writer};
use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn framed(value: &impl Serialize) -> String {
    hex(&frame::encode(value, frame::MOST_TOLD).unwrap())
}

const ARRAY: ArrayRef = ArrayRef { rank: Some(1), number: 300 };
const GLOBAL: ArrayRef = ArrayRef { rank: None, number: 7 };

fn requests() -> Vec<Request> {
    let view = ViewRequest {
        array: ARRAY,
        chunk: Some(2),
        start: vec![-1, 5],
        end: vec![40, 6],
        stride: vec![2, 1],
        numbers: Some(1),
    };
    let (range, percentiles) = (Some((-1.0, 2.5)), vec![1.0, 99.5]);
    let summary =
        SummaryRequest { array: GLOBAL, numbers: 3, length: true, bins: 16, range, percentiles, positive: true };
    let rule = |name: Option<&str>, when| Rule { name: name.map(str::to_string), when };
    let rules = vec![
        rule(Some("a"), When::Always),
        rule(None, When::Every(10)),
        rule(None, When::Condition("nan(f) > 0".into())),
    ];
    let controls = [
        Control::Pause,
        Control::Continue,
        Control::Step(300),
        Control::RunTo("b".into()),
        Control::Detach,
        Control::Stop,
    ];
    let mut all = vec![
        Request::Arrays,
        Request::View(view),
        Request::Summary(summary),
        Request::Summary(SummaryRequest::of(ARRAY, 0)),
        Request::Ghosts(GLOBAL),
        Request::Compare(GLOBAL, ARRAY),
        Request::Moves,
        Request::Timeline(1 << 40),
        Request::Rules(rules),
        Request::Alive,
    ];
    all.extend(controls.map(Request::Control));
    all
}

fn name(request: &Request) -> &'static str {
    match request {
        Request::Arrays => "arrays",
        Request::View(_) => "view",
        Request::Summary(_) => "summary",
        Request::Ghosts(_) => "ghosts",
        Request::Compare(..) => "compare",
        Request::Moves => "moves",
        Request::Timeline(_) => "timeline",
        Request::Control(control) => match control {
            Control::Pause => "pause",
            Control::Continue => "continue",
            Control::Step(_) => "step",
            Control::RunTo(_) => "run to",
            Control::Detach => "detach",
            Control::Stop => "stop",
        },
        Request::Rules(_) => "rules",
        Request::Alive => "alive",
    }
}

fn program() -> Program {
    Program { name: "lbm".into(), ranks: 4, checked: true, adapters: vec!["a".into()] }
}

fn point() -> Point {
    let (name, file) = ("after".into(), "a.rs".into());
    Point { step: 12, name, file, line: 300, paused: true, reason: "why".into(), micros: 1 << 35 }
}

fn view() -> View {
    let of = ViewRequest { array: GLOBAL, chunk: None, start: vec![0], end: vec![3], stride: vec![1], numbers: None };
    View { of, step: 9, cells: vec![1, 2, 255] }
}

fn arrays() -> Vec<ArrayEntry> {
    use ScalarType as S;
    let scalars = [S::U8, S::I8, S::U16, S::I16, S::F16, S::U32, S::I32, S::F32, S::U64, S::I64, S::F64];
    let numbers = |(index, scalar): (usize, ScalarType)| Numbers {
        name: format!("n{index}"),
        offset: 8 * index as u32,
        scalar,
        components: 1 + (index % 4) as u8,
    };
    let element =
        ElementType { name: "R".into(), bytes: 88, numbers: scalars.into_iter().enumerate().map(numbers).collect() };
    let global = ArrayEntry {
        array: GLOBAL,
        name: "u".into(),
        kind: ArrayKind::Global,
        element,
        shape: vec![9],
        ghosts: [vec![1], vec![2]],
        periodic: vec![true],
        chunk_count: 2,
        grid: Some(vec![2]),
        chunks: vec![ChunkEntry { rank: 3, start: vec![-1], end: vec![9], writes: 4 }],
        bytes: 1 << 34,
        writes: 4,
        last_write: Some(LastWrite { operation: "k".into(), file: "a.rs".into(), line: 70, step: 9 }),
    };
    let other = |kind| ArrayEntry { array: ARRAY, kind, grid: None, last_write: None, ..global.clone() };
    vec![global.clone(), other(ArrayKind::Local), other(ArrayKind::Growable)]
}

fn ghosts() -> Vec<GhostEntry> {
    [GhostState::Fresh, GhostState::Stale, GhostState::NeverFilled]
        .map(|state| GhostEntry { chunk: 5, side: vec![-1, 0, 1], state })
        .into()
}

fn moves() -> Moves {
    let (from, to) = ((Some(GLOBAL), 3, 1, vec![0]), (None, 0, 2, vec![-4]));
    let moves = vec![MoveEntry { from, to, extents: vec![9], bytes: 36 }];
    Moves { operation: "fence".into(), moves, count: 2, bytes_local: 36, bytes_network: 300 }
}

fn timeline() -> Timeline {
    use SpanKind as K;
    let kinds = [K::Kernel, K::Plan, K::Pack, K::Local, K::Wait, K::Unpack, K::Debug];
    let span = |kind| Span { kind, what: "w".into(), start: 1 << 30, length: 700, peer: Some(1) };
    Timeline { until: 1 << 33, ranks: vec![kinds.map(span).into(), Vec::new()] }
}

fn answers() -> Vec<Answer> {
    let component = Component {
        count: 100,
        nans: 1,
        infinities: 2,
        extremes: Some(((-1.5).into(), 2.5.into())),
        range: (ScalarValue::Integer(i64::MIN.into()), ScalarValue::Integer(u64::MAX.into())),
        bins: vec![1, 300],
        outside: (0, 1),
        percentiles: vec![0.25.into()],
    };
    let nothing = Component { extremes: None, bins: Vec::new(), percentiles: Vec::new(), ..component.clone() };
    let components = vec![component, nothing];
    vec![
        Answer::Arrays(arrays()),
        Answer::View(view()),
        Answer::Summary(Summary { array: GLOBAL, numbers: 1, length: false, step: 4, components }),
        Answer::Ghosts(ghosts()),
        Answer::Difference(Difference { cells: 3, first: Some(vec![1, 2]) }),
        Answer::Moves(moves()),
        Answer::Timeline(timeline()),
        Answer::Done,
    ]
}

fn messages() -> Vec<Message> {
    let answers = answers().into_iter().map(|answer| Message::Answer(77, Ok(answer)));
    let others =
        [Message::Answer(1, Err("no".into())), Message::Point(point()), Message::End("over".into()), Message::Alive];
    answers.chain(others).collect()
}

fn name_of(message: &Message) -> &'static str {
    match message {
        Message::Point(_) => "point",
        Message::End(_) => "end",
        Message::Alive => "alive",
        Message::Answer(_, Err(_)) => "refusal",
        Message::Answer(_, Ok(answer)) => match answer {
            Answer::Arrays(_) => "arrays",
            Answer::View(_) => "view",
            Answer::Summary(_) => "summary",
            Answer::Ghosts(_) => "ghosts",
            Answer::Difference(_) => "difference",
            Answer::Moves(_) => "moves",
            Answer::Timeline(_) => "timeline",
            Answer::Done => "done",
        },
    }
}

fn entries() -> Vec<Recorded> {
    vec![
        Recorded::Program(program()),
        Recorded::Point(point()),
        Recorded::Arrays(arrays()),
        Recorded::View(view()),
        Recorded::End("over".into()),
        Recorded::Ghosts(GLOBAL, ghosts()),
        Recorded::Moves(moves()),
        Recorded::Timeline(timeline()),
        Recorded::Unchanged(GLOBAL, 300),
    ]
}

fn name_of_entry(entry: &Recorded) -> &'static str {
    match entry {
        Recorded::Program(_) => "program",
        Recorded::Point(_) => "point",
        Recorded::Arrays(_) => "arrays",
        Recorded::View(_) => "view",
        Recorded::End(_) => "end",
        Recorded::Ghosts(..) => "ghosts",
        Recorded::Moves(_) => "moves",
        Recorded::Timeline(_) => "timeline",
        Recorded::Unchanged(..) => "unchanged",
    }
}

/// A failure means that the format has changed and [`VERSION`] must change, too: each version has
/// its own snapshot.
#[test]
fn encodings_match_the_snapshot_of_this_version() {
    let mut text = String::new();
    let mut line = |what: &str, name: &str, hex: String| {
        let _ = writeln!(text, "{what} {name}: {hex}");
    };
    use greeting::{Reception, Side, proof};
    let (token, numbers) = ("0123456789abcdef0123456789abcdef", [&[0x5a; 32], &[0xa5; 32]]);
    line("greeting", "of a viewer", hex(&greeting::greeting(numbers[0])));
    line("greeting", "Challenge", hex(&greeting::challenge(token, numbers)));
    line("greeting", "proof of a viewer", hex(proof(Side::Viewer, token, numbers).as_bytes()));
    for reception in [Reception::Welcome, Reception::OtherVersion, Reception::WrongToken, Reception::Full] {
        let mut bytes = Vec::new();
        greeting::answer(&mut bytes, reception).unwrap();
        line("greeting", &format!("{reception:?}"), hex(&bytes));
    }
    line("first", "program", framed(&program()));
    for (id, request) in requests().into_iter().enumerate() {
        line("ask", name(&request), framed(&Ask { id: 100 * id as u32, request: request.clone() }));
    }
    for message in messages() {
        line("message", name_of(&message), framed(&message));
    }
    for entry in entries() {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes).unwrap().add(&entry).unwrap();
        line("recorded", name_of_entry(&entry), hex(&bytes));
    }
    // An enumeration variant without a sample makes these counts too small.
    let names = |text: &str, what: &str| {
        let names = text.lines().filter_map(|line| line.strip_prefix(what)?.split_once(':'));
        names.map(|(name, _)| name.to_string()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!([names(&text, "ask "), names(&text, "message "), names(&text, "recorded ")], [15, 12, 9]);
    insta::assert_snapshot!(format!("protocol_version_{VERSION}"), text);
}

#[test]
fn recordings_of_older_versions_are_read() {
    let text = include_str!("snapshots/zippy_protocol__golden_tests__protocol_version_3.snap");
    let lines: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("recorded ")?.split_once(": ")).collect();
    assert_eq!((FIRST_RECORDED_VERSION, lines.len()), (3, 8));
    for ((name, written), entry) in lines.into_iter().zip(entries()) {
        let mut bytes = Vec::new();
        Writer::new(&mut bytes).unwrap().add(&entry).unwrap();
        assert_eq!((name, &written[20..]), (name_of_entry(&entry), &*hex(&bytes[10..])));
        bytes[8] = FIRST_RECORDED_VERSION as u8;
        assert!(Reader::new(std::io::Cursor::new(bytes)).is_ok());
    }
    for version in [FIRST_RECORDED_VERSION - 1, VERSION + 1] {
        let bytes = [b"zippyrec".as_slice(), &version.to_le_bytes()].concat();
        let error = Reader::new(std::io::Cursor::new(bytes)).unwrap_err().to_string();
        assert!(error.contains("from 3 to 4"), "{error}");
    }
}
