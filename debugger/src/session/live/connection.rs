//! [`Connection`]: a thread that connects and receives, and a thread that sends requests.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use zippy_protocol::{Ask, Message, Program, Request, frame, greeting};

use super::MOST_UNANSWERED;
use crate::session::{State, Waker};

/// First and longest pause between two attempts to connect.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];
/// Time limit of a connection attempt, and of each read during the greeting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of silence: a live program sends a check more often.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Data that the threads and the session share.
pub(super) struct Connection {
    address: String,
    token: String,
    state: Mutex<ConnectionState>,
    changed: Condvar,
    waker: Mutex<Option<Waker>>,
}

pub(super) struct ConnectionState {
    pub state: State,
    pub program: Option<Program>,
    /// Number of changes of the state and of the received messages so far, for sessions that wait
    /// for a change.
    pub changes: u64,
    received: VecDeque<Message>,
    /// Encoded requests to send.
    outgoing: VecDeque<Vec<u8>>,
    /// True if the program has checked for the viewer since the last reply. One reply answers all
    /// checks.
    is_reply_due: bool,
    unanswered: BTreeMap<u32, Request>,
    /// Number of answers in `received`.
    answers: usize,
    stream: Option<TcpStream>,
    is_stopped: bool,
}

impl ConnectionState {
    pub(super) fn fetch(&mut self) -> Vec<Message> {
        self.answers = 0;
        self.received.drain(..).collect()
    }

    fn answer(&mut self, id: u32, text: String) {
        self.unanswered.remove(&id);
        self.answers += 1;
        self.received.push_back(Message::Answer(id, Err(text)));
    }

    /// Keeps a received message if the session needs it. Returns true if the session has something
    /// to read.
    fn receive(&mut self, mut message: Message) -> bool {
        match &message {
            Message::Point(_) => self.received.retain(|received| !matches!(received, Message::Point(_))),
            Message::Answer(id, answer) => {
                let Some(request) = self.unanswered.remove(id) else { return false };
                self.answers += 1;
                if let Ok(Err(text)) = answer.as_ref().map(|answer| answer.check(&request)) {
                    message = Message::Answer(*id, Err(format!("the program's answer is invalid: {text}")));
                }
            }
            Message::End(_) => {}
            Message::Alive => {
                self.is_reply_due = true;
                return false;
            }
        }
        self.received.push_back(message);
        true
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        if std::mem::take(&mut self.is_reply_due) {
            // Sessions never use id 0, so that the program's answer is dropped.
            return frame::encode(&Ask { id: 0, request: Request::Alive }, frame::MOST_ASKED).ok();
        }
        self.outgoing.pop_front()
    }

    fn has_next(&self) -> bool {
        self.is_reply_due || !self.outgoing.is_empty()
    }

    fn is_open(&self) -> bool {
        self.state == State::Open && !self.is_stopped
    }
}

