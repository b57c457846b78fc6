//! A connection: its greeting, then a thread that reads and one that writes.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::queue::Queue;
use crate::debug::protocol::greeting::{self, Reception};
use crate::debug::protocol::{Answer, Ask, Message, Program, Request, frame};

/// So many viewers at most.
const MOST_VIEWERS: usize = 8;
/// So many connections that have not proved themselves yet.
const MOST_STRANGERS: usize = 16;
/// Who has not proved itself after this time is let go.
const TO_GREET: Duration = Duration::from_secs(5);
/// Who takes nothing for this time is let go.
const TO_TAKE: Duration = Duration::from_secs(20);
/// Who says nothing for this time is asked whether it is there: viewers take a program for lost that says nothing for much
/// longer.
const TO_SAY: Duration = Duration::from_secs(15);

/// What all connections share.
pub struct Shared {
    pub queue: Arc<Queue>,
    /// What a viewer has to know.
    pub token: String,
    pub program: Program,
    pub strangers: Strangers,
    /// Who does not answer for this time whether it is there is let go.
    pub silent: Duration,
}

/// Connections that have not proved themselves yet, the oldest first.
#[derive(Default)]
pub struct Strangers(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    next: u64,
    streams: VecDeque<(u64, TcpStream)>,
}

impl Strangers {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one in; the oldest goes where there are too many. None where the system has no room.
    fn add(&self, stream: &TcpStream) -> Option<u64> {
        let copy = stream.try_clone().ok()?;
        let mut waiting = self.waiting();
        if waiting.streams.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = waiting.streams.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        waiting.next += 1;
        let number = waiting.next;
        waiting.streams.push_back((number, copy));
        Some(number)
    }

    /// One is no stranger any more.
    fn remove(&self, number: u64) {
        self.waiting().streams.retain(|(stranger, _)| *stranger != number);
    }
}

/// Goes on with a connection on threads of its own. Whatever goes wrong ends it, and nothing else.
pub fn begin(stream: TcpStream, shared: &Arc<Shared>) {
    let Some(stranger) = shared.strangers.add(&stream) else { return };
    let of_thread = shared.clone();
    let run = move || {
        let proved = greeted(&stream, &of_thread.token);
        of_thread.strangers.remove(stranger);
        let viewer = proved.and_then(|()| welcomed(&stream, &of_thread));
        if let Some(viewer) = viewer {
            talk(&stream, &of_thread, viewer);
            of_thread.queue.remove(viewer);
        }
        let _ = stream.shutdown(Shutdown::Both);
    };
    if thread::Builder::new().name("zippy viewer".into()).spawn(run).is_err() {
        shared.strangers.remove(stranger);
    }
}

/// A stream whose reads end at a time.
struct Until<'a>(&'a TcpStream, Instant);

impl Read for Until<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.1.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        self.0.set_read_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        self.0.read(out)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a viewer has proved that it knows the token.
fn greeted(stream: &TcpStream, token: &str) -> Option<()> {
    stream.set_write_timeout(Some(TO_TAKE)).ok()?;
    stream.set_nodelay(true).ok()?;
    let reception = greeting::receive(&mut Until(stream, Instant::now() + TO_GREET), token).ok()?;
    (reception == Reception::Welcome).then_some(())
}

/// The number of a viewer that has proved itself, where there is room for one more.
fn welcomed(mut stream: &TcpStream, shared: &Shared) -> Option<u64> {
    let mut first = Vec::new();
    greeting::answer(&mut first, Reception::Welcome).ok()?;
    first.extend(frame::encode(&shared.program, frame::MOST_TOLD).ok()?);
    stream.set_read_timeout(Some((shared.silent / 4).clamp(Duration::from_millis(1), TO_SAY))).ok()?;
    let viewer = shared.queue.add(MOST_VIEWERS, first);
    if viewer.is_none() {
        greeting::answer(&mut stream, Reception::Full).ok()?;
    }
    viewer
}

/// Reads on this thread and writes on another one, until either ends.
fn talk(stream: &TcpStream, shared: &Shared, viewer: u64) {
    let Ok(sending) = stream.try_clone() else { return };
    let to_send = shared.queue.clone();
    let write = move || {
        while let Some(bytes) = to_send.next_for(viewer) {
            if (&sending).write_all(&bytes).is_err() {
                break;
            }
        }
        // The reader ends with it.
        to_send.remove(viewer);
        let _ = sending.shutdown(Shutdown::Both);
    };
    if thread::Builder::new().name("zippy viewer".into()).spawn(write).is_err() {
        return;
    }
    let mut reading = stream;
    while wait_and_probe(stream, shared, viewer) {
        let Ok(Some(ask)) = frame::read::<Ask>(&mut reading, frame::MOST_ASKED) else { return };
        if ask.request == Request::Alive {
            say(&shared.queue, viewer, &Message::Answer(ask.id, Ok(Answer::Done)));
        } else if !shared.queue.ask(viewer, ask) {
            return;
        }
    }
}

/// Waits until a viewer says something or ends, and asks it again and again whether it is there; `false` when it is silent for
/// too long. The machine takes what is sent through a tunnel, whether somebody is at its other end or not: only what a viewer
/// says shows that it is there.
fn wait_and_probe(stream: &TcpStream, shared: &Shared, viewer: u64) -> bool {
    let mut heard = Instant::now();
    loop {
        match stream.peek(&mut [0]) {
            Ok(_) => return true,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if shared.queue.is_sending_to(viewer) {
                    // It takes what is sent, or the writer ends it.
                    heard = Instant::now();
                } else if heard.elapsed() >= shared.silent {
                    return false;
                } else {
                    say(&shared.queue, viewer, &Message::Alive);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

fn say(queue: &Queue, viewer: u64, message: &Message) {
    if let Ok(bytes) = frame::encode(message, frame::MOST_TOLD) {
        queue.answer(viewer, Arc::new(bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn viewer_that_waits_for_its_welcome_is_no_stranger_that_others_push_out() {
        let program = Program { name: "test".into(), ranks: 1, checked: false, adapters: Vec::new() };
        let shared = Arc::new(Shared {
            queue: Arc::default(),
            token: "0".repeat(greeting::TOKEN_DIGITS),
            program,
            strangers: Strangers::default(),
            silent: Duration::from_secs(60),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || {
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, listener.accept().unwrap().0)
        };
        // Nobody is welcomed meanwhile.
        let held = shared.queue.hold();
        let (mut viewer, server) = connect();
        begin(server, &shared);
        let token = shared.token.clone();
        let greeted = thread::spawn(move || greeting::greet(&mut viewer, &token).map(|()| viewer));
        let deadline = Instant::now() + Duration::from_secs(20);
        while !shared.strangers.waiting().streams.is_empty() {
            assert!(Instant::now() < deadline, "it has proved itself and is a stranger still");
            thread::sleep(Duration::from_millis(1));
        }
        let strangers: Vec<_> = (0..2 * MOST_STRANGERS).map(|_| connect()).collect();
        for (_, server) in &strangers {
            shared.strangers.add(server).unwrap();
        }
        drop(held);
        let mut viewer = greeted.join().unwrap().expect("it is welcomed");
        let program: Program = frame::read(&mut viewer, frame::MOST_TOLD).unwrap().unwrap();
        assert_eq!(program, shared.program);
    }
}
