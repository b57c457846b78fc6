//! Reads a recording or the answers of a program in the array viewer.

use std::path::Path;
use std::time::Duration;

use zippy_debugger::client::Client;
use zippy_debugger::info::info;
use zippy_debugger::script::shot::Shot;
use zippy_debugger::session::{Replay, Session, State, Waker};
use zippy_protocol::{Answer, ArrayRef, Control, Message, Point, Program, Request, Rule, View, When, frame};

use crate::messages;
use crate::tour::{answer, look_at};

/// All sessions here answer at once.
const TIMEOUT: Duration = Duration::from_secs(60);

const MAX_ARRAYS: usize = 4;

const MAX_STEPS: usize = 4;

pub(crate) fn read_recording(path: &Path) -> Result<(), String> {
    let mut replay = Replay::open(path).map_err(|error| error.to_string())?;
    info(path)?;
    let steps: Vec<u64> = replay.steps().iter().copied().take(MAX_STEPS).collect();
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
    let mut client = Client::new(Box::new(Replay::open(path).map_err(|error| error.to_string())?), TIMEOUT)?;
    save_slices(&mut client, path);
    Ok(())
}

pub(crate) fn read_answers(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let answers: Vec<Answer> = frame::decode(bytes.get(4..).unwrap_or_default())?;
    let mut session = FixedAnswers::new(answers);
    tour(&mut session);
    let mut client = Client::new(Box::new(session), TIMEOUT)?;
    save_slices(&mut client, path);
    Ok(())
}

fn tour(session: &mut dyn Session) {
    let Some(Answer::Arrays(arrays)) = answer(session, Request::Arrays) else { return };
    for entry in arrays.iter().take(MAX_ARRAYS) {
        look_at(session, entry);
        answer(session, Request::Ghosts(entry.array));
        answer(session, Request::Compare(entry.array, ArrayRef { rank: None, number: 300 }));
    }
    answer(session, Request::Moves);
    answer(session, Request::Timeline(0));
}

fn save_slices(client: &mut Client, path: &Path) {
    let names: Vec<String> = client.arrays().into_iter().flatten().map(|entry| entry.name).take(MAX_ARRAYS).collect();
    for (array, ending) in names.into_iter().zip(["npy", "png", "csv", "npy"]) {
        let output = path.with_file_name(format!("shot.{ending}"));
        let shot = Shot { array, output: output.clone(), ..Shot::default() };
        if shot.take(client).is_ok() {
            assert!(std::fs::metadata(&output).is_ok_and(|found| found.len() > 0), "an empty file was written");
        }
    }
}

/// Program with a fixed answer for each kind of request. The session refuses invalid answers, as a
/// connection does.
struct FixedAnswers {
    answers: Vec<Answer>,
    program: Program,
    pending: Vec<Message>,
    requests: u32,
}

impl FixedAnswers {
    fn new(answers: Vec<Answer>) -> Self {
        let (name, file) = ("a".into(), "a.rs".into());
        let point = Point { step: 9, name, file, line: 1, paused: true, reason: String::new(), micros: 0 };
        Self { answers, program: messages::program(), pending: vec![Message::Point(point)], requests: 0 }
    }

    fn answer(&self, request: &Request) -> Result<Answer, String> {
        let index = match request {
            Request::Arrays => 0,
            Request::View(_) => 1,
            Request::Summary(_) => 2,
            Request::Ghosts(_) => 3,
            Request::Compare(..) => 4,
            Request::Moves => 5,
            Request::Timeline(_) => 6,
            Request::Control(_) | Request::Rules(_) | Request::Alive => 7,
        };
        let mut answer = self.answers.get(index).or(self.answers.last()).cloned().ok_or("there is no answer")?;
        // Most answers repeat the request, so that the check accepts them.
        if let (Answer::View(View { of, cells, .. }), Request::View(requested)) = (&mut answer, request)
            && !self.requests.is_multiple_of(4)
        {
            let bytes = requested.bytes([16, 12, 4, 1, 3][self.requests as usize % 5]);
            cells.resize(bytes.filter(|&bytes| bytes < 1 << 20).unwrap_or(cells.len()), 7);
            *of = requested.clone();
        }
        if let (Answer::Summary(summary), Request::Summary(requested)) = (&mut answer, request) {
            (summary.array, summary.numbers, summary.length) = (requested.array, requested.numbers, requested.length);
        }
        answer.check(request).map(|()| answer)
    }
}

impl Session for FixedAnswers {
    fn state(&self) -> State {
        State::Open
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.requests += 1;
        let answer = self.answer(&request);
        self.pending.push(Message::Answer(self.requests, answer));
        self.requests
    }

    fn poll(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.pending)
    }

    fn set_waker(&mut self, _: Waker) {}

    fn wait(&mut self, _: Duration) {}

    fn steps(&self) -> &[u64] {
        &[]
    }

    fn go_to(&mut self, _: u64) {}
}
