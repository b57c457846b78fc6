//! The connection: a thread that looks for the program and hears it, and one that tells it what is asked.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use zippy::debug::protocol::{Ask, Message, Program, Request, frame, greeting};

use super::MOST_UNANSWERED;
use crate::session::{State, Waker};

/// Between two attempts: the first pause, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];
/// As long may a connection take to come about, and each answer of the greeting.
const PATIENCE: Duration = Duration::from_secs(5);
/// A program that says nothing for this time is lost: it would have asked whether the viewer is there.
const SILENT: Duration = Duration::from_secs(60);

/// What the threads and the session share.
pub struct Shared {
    address: String,
    token: String,
    inner: Mutex<Inner>,
    changed: Condvar,
    waker: Mutex<Option<Waker>>,
}

/// How things stand.
pub struct Inner {
    pub state: State,
    pub program: Option<Program>,
    /// Counts what a session may want to know of.
    pub changes: u64,
    told: VecDeque<Message>,
    /// Frames that are to be sent.
    asks: VecDeque<Vec<u8>>,
    /// The program wants to hear that the viewer is there, however often it has asked.
    asked_alive: bool,
    unanswered: BTreeMap<u32, Request>,
    /// Answers among what was told.
    answers: usize,
    stream: Option<TcpStream>,
    left: bool,
}

impl Inner {
    /// What was told and not fetched.
    pub fn fetch(&mut self) -> Vec<Message> {
        self.answers = 0;
        self.told.drain(..).collect()
    }

    fn answer(&mut self, id: u32, text: String) {
        self.unanswered.remove(&id);
        self.answers += 1;
        self.told.push_back(Message::Answer(id, Err(text)));
    }

    /// Keeps a received message, if it is wanted. Returns whether a session can fetch it.
    fn hear(&mut self, mut message: Message) -> bool {
        match &message {
            Message::Point(_) => self.told.retain(|told| !matches!(told, Message::Point(_))),
            Message::Answer(id, answer) => {
                let Some(request) = self.unanswered.remove(id) else { return false };
                self.answers += 1;
                if let Ok(Err(text)) = answer.as_ref().map(|answer| answer.check(&request)) {
                    message = Message::Answer(*id, Err(format!("the program's answer makes no sense: {text}")));
                }
            }
            Message::End(_) => {}
            Message::Alive => {
                self.asked_alive = true;
                return false;
            }
        }
        self.told.push_back(message);
        true
    }

    /// The next frame that is to be sent.
    fn next(&mut self) -> Option<Vec<u8>> {
        if std::mem::take(&mut self.asked_alive) {
            // No session counts from 0, so that nobody hears the answer.
            return frame::encode(&Ask { id: 0, request: Request::Alive }, frame::MOST_ASKED).ok();
        }
        self.asks.pop_front()
    }

    fn has_next(&self) -> bool {
        self.asked_alive || !self.asks.is_empty()
    }

    fn is_open(&self) -> bool {
        self.state == State::Open && !self.left
    }
}

impl Shared {
    pub fn new(address: &str, token: &str) -> Self {
        let inner = Inner {
            state: State::Connecting(String::new()),
            program: None,
            changes: 0,
            told: VecDeque::new(),
            asks: VecDeque::new(),
            asked_alive: false,
            unanswered: BTreeMap::new(),
            answers: 0,
            stream: None,
            left: false,
        };
        let (inner, changed, waker) = (Mutex::new(inner), Condvar::new(), Mutex::default());
        Self { address: address.into(), token: token.into(), inner, changed, waker }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while this is so, but no longer than that.
    pub fn wait(&self, most: Duration, so: impl Fn(&Inner) -> bool) -> MutexGuard<'_, Inner> {
        let waited = self.changed.wait_timeout_while(self.lock(), most, |inner| so(inner));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn change<R>(&self, change: impl FnOnce(&mut Inner) -> R) -> R {
        let mut inner = self.lock();
        let result = change(&mut inner);
        inner.changes += 1;
        self.changed.notify_all();
        result
    }

    /// The session is woken by this from now on, and once now: something may have come already.
    pub fn set_waker(&self, waker: Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker();
        }
    }