impl Connection {
    pub(super) fn new(address: &str, token: &str) -> Self {
        let state = ConnectionState {
            state: State::Connecting(String::new()),
            program: None,
            changes: 0,
            received: VecDeque::new(),
            outgoing: VecDeque::new(),
            is_reply_due: false,
            unanswered: BTreeMap::new(),
            answers: 0,
            stream: None,
            is_stopped: false,
        };
        let (state, changed, waker) = (Mutex::new(state), Condvar::new(), Mutex::default());
        Self { address: address.into(), token: token.into(), state, changed, waker }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `condition` holds, at most for `most`.
    pub(super) fn wait(
        &self,
        most: Duration,
        condition: impl Fn(&ConnectionState) -> bool,
    ) -> MutexGuard<'_, ConnectionState> {
        let waited = self.changed.wait_timeout_while(self.lock(), most, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn change<R>(&self, change: impl FnOnce(&mut ConnectionState) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        state.changes += 1;
        self.changed.notify_all();
        result
    }

    /// Sets the waker, and wakes the session once, because messages may have arrived already.
    pub(super) fn set_waker(&self, waker: Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker();
        }
    }

    /// Calls [`change`](Self::change) and wakes the session.
    fn change_and_wake<R>(&self, change: impl FnOnce(&mut ConnectionState) -> R) -> R {
        let result = self.change(change);
        self.wake();
        result
    }

    /// Queues a request, or answers it with an error.
    pub(super) fn ask(&self, ask: Ask) {
        let encoded = frame::encode(&ask, frame::MOST_ASKED).map_err(|text| format!("this cannot be asked: {text}"));
        let Ask { id, request } = ask;
        let refused = self.change(|state| {
            let refusal = match encoded {
                Err(text) => text,
                Ok(_) if state.state != State::Open => "there is no connection to a program".into(),
                Ok(_) if state.unanswered.len() + state.answers >= MOST_UNANSWERED => {
                    format!("{MOST_UNANSWERED} requests are unanswered already: send this one again later")
                }
                Ok(frame) => {
                    state.unanswered.insert(id, request);
                    state.outgoing.push_back(frame);
                    return false;
                }
            };
            state.answer(id, refusal);
            true
        });
        if refused {
            self.wake();
        }
    }

    /// Ends the threads of the connection.
    pub(super) fn stop(&self) {
        self.change(|state| {
            state.is_stopped = true;
            if let Some(stream) = state.stream.take() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
    }
}

/// Failure to connect.
enum ConnectError {
    /// A later attempt may succeed.
    Retry(String),
    /// No later attempt can succeed.
    Fatal(String),
}

/// Starts the search for the program.
pub(super) fn start(shared: &Arc<Connection>) {
    let for_thread = Arc::clone(shared);
    let started = thread::Builder::new().name("viewer-link".into()).spawn(move || search_for_program(&for_thread));
    if let Err(error) = started {
        shared.change_and_wake(|state| state.state = State::Closed(format!("no thread could be started: {error}")));
    }
}

fn search_for_program(shared: &Arc<Connection>) {
    let mut pause = RETRY_PAUSES[0];
    while !shared.lock().is_stopped {
        match connect_to_program(shared) {
            Ok((stream, program)) => {
                pause = RETRY_PAUSES[0];
                let how = receive_until_end(shared, stream, program);
                let text = format!("{how}; the next run at {} is looked for", shared.address);
                close_connection(shared, text);
            }
            Err(ConnectError::Fatal(text)) => return close_connection(shared, text),
            Err(ConnectError::Retry(text)) => {
                let has_changed = shared.change(|state| {
                    state.stream = None;
                    let connecting = State::Connecting(text);
                    // The end of a program stays visible until the next program connects.
                    let has_changed = !matches!(state.state, State::Closed(_)) && state.state != connecting;
                    if has_changed {
                        state.state = connecting;
                    }
                    has_changed
                });
                if has_changed {
                    shared.wake();
                }
            }
        }
        drop(shared.wait(pause, |state| !state.is_stopped));
        pause = (pause * 2).min(RETRY_PAUSES[1]);
    }
}

fn close_connection(shared: &Connection, how: String) {
    shared.change_and_wake(|state| {
        state.stream = None;
        state.outgoing.clear();
        state.is_reply_due = false;
        for id in std::mem::take(&mut state.unanswered).into_keys() {
            state.answer(id, format!("it was not answered: {how}"));
        }
        state.state = State::Closed(how);
    });
}

fn connect_to_program(shared: &Connection) -> Result<(TcpStream, Program), ConnectError> {
    let target = &shared.address;
    let unreachable = |error: io::Error| ConnectError::Retry(format!("nothing answers at {target}: {error}"));
    let addresses = target.to_socket_addrs().map_err(unreachable)?;
    let mut stream = Err(io::Error::new(ErrorKind::NotFound, "it has no address"));
    for address in addresses {
        stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT);
        if stream.is_ok() {
            break;
        }
    }
    let mut stream = stream.map_err(unreachable)?;
    let broken = |error: io::Error| {
        let text = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("the program at {target} does not answer"),
            _ => format!("the connection to {target} failed: {error}"),
        };
        ConnectError::Retry(text)
    };
    stream.set_nodelay(true).map_err(broken)?;
    stream.set_read_timeout(Some(CONNECT_TIMEOUT)).map_err(broken)?;
    // A copy of the stream lets `stop` end a blocked greeting.
    let copy = stream.try_clone().map_err(broken)?;
    shared.change(|state| state.stream = Some(copy));
    if shared.lock().is_stopped {
        return Err(ConnectError::Retry(String::new()));
    }
    greeting::greet(&mut stream, &shared.token).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => ConnectError::Fatal(format!("{target}: {error}")),
        ErrorKind::ResourceBusy => ConnectError::Retry(format!("{target}: {error}")),
        _ => broken(error),
    })?;
    let program = frame::read::<Program>(&mut stream, frame::MOST_TOLD).map_err(broken)?;
    let program =
        program.ok_or_else(|| ConnectError::Retry(format!("the program at {target} closed the connection")))?;
    program
        .check()
        .map_err(|text| ConnectError::Retry(format!("the program at {target} sent an invalid description: {text}")))?;
    stream.set_read_timeout(Some(SILENCE_TIMEOUT)).map_err(broken)?;
    Ok((stream, program))
}

/// Receives messages until the program ends, and returns the reason.
fn receive_until_end(shared: &Arc<Connection>, stream: TcpStream, program: Program) -> String {
    let writer = match stream.try_clone() {
        Ok(copy) => copy,
        Err(error) => return format!("the connection was lost: {error}"),
    };
    shared.change_and_wake(|state| {
        state.program = Some(program);
        state.state = State::Open;
    });
    let for_thread = Arc::clone(shared);
    let writing = thread::Builder::new().name("viewer-send".into()).spawn(move || send_requests(&for_thread, writer));
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
                if shared.change(|state| state.receive(message)) {
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
                break format!("nothing was heard for {} s", SILENCE_TIMEOUT.as_secs());
            }
            Err(error) => break format!("the connection was lost: {error}"),
        }
    };
    let _ = stream.shutdown(Shutdown::Both);
    // Further requests are answered with errors; the sending thread sees the state and ends.
    shared.change_and_wake(|state| state.state = State::Closed(how.clone()));
    let _ = writing.join();
    how
}

/// Sends requests while the connection is open.
fn send_requests(shared: &Connection, mut stream: TcpStream) {
    loop {
        let frame = {
            let mut state = shared.wait(Duration::MAX, |state| state.is_open() && !state.has_next());
            match state.next().filter(|_| state.is_open()) {
                Some(frame) => frame,
                None => return,
            }
        };
        if stream.write_all(&frame).is_err() {
            // The receiving thread reports the error.
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_checks_for_the_viewer_get_one_reply() {
        let shared = Connection::new("nowhere", "");
        let mut state = shared.lock();
        for _ in 0..1000 {
            state.receive(Message::Alive);
        }
        let said = frame::read::<Ask>(&mut &state.next().unwrap()[..], frame::MOST_ASKED).unwrap();
        assert_eq!(said, Some(Ask { id: 0, request: Request::Alive }));
        assert_eq!((state.next(), state.has_next()), (None, false));
    }
}
