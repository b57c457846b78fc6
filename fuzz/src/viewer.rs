//! The array viewer: what it makes of a recording, and of a program that answers what it likes.

use std::path::Path;
use std::time::Duration;

use zippy::debug::protocol::{Answer, ArrayRef, Control, Message, Point, Program, Request, Rule, View, When, frame};
use zippy_debugger::client::Client;
use zippy_debugger::info::info;
use zippy_debugger::session::{Replay, Session, State, Waker};
use zippy_debugger::shot::Shot;

use crate::messages;
use crate::tour::{answer, look_at};

/// No session here makes anybody wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// Arrays that are looked at.
const MOST_ARRAYS: usize = 4;

/// Debug points that are looked at.
const MOST_STEPS: usize = 4;

/// Looks at everything in a recording.
///
/// # Errors
/// It is none.
pub fn read_recording(path: &Path) -> Result<(), String> {
    let mut replay = Replay::open(path).map_err(|error| error.to_string())?;
    info(path)?;
    let steps: Vec<u64> = replay.steps().iter().copied().take(MOST_STEPS).collect();
    if steps.is_empty() {
        return Err(replay.notice().unwrap_or_default());
    }
    let condition = When::Condition("nan(u) > 9 or max(u.place.x) > 1e9 or sum(u.id) < 0".into());
    answer(&mut replay, Request::Rules(vec![Rule { name: None, when: condition }]));
    for &step in &steps {
        replay.go_to(step);
        tour(&mut replay);
    }
    replay.go_to(steps[0]);
    answer(&mut replay, Request::Control(Control::Continue));
    let mut client = Client::new(Box::new(Replay::open(path).map_err(|error| error.to_string())?), PATIENCE)?;
    shots(&mut client, path);
    Ok(())
}

/// Asks a program that answers this, whatever it is asked.
///
/// # Errors
/// The file has no answers.
pub fn read_answers(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let answers: Vec<Answer> = frame::decode(bytes.get(4..).unwrap_or_default())?;
    let mut liar = Liar::new(answers);
    tour(&mut liar);
    let mut client = Client::new(Box::new(liar), PATIENCE)?;
    shots(&mut client, path);
    Ok(())
}

fn tour(session: &mut dyn Session) {
    let Some(Answer::Arrays(arrays)) = answer(session, Request::Arrays) else { return };
    for entry in arrays.iter().take(MOST_ARRAYS) {
        look_at(session, entry);
        answer(session, Request::Ghosts(entry.array));
        answer(session, Request::Compare(entry.array, ArrayRef { rank: None, number: 300 }));
    }
    answer(session, Request::Moves);
    answer(session, Request::Timeline(0));
}

/// Slices of arrays in files, none of which is empty.
fn shots(client: &mut Client, path: &Path) {
    let names: Vec<String> = client.arrays().into_iter().flatten().map(|entry| entry.name).take(MOST_ARRAYS).collect();
    for (array, ending) in names.into_iter().zip(["npy", "png", "csv", "npy"]) {
        let output = path.with_file_name(format!("shot.{ending}"));
        let shot = Shot { array, output: output.clone(), ..Shot::default() };
        if shot.take(client).is_ok() {
            assert!(std::fs::metadata(&output).is_ok_and(|found| found.len() > 0), "an empty file was written");
        }
    }
}

/// A program that answers what it likes; what makes no sense is refused as from a connection.
struct Liar {
    answers: Vec<Answer>,
    program: Program,
    told: Vec<Message>,
    next: u32,
}

impl Liar {
    fn new(answers: Vec<Answer>) -> Self {
        let (name, file) = ("a".into(), "a.rs".into());
        let point = Point { step: 9, name, file, line: 1, paused: true, reason: String::new(), micros: 0 };
        Self { answers, program: messages::program(), told: vec![Message::Point(point)], next: 0 }
    }

    fn answer(&self, request: &Request) -> Result<Answer, String> {
        let place = match request {
            Request::Arrays => 0,
            Request::View(_) => 1,
            Request::Summary(_) => 2,
            Request::Ghosts(_) => 3,
            Request::Compare(..) => 4,
            Request::Moves => 5,
            Request::Timeline(_) => 6,
            Request::Control(_) | Request::Rules(_) | Request::Alive => 7,
        };
        let mut answer = self.answers.get(place).or(self.answers.last()).cloned().ok_or("there is no answer")?;
        // Of what was asked for, so that what is in it is looked at.
        if let (Answer::View(View { of, cells, .. }), Request::View(asked)) = (&mut answer, request)
            && !self.next.is_multiple_of(4)
        {
            let bytes = asked.bytes([16, 12, 4, 1, 3][self.next as usize % 5]).filter(|&bytes| bytes < 1 << 20);
            cells.resize(bytes.unwrap_or(cells.len()), 7);
            *of = asked.clone();
        }
        if let (Answer::Summary(summary), Request::Summary(asked)) = (&mut answer, request) {
            (summary.array, summary.numbers, summary.length) = (asked.array, asked.numbers, asked.length);
        }
        answer.check(request).map(|()| answer)
    }
}

impl Session for Liar {
    fn state(&self) -> State {
        State::Open
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.next += 1;
        let answer = self.answer(&request);
        self.told.push(Message::Answer(self.next, answer));
        self.next
    }

    fn poll(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.told)
    }

    // Answers are there when they are asked for.
    fn set_waker(&mut self, _: Waker) {}

    fn wait(&mut self, _: Duration) {}

    fn steps(&self) -> &[u64] {
        &[]
    }

    fn go_to(&mut self, _: u64) {}
}