    /// [`change`](Self::change) by something that a session wants to hear of.
    fn tell<R>(&self, change: impl FnOnce(&mut Inner) -> R) -> R {
        let result = self.change(change);
        self.wake();
        result
    }

    /// Sends a request when that is possible.
    pub fn ask(&self, ask: Ask) {
        let encoded = frame::encode(&ask, frame::MOST_ASKED).map_err(|text| format!("this cannot be asked: {text}"));
        let Ask { id, request } = ask;
        let refused = self.change(|inner| {
            let refusal = match encoded {
                Err(text) => text,
                Ok(_) if inner.state != State::Open => "no program is there to ask".into(),
                Ok(_) if inner.unanswered.len() + inner.answers >= MOST_UNANSWERED => {
                    format!("{MOST_UNANSWERED} requests are unanswered already: ask again when some are")
                }
                Ok(frame) => {
                    inner.unanswered.insert(id, request);
                    inner.asks.push_back(frame);
                    return false;
                }
            };
            inner.answer(id, refusal);
            true
        });
        if refused {
            self.wake();
        }
    }

    /// Ends everything.
    pub fn leave(&self) {
        self.change(|inner| {
            inner.left = true;
            if let Some(stream) = inner.stream.take() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
    }
}

/// Why a connection did not come about.
enum Failed {
    /// It may later.
    Yet(String),
    /// It never will.
    Forever(String),
}

/// Starts to look for the program.
pub fn start(shared: &Arc<Shared>) {
    let of_thread = Arc::clone(shared);
    let started = thread::Builder::new().name("viewer-link".into()).spawn(move || look(&of_thread));
    if let Err(error) = started {
        shared.tell(|inner| inner.state = State::Closed(format!("no thread could be started: {error}")));
    }
}

fn look(shared: &Arc<Shared>) {
    let mut pause = PAUSES[0];
    while !shared.lock().left {
        match connect(shared) {
            Ok((stream, program)) => {
                pause = PAUSES[0];
                let how = converse(shared, stream, program);
                let text = format!("{how}; the next run at {} is looked for", shared.address);
                close(shared, text);
            }
            Err(Failed::Forever(text)) => return close(shared, text),
            Err(Failed::Yet(text)) => {
                let is_news = shared.change(|inner| {
                    inner.stream = None;
                    let state = State::Connecting(text);
                    // That a program is over stays to be read until there is another one.
                    let is_news = !matches!(inner.state, State::Closed(_)) && inner.state != state;
                    if is_news {
                        inner.state = state;
                    }
                    is_news
                });
                if is_news {
                    shared.wake();
                }
            }
        }
        drop(shared.wait(pause, |inner| !inner.left));
        pause = (pause * 2).min(PAUSES[1]);
    }
}

fn close(shared: &Shared, how: String) {
    shared.tell(|inner| {
        inner.stream = None;
        inner.asks.clear();
        inner.asked_alive = false;
        for id in std::mem::take(&mut inner.unanswered).into_keys() {
            inner.answer(id, format!("it was not answered: {how}"));
        }
        inner.state = State::Closed(how);
    });
}

fn connect(shared: &Shared) -> Result<(TcpStream, Program), Failed> {
    let address = &shared.address;
    let unreachable = |error: io::Error| Failed::Yet(format!("nothing answers at {address}: {error}"));
    let places = address.to_socket_addrs().map_err(unreachable)?;
    let mut stream = Err(io::Error::new(ErrorKind::NotFound, "it has no address"));
    for place in places {
        stream = TcpStream::connect_timeout(&place, PATIENCE);
        if stream.is_ok() {
            break;
        }
    }
    let mut stream = stream.map_err(unreachable)?;
    let broken = |error: io::Error| {
        let text = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("what is at {address} says nothing"),
            _ => format!("what is at {address} does not go on: {error}"),
        };
        Failed::Yet(text)
    };
    stream.set_nodelay(true).map_err(broken)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(broken)?;
    // So that who leaves need not wait for it.
    let copy = stream.try_clone().map_err(broken)?;
    shared.change(|inner| inner.stream = Some(copy));
    if shared.lock().left {
        return Err(Failed::Yet(String::new()));
    }
    greeting::greet(&mut stream, &shared.token).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => Failed::Forever(format!("{address}: {error}")),
        ErrorKind::ResourceBusy => Failed::Yet(format!("{address}: {error}")),
        _ => broken(error),
    })?;
    let program = frame::read::<Program>(&mut stream, frame::MOST_TOLD).map_err(broken)?;
    let program = program.ok_or_else(|| Failed::Yet(format!("what is at {address} has hung up")))?;
    program.check().map_err(|text| Failed::Yet(format!("what is at {address} makes no sense: {text}")))?;
    stream.set_read_timeout(Some(SILENT)).map_err(broken)?;
    Ok((stream, program))
}

