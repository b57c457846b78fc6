//! Samples of messages between programs and viewers, and their readers.

use std::io::{self, Cursor, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zippy_protocol::{
    Answer, ArrayEntry, ArrayKind, ArrayRef, Ask, ChunkEntry, Component, Control, Difference, ElementType, GhostEntry,
    GhostState, LastWrite, Message, MoveEntry, Moves, Numbers, Point, Program, Recorded, Request, Rule, ScalarType,
    ScalarValue, Span, SpanKind, Summary, SummaryRequest, Timeline, View, ViewRequest, When, frame, greeting,
};

use crate::samples::{Encoding, Sample, SampleFile};

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<(), String> {
    match name {
        "ask.msg" => read_frame::<Ask>(bytes, frame::MOST_ASKED, |ask| {
            if let Request::View(view) = &ask.request {
                let fitting = view.clone().fitting(4, 4096);
                assert!(fitting.extents().is_none() == view.extents().is_none());
            }
        }),
        "message.msg" => read_frame::<Message>(bytes, frame::MOST_TOLD, |_| {}),
        _ => {
            let mut stream = InputOnly(Cursor::new(bytes));
            let reception = greeting::receive(&mut stream, TOKEN).map_err(|error| error.to_string())?;
            // A proof of the token depends on a random number.
            assert_ne!(reception, greeting::Reception::Welcome);
            Ok(())
        }
    }
}

/// Peer that sends fixed bytes and ignores all received bytes.
struct InputOnly<'a>(Cursor<&'a [u8]>);

