//! Damaged messages between programs and viewers, greetings and recordings: each is refused or makes sense, and takes no
//! memory that it does not account for.

use std::io::Cursor;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zippy::debug::protocol::{
    Answer, ArrayEntry, ArrayKind, ArrayRef, Ask, ChunkEntry, Component, Control, Difference, ElementType, GhostEntry,
    GhostState, LastWrite, Message, MoveEntry, Moves, Numbers, Point, Program, Recorded, Request, Rule, ScalarType,
    Span, SpanKind, Summary, SummaryRequest, Timeline, View, ViewRequest, When, frame, greeting,
};
use zippy::debug::recording::{Reader, Writer};

use crate::common::counting::most;
use crate::damage::Random;

/// What a message of so many bytes may take: room for what a list says that it has is made a mebibyte at a time.
fn memory(length: usize) -> isize {
    (4 << 20) + 64 * length as isize
}

/// What is said in one way.
#[derive(Clone, Copy)]
enum Way {
    Ask,
    Message,
    Recording,
    Greeting,
}

/// The result of a run.
pub struct Tally {
    pub inputs: u64,
    /// Those that were no more than strange.
    pub understood: u64,
    /// The most memory that one held.
    pub bytes: isize,
    pub secs: f64,
}

impl Tally {
    /// As a line.
    pub fn said(&self, seed: u64, json: bool) -> String {
        let Self { inputs, understood, bytes, secs } = self;
        if json {
            let all = serde_json::json!({
                "seed": seed, "messages": inputs, "understood": understood, "most_bytes": bytes, "secs": secs, "findings": 0,
            });
            return all.to_string();
        }
        format!(
            "{inputs} damaged messages of seed {seed} in {secs:.0} s: {understood} were understood, the others refused; at most \
             {bytes} bytes were held at a time"
        )
    }
}

/// Reads so many inputs of a seed.
///
/// # Errors
/// The number of the first that was not read as it should be, and what happened.
pub fn run(seed: u64, inputs: u64) -> Result<Tally, String> {
    let samples = samples();
    let begun = Instant::now();
    let mut tally = Tally { inputs, understood: 0, bytes: 0, secs: 0.0 };
    for number in 0..inputs {
        let mut random = Random::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let (way, mut bytes) = samples[random.below(samples.len())].clone();
        for _ in 0..1 + random.below(4) {
            let donor = &samples[random.below(samples.len())].1;
            strike(&mut bytes, donor, &mut random);
        }
        let mut understood = Ok(false);
        let held = most(|| understood = read(way, &bytes));
        let understood = understood.map_err(|what| format!("input {number} of seed {seed}: {what}"))?;
        if held > memory(bytes.len()) {
            return Err(format!("input {number} of seed {seed}: {held} bytes held for {}", bytes.len()));
        }
        tally.understood += u64::from(understood);
        tally.bytes = tally.bytes.max(held);
    }
    tally.secs = begun.elapsed().as_secs_f64();
    Ok(tally)
}

/// Whether it makes sense.
///
/// # Errors
/// It does, and is then something else.
fn read(way: Way, bytes: &[u8]) -> Result<bool, String> {
    match way {
        Way::Ask => framed::<Ask>(bytes, frame::MOST_ASKED, |ask| {
            if let Request::View(view) = &ask.request {
                let fitting = view.clone().fitting(4, 4096);
                assert!(fitting.extents().is_none() == view.extents().is_none());
            }
        }),
        Way::Message => framed::<Message>(bytes, frame::MOST_TOLD, |_| {}),
        Way::Recording => {
            let Ok(mut reader) = Reader::new(Cursor::new(bytes)) else { return Ok(false) };
            let mut entries = 0;
            while let Ok(Some(_)) = reader.next_entry() {
                entries += 1;
            }
            Ok(entries > 0)
        }
        Way::Greeting => {
            let mut all = [0; greeting::GREETING_BYTES];
            let length = bytes.len().min(all.len());
            all[..length].copy_from_slice(&bytes[..length]);
            Ok(greeting::received(&all, TOKEN).is_some())
        }
    }
}

fn framed<T: Serialize + DeserializeOwned>(mut bytes: &[u8], most: usize, look: fn(&T)) -> Result<bool, String> {
    let Ok(Some(value)) = frame::read::<T>(&mut bytes, most) else { return Ok(false) };
    look(&value);
    // What was understood is said in the same way again. Numbers may have been written longer than they need be.
    let again = frame::encode(&value, most)?;
    let value: T = frame::decode(&again[4..])?;
    if frame::encode(&value, most)? == again { Ok(true) } else { Err("it is another thing when read again".into()) }
}