/// Hears a program until it is over; how that came.
fn converse(shared: &Arc<Shared>, stream: TcpStream, program: Program) -> String {
    let writer = match stream.try_clone() {
        Ok(copy) => copy,
        Err(error) => return format!("the connection was lost: {error}"),
    };
    shared.tell(|inner| {
        inner.program = Some(program);
        inner.state = State::Open;
    });
    let of_thread = Arc::clone(shared);
    let writing = thread::Builder::new().name("viewer-asks".into()).spawn(move || tell(&of_thread, writer));
    let writing = match writing {
        Ok(thread) => thread,
        Err(error) => return format!("no thread could be started: {error}"),
    };
    let mut reader = BufReader::new(&stream);
    let how = loop {
        match frame::read::<Message>(&mut reader, frame::MOST_TOLD) {
            Ok(Some(message)) => {
                let end = match &message {
                    Message::End(text) if text.is_empty() => Some("the program has ended".into()),
                    Message::End(text) => Some(text.clone()),
                    _ => None,
                };
                if shared.change(|inner| inner.hear(message)) {
                    shared.wake();
                }
                if let Some(end) = end {
                    break end;
                }
            }
            Ok(None) => break "the program has hung up".into(),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                break format!("the program cannot be understood: {error}");
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break format!("nothing was heard for {} s", SILENT.as_secs());
            }
            Err(error) => break format!("the connection was lost: {error}"),
        }
    };
    let _ = stream.shutdown(Shutdown::Both);
    // Asks that come now are answered; the writer sees that it is over.
    shared.tell(|inner| inner.state = State::Closed(how.clone()));
    let _ = writing.join();
    how
}

/// Tells a program what is asked, while the connection stands.
fn tell(shared: &Shared, mut stream: TcpStream) {
    loop {
        let frame = {
            let mut inner = shared.wait(Duration::MAX, |inner| inner.is_open() && !inner.has_next());
            match inner.next().filter(|_| inner.is_open()) {
                Some(frame) => frame,
                None => return,
            }
        };
        if stream.write_all(&frame).is_err() {
            // The one who reads says so.
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_asks_often_whether_the_viewer_is_there_hears_it_once() {
        let shared = Shared::new("nowhere", "");
        let mut inner = shared.lock();
        for _ in 0..1000 {
            inner.hear(Message::Alive);
        }
        let said = frame::read::<Ask>(&mut &inner.next().unwrap()[..], frame::MOST_ASKED).unwrap();
        assert_eq!(said, Some(Ask { id: 0, request: Request::Alive }));
        assert_eq!((inner.next(), inner.has_next()), (None, false));
    }
}