impl Read for InputOnly<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl Write for InputOnly<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a frame of at most `max_bytes`, applies `check`, and asserts that the value stays the
/// same after encoding and decoding.
fn read_frame<T: Serialize + DeserializeOwned>(
    mut bytes: &[u8],
    max_bytes: usize,
    check: fn(&T),
) -> Result<(), String> {
    let value = frame::read::<T>(&mut bytes, max_bytes).map_err(|error| error.to_string())?;
    let value = value.ok_or("the stream has no frame")?;
    check(&value);
    // Compares two encodings by this program: the encoding of numbers in the input may be longer
    // than necessary.
    let encoded = frame::encode(&value, max_bytes)?;
    let value: T = frame::decode(&encoded[4..])?;
    assert!(frame::encode(&value, max_bytes)? == encoded, "the value changes when it is encoded and decoded");
    Ok(())
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Mutations leave the length at the start of the frame correct.
fn frame_sample(name: &str, frame: Result<Vec<u8>, String>) -> Result<Sample, String> {
    Ok(vec![SampleFile { name: name.into(), sections: vec![(Encoding::Frame, frame?[4..].to_vec())] }])
}

pub(crate) fn samples() -> Result<Vec<Sample>, String> {
    let array = ArrayRef { rank: Some(1), number: 300 };
    let view = ViewRequest {
        array,
        chunk: Some(2),
        start: vec![-1, 0, 5],
        end: vec![40, 30, 6],
        stride: vec![2, 1, 1],
        numbers: Some(1),
    };
    let range = Some((-1.0, 2.5));
    let summary = SummaryRequest {
        array,
        numbers: 0,
        length: true,
        bins: 16,
        range,
        percentiles: vec![1.0, 99.5],
        positive: false,
    };
    let rules = vec![
        Rule { name: Some("after collide".into()), when: When::Always },
        Rule { name: None, when: When::Every(10) },
        Rule { name: None, when: When::Condition("max(abs(u)) > 0.3".into()) },
    ];
    let requests = [
        Request::Arrays,
        Request::View(view.clone()),
        Request::Summary(summary),
        Request::Ghosts(array),
        Request::Compare(array, ArrayRef { rank: None, number: 7 }),
        Request::Moves,
        Request::Timeline(1 << 40),
        Request::Control(Control::Step(3)),
        Request::Control(Control::RunTo("before".into())),
        Request::Control(Control::Stop),
        Request::Rules(rules),
        Request::Alive,
    ];
    let asks = requests.into_iter().enumerate().map(|(id, request)| Ask { id: id as u32 * 100, request });
    let asks = asks.map(|ask| frame_sample("ask.msg", frame::encode(&ask, frame::MOST_ASKED)));
    let answers = answers().into_iter().map(|answer| Message::Answer(77, Ok(answer)));
    let others = [
        Message::Point(point()),
        Message::Answer(1, Err("array \"u\" has 3 axes".into())),
        Message::End("the program has come to its end".into()),
        Message::Alive,
    ];
    let messages =
        answers.chain(others).map(|message| frame_sample("message.msg", frame::encode(&message, frame::MOST_TOLD)));
    let greeting = [b"zippydbg".as_slice(), &zippy_protocol::VERSION.to_le_bytes(), &[7; 64]].concat();
    let greeting = vec![SampleFile { name: "greeting.msg".into(), sections: vec![(Encoding::Plain, greeting)] }];
    asks.chain(messages).chain([Ok(greeting)]).collect()
}

pub(crate) const ARRAY: ArrayRef = ArrayRef { rank: None, number: 300 };

/// One answer of each kind, all for the array [`ARRAY`].
pub(crate) fn answers() -> Vec<Answer> {
    let ghosts = vec![GhostEntry { chunk: 1, side: vec![-1, 0], state: GhostState::Stale }; 3];
    vec![
        Answer::Arrays(vec![entry(ARRAY)]),
        Answer::View(view()),
        Answer::Summary(Summary { array: ARRAY, numbers: 1, length: false, step: 4, components: vec![component(); 3] }),
        Answer::Ghosts(ghosts),
        Answer::Difference(Difference { cells: 3, first: Some(vec![1, 2]) }),
        Answer::Moves(moves(ARRAY)),
        Answer::Timeline(timeline()),
        Answer::Done,
    ]
}

pub(crate) fn program() -> Program {
    Program { name: "lbm".into(), ranks: 4, checked: true, adapters: vec!["llvmpipe".into()] }
}

pub(crate) fn entries() -> Vec<Recorded> {
    let ghosts = vec![GhostEntry { chunk: 1, side: vec![-1, 0], state: GhostState::Stale }; 3];
    vec![
        Recorded::Program(program()),
        Recorded::Point(point()),
        Recorded::Arrays(vec![entry(ARRAY)]),
        Recorded::View(view()),
        Recorded::Ghosts(ARRAY, ghosts),
        Recorded::Moves(moves(ARRAY)),
        Recorded::Timeline(timeline()),
        Recorded::Point(Point { step: 13, ..point() }),
        Recorded::View(View {
            of: ViewRequest { stride: vec![3, 2], ..ViewRequest::whole(&entry(ARRAY)) },
            step: 13,
            cells: vec![7; 2 * 6 * 16],
        }),
        Recorded::End("done".into()),
    ]
}

fn view() -> View {
    View {
        of: ViewRequest::whole(&entry(ARRAY)),
        step: 9,
        cells: (0..5 * 12 * 16_u32).map(|byte| byte as u8).collect(),
    }
}

fn timeline() -> Timeline {
    Timeline { until: 1 << 33, ranks: vec![vec![span(), span()], vec![]] }
}

fn entry(array: ArrayRef) -> ArrayEntry {
    let numbers = vec![
        Numbers { name: "place".into(), offset: 0, scalar: ScalarType::F32, components: 3 },
        Numbers { name: "id".into(), offset: 12, scalar: ScalarType::U32, components: 1 },
    ];
    let chunk =
        |rank: u32, start: i64, end: i64| ChunkEntry { rank, start: vec![0, start], end: vec![5, end], writes: 4 };
    ArrayEntry {
        array,
        name: "u".into(),
        kind: ArrayKind::Global,
        element: ElementType { name: "Particle".into(), bytes: 16, numbers },
        shape: vec![5, 12],
        ghosts: [vec![1, 0], vec![1, 2]],
        periodic: vec![true, false],
        chunk_count: 2,
        grid: Some(vec![1, 2]),
        chunks: vec![chunk(0, 0, 6), chunk(1, 6, 12)],
        bytes: 1 << 34,
        writes: 4,
        last_write: Some(LastWrite { operation: "kernel step".into(), file: "a.rs".into(), line: 70, step: 9 }),
    }
}

fn point() -> Point {
    let (name, file) = ("after collide".into(), "src/main.rs".into());
    Point { step: 12, name, file, line: 300, paused: true, reason: "nan(f) > 0".into(), micros: 1 << 35 }
}

fn component() -> Component {
    let range = ((-1.5).into(), ScalarValue::Integer(u64::MAX.into()));
    let (extremes, bins) = (Some(range), vec![1, 2, 3, 30]);
    let percentiles = vec![(-1.0).into(), 2.25.into()];
    Component { count: 100, nans: 1, infinities: 0, extremes, range, bins, outside: (0, 1), percentiles }
}

fn moves(array: ArrayRef) -> Moves {
    let end = (Some(array), 3, 1, vec![0, 4]);
    let moved = MoveEntry { from: end.clone(), to: end, extents: vec![9, 1], bytes: 36 };
    Moves { operation: "ghosts(u)".into(), moves: vec![moved; 2], count: 2, bytes_local: 36, bytes_network: 36 }
}

fn span() -> Span {
    Span { kind: SpanKind::Wait, what: "ghosts(u)".into(), start: 1 << 30, length: 700, peer: Some(1) }
}
