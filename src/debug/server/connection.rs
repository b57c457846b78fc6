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
        let viewer = greeted(&stream, &of_thread);
        of_thread.strangers.remove(stranger);
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

/// The number of a viewer that has proved that it knows the token.
fn greeted(mut stream: &TcpStream, shared: &Shared) -> Option<u64> {
    stream.set_write_timeout(Some(TO_TAKE)).ok()?;
    stream.set_nodelay(true).ok()?;
    let reception = greeting::receive(&mut Until(stream, Instant::now() + TO_GREET), &shared.token);
    reception.ok().filter(|&reception| reception == Reception::Welcome)?;
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
