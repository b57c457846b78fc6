//! Viewer client for tests.

use std::io;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use zippy::debug::{Settings, ViewerAccess, attach};
use zippy::{Config, Result, World, run_with};
use zippy_protocol::{Answer, ArrayEntry, Ask, Control, Message, Point, Program, Request, frame, greeting};

use crate::support::launcher;

/// Time limit of a wait; a test that reaches it fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    stream: TcpStream,
    pub program: Program,
    next: u32,
    points: Vec<Point>,
    pub ended: Option<String>,
}

impl Client {
    pub(crate) fn connect(access: &ViewerAccess) -> io::Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", access.port))?;
        stream.set_read_timeout(Some(WAIT_TIMEOUT))?;
        greeting::greet(&mut stream, &access.token)?;
        let program = frame::read(&mut stream, frame::MOST_TOLD)?.expect("a program says what it is");
        Ok(Self { stream, program, next: 0, points: Vec::new(), ended: None })
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Receives the next message; `None` at the end of the connection.
    pub(crate) fn receive(&mut self) -> Option<Message> {
        let message: Option<Message> = frame::read(&mut self.stream, frame::MOST_TOLD).expect("a message");
        match &message {
            Some(Message::Point(point)) => self.points.push(point.clone()),
            Some(Message::End(how)) => self.ended = Some(how.clone()),
            Some(Message::Alive) => self.say(0, Request::Alive),
            _ => {}
        }
        message
    }

    pub(crate) fn ask(&mut self, request: Request) -> std::result::Result<Answer, String> {
        self.next += 1;
        let id = self.next;
        self.say(id, request);
        loop {
            match self.receive().expect("an answer") {
                Message::Answer(0, _) | Message::Point(_) | Message::Alive => {}
                Message::Answer(answered, answer) => {
                    assert_eq!(answered, id);
                    return answer;
                }
                Message::End(how) => panic!("the program ended without an answer: {how}"),
            }
        }
    }

    fn say(&mut self, id: u32, request: Request) {
        frame::write(&mut self.stream, &Ask { id, request }, frame::MOST_ASKED).expect("it is sent");
    }

    pub(crate) fn control(&mut self, control: Control) {
        assert_eq!(self.ask(Request::Control(control)), Ok(Answer::Done));
    }

    /// Waits until the program is paused, and returns the debug point.
    pub(crate) fn paused(&mut self) -> Point {
        loop {
            if let Some(point) = self.points.last().filter(|point| point.paused) {
                return point.clone();
            }
            assert!(self.receive().is_some(), "it ended");
        }
    }

    /// Resumes the program and waits for the next pause.
    pub(crate) fn go(&mut self, control: Control) -> Point {
        self.points.clear();
        self.control(control);
        // A pause received before the answer may be the previous one.
        self.points.retain(|point| !point.paused);
        self.paused()
    }

    pub(crate) fn arrays(&mut self) -> Vec<ArrayEntry> {
        match self.ask(Request::Arrays) {
            Ok(Answer::Arrays(arrays)) => arrays,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn array(&mut self, name: &str) -> ArrayEntry {
        self.arrays().into_iter().find(|array| array.name == name).expect("it is listed")
    }

    /// Resumes the program and receives messages until the end.
    pub(crate) fn run_out(&mut self) -> String {
        self.control(Control::Continue);
        while self.receive().is_some() {}
        self.ended.clone().expect("a program says that it ends")
    }
}

/// Runs a program with a viewer, once for each number of ranks.
pub(crate) fn watched(
    counts: &[usize],
    settings: &Settings,
    program: impl Fn(&World) -> Result<()> + Send + Sync,
    viewer: impl Fn(&ViewerAccess) + Send + Sync,
) {
    for count in launcher::counts(counts) {
        let results = watched_once(Config::threads(count), settings, &program, &viewer);
        results.unwrap_or_else(|error| panic!("on {count} ranks: {error}"));
    }
}

/// Runs a program with a viewer once, and returns its result.
pub(crate) fn watched_once(
    config: Config,
    settings: &Settings,
    program: impl Fn(&World) -> Result<()> + Send + Sync,
    viewer: impl Fn(&ViewerAccess) + Send + Sync,
) -> Result<()> {
    let (sender, receiver) = channel::<ViewerAccess>();
    let sender: Mutex<Option<Sender<ViewerAccess>>> = Mutex::new(Some(sender));
    std::thread::scope(|scope| {
        let viewer = &viewer;
        let watching = scope.spawn(move || {
            if let Ok(access) = receiver.recv() {
                viewer(&access);
            }
        });
        let run = run_with(config, |world| {
            let access = attach(world, settings)?;
            assert_eq!(access.is_some(), world.rank() == 0);
            let sender = access.and_then(|access| Some((sender.lock().unwrap().take()?, access)));
            if let Some((sender, access)) = sender {
                sender.send(access).expect("the viewer waits for it");
            }
            program(world)
        });
        // A process without rank 0 has no viewer.
        sender.lock().unwrap().take();
        watching.join().expect("what the viewer saw is right");
        run.map(drop)
    })
}