fn strike(content: &mut Vec<u8>, donor: &[u8], random: &mut Random) {
    let length = content.len();
    let at = random.below(length + 1);
    let to = (at + 1 + random.below(12)).min(length);
    match random.below(10) {
        0 | 1 if at < length => content[at] = random.number() as u8,
        2 | 3 if at < length => content[at] ^= 1 << random.below(8),
        4 => content.insert(at, random.number() as u8),
        5 => drop(content.drain(at..to.max(at))),
        6 => content.truncate(at),
        // The largest number there is, as many bytes as it takes.
        7 => drop(content.splice(at..to.max(at), [0xff; 9].into_iter().chain([1]))),
        8 => {
            let from = random.below(donor.len());
            let piece = donor[from..(from + 1 + random.below(200)).min(donor.len())].to_vec();
            content.splice(at..to.max(at), piece);
        }
        _ => {}
    }
    // A length that is right as often as not, or nothing behind it would ever be read.
    if content.len() >= 4 && random.below(2) == 0 {
        let length = (content.len() - 4) as u32;
        content[..4].copy_from_slice(&length.to_le_bytes());
    }
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// One of each thing that can be said.
fn samples() -> Vec<(Way, Vec<u8>)> {
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
    let summary = SummaryRequest { array, numbers: 0, length: true, bins: 16, range, percentiles: vec![1.0, 99.5] };
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
    let asks = asks.map(|ask| (Way::Ask, frame::encode(&ask, frame::MOST_ASKED)));
    let (entry, point) = (entry(array), point());
    let view = View { of: view, step: 9, cells: (0..84).collect() };
    let ghosts = vec![GhostEntry { chunk: 5, side: vec![-1, 0, 1], state: GhostState::Stale }; 3];
    let timeline = Timeline { until: 1 << 33, ranks: vec![vec![span(), span()], vec![]] };
    let answers = [
        Answer::Arrays(vec![entry.clone(), entry.clone()]),
        Answer::View(view.clone()),
        Answer::Summary(Summary { array, numbers: 1, length: false, step: 4, components: vec![component(); 3] }),
        Answer::Ghosts(ghosts.clone()),
        Answer::Difference(Difference { cells: 3, first: Some(vec![1, 2, 3]) }),
        Answer::Moves(moves(array)),
        Answer::Timeline(timeline.clone()),
        Answer::Done,
    ];
    let answers = answers.into_iter().map(|answer| Message::Answer(77, Ok(answer)));
    let others = [
        Message::Point(point.clone()),
        Message::Answer(1, Err("array \"u\" has 3 axes".into())),
        Message::End("the program has come to its end".into()),
        Message::Alive,
    ];
    let messages = answers.chain(others).map(|message| (Way::Message, frame::encode(&message, frame::MOST_TOLD)));
    let program = Program { name: "lbm".into(), ranks: 4, checked: true, adapters: vec!["llvmpipe".into()] };
    let mut recording = Vec::new();
    let written = Writer::new(&mut recording).and_then(|mut writer| {
        let entries = [
            Recorded::Program(program),
            Recorded::Point(point),
            Recorded::Arrays(vec![entry]),
            Recorded::View(view),
            Recorded::Ghosts(array, ghosts),
            Recorded::Moves(moves(array)),
            Recorded::Timeline(timeline),
            Recorded::End("done".into()),
        ];
        entries.iter().try_for_each(|entry| writer.add(entry))
    });
    let recording = written.map(|()| recording).map_err(|error| error.to_string());
    let all = asks
        .chain(messages)
        .chain([(Way::Recording, recording), (Way::Greeting, Ok(greeting::greeting(TOKEN).into()))]);
    all.map(|(way, bytes)| (way, bytes.expect("samples can be written"))).collect()
}

fn entry(array: ArrayRef) -> ArrayEntry {
    let numbers = vec![
        Numbers { name: "place".into(), offset: 0, scalar: ScalarType::F32, components: 3 },
        Numbers { name: "id".into(), offset: 12, scalar: ScalarType::U32, components: 1 },
    ];
    let chunk = |rank: u32| ChunkEntry { rank, start: vec![0, 9], end: vec![9, 30], writes: 4 };
    ArrayEntry {
        array,
        name: "u".into(),
        kind: ArrayKind::Global,
        element: ElementType { name: "Particle".into(), bytes: 16, numbers },
        shape: vec![9, 60],
        ghosts: [vec![1, 0], vec![1, 2]],
        periodic: vec![true, false],
        chunk_count: 2,
        grid: Some(vec![1, 2]),
        chunks: vec![chunk(0), chunk(1)],
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
    let (extremes, range) = (Some((-1.5, 2.5)), (-1.5, 2.5));
    let (bins, percentiles) = (vec![1, 2, 3, 300], vec![-1.0, 2.25]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_said_is_understood() {
        for (number, (way, bytes)) in samples().into_iter().enumerate() {
            assert_eq!(read(way, &bytes), Ok(true), "sample {number}");
        }
    }

    #[test]
    fn damaged_messages_are_refused_or_make_sense() {
        let tally = run(1, 20_000).unwrap();
        // Both happen, or nothing was tried.
        assert!((1000..19_000).contains(&tally.understood), "{} of 20000 were understood", tally.understood);
    }
}
