//! Connections of viewers: a greeting, then one thread that reads and one that writes.
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zippy_protocol::greeting::{self, Reception};
use zippy_protocol::{Answer, Ask, Message, Program, Request, frame};

use super::queue::Queue;

const MAX_VIEWERS: usize = 8;
/// Maximum number of connections that have not yet proved the token.
const MAX_UNPROVED: usize = 16;
/// Time limit of the greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of a write: a viewer that receives nothing for this time is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum interval between probes of a silent viewer. Viewers in turn disconnect from a program
/// that sends nothing for much longer.
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(15);

pub(super) struct ConnectionContext {
    pub queue: Arc<Queue>,
    pub token: String,
    pub program: Program,
    pub unproved: UnprovedConnections,
    /// Time after which a viewer that does not answer a probe is disconnected.
    pub silent: Duration,
}

/// Connections that have not yet proved the token, oldest first.
#[derive(Default)]
pub(super) struct UnprovedConnections(Mutex<UnprovedQueue>);

#[derive(Default)]
struct UnprovedQueue {
    next: u64,
    streams: VecDeque<(u64, TcpStream)>,
}

impl UnprovedConnections {
    fn lock(&self) -> MutexGuard<'_, UnprovedQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and closes the oldest one if there are too many. `None` if the system
    /// cannot duplicate the stream.
    fn add(&self, stream: &TcpStream) -> Option<u64> {
        let copy = stream.try_clone().ok()?;
        let mut queue = self.lock();
        if queue.streams.len() >= MAX_UNPROVED
            && let Some((_, oldest)) = queue.streams.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        queue.next += 1;
        let number = queue.next;
        queue.streams.push_back((number, copy));
        Some(number)
    }

    fn remove(&self, number: u64) {
        self.lock().streams.retain(|(id, _)| *id != number);
    }
}

/// Serves a connection on its own threads. An error ends only this connection.
pub(super) fn serve_on_threads(stream: TcpStream, shared: &Arc<ConnectionContext>) {
    let Some(id) = shared.unproved.add(&stream) else { return };
    let thread_shared = shared.clone();
    let run = move || {
        let greeted_result = receive_greeting(&stream, &thread_shared.token);
        thread_shared.unproved.remove(id);
        let viewer = greeted_result.and_then(|()| add_viewer(&stream, &thread_shared));
        if let Some(viewer) = viewer {
            serve(&stream, &thread_shared, viewer);
            thread_shared.queue.remove(viewer);
        }
        let _ = stream.shutdown(Shutdown::Both);
    };
    if thread::Builder::new().name("zippy viewer".into()).spawn(run).is_err() {
        shared.unproved.remove(id);
    }
}

/// TCP stream whose reads fail after a deadline.
struct DeadlineStream<'a>(&'a TcpStream, Instant);

impl Read for DeadlineStream<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let remaining = self.1.checked_duration_since(Instant::now()).filter(|remaining| !remaining.is_zero());
        self.0.set_read_timeout(Some(remaining.ok_or(ErrorKind::TimedOut)?))?;
        self.0.read(out)
    }
}

impl Write for DeadlineStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Receives a viewer's greeting; `None` unless the viewer proves that it knows the token.
fn receive_greeting(stream: &TcpStream, token: &str) -> Option<()> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT)).ok()?;
    stream.set_nodelay(true).ok()?;
    let reception = greeting::receive(&mut DeadlineStream(stream, Instant::now() + GREETING_TIMEOUT), token).ok()?;
    (reception == Reception::Welcome).then_some(())
}

/// Adds a viewer to the queue and returns its number; `None` if there are too many viewers.
fn add_viewer(mut stream: &TcpStream, shared: &ConnectionContext) -> Option<u64> {
    let mut first = Vec::new();
    greeting::answer(&mut first, Reception::Welcome).ok()?;
    first.extend(frame::encode(&shared.program, frame::MOST_TOLD).ok()?);
    stream.set_read_timeout(Some((shared.silent / 4).clamp(Duration::from_millis(1), MAX_PROBE_INTERVAL))).ok()?;
    let viewer = shared.queue.add(MAX_VIEWERS, first);
    if viewer.is_none() {
        greeting::answer(&mut stream, Reception::Full).ok()?;
    }
    viewer
}

/// Reads requests on this thread and writes messages on another one, until one of the two ends.
fn serve(stream: &TcpStream, shared: &ConnectionContext, viewer: u64) {
    let Ok(sending) = stream.try_clone() else { return };
    let to_send = shared.queue.clone();
    let write = move || {
        while let Some(bytes) = to_send.next_for(viewer) {
            if (&sending).write_all(&bytes).is_err() {
                break;
            }
        }
        // The shutdown also ends the reader.
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
            send(&shared.queue, viewer, &Message::Answer(ask.id, Ok(Answer::Done)));
        } else if !shared.queue.ask(viewer, ask) {
            return;
        }
    }
}

/// Waits for bytes of a viewer or the end of the stream, and probes the viewer at intervals.
/// Returns `false` if the viewer is silent for too long. Only bytes from the viewer prove that it
/// is alive: the near end of a tunnel accepts bytes even without a viewer at the far end.
fn wait_and_probe(stream: &TcpStream, shared: &ConnectionContext, viewer: u64) -> bool {
    let mut last_sign = Instant::now();
    loop {
        match stream.peek(&mut [0]) {
            Ok(_) => return true,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if shared.queue.is_sending_to(viewer) {
                    // A viewer that receives nothing is disconnected by the writer's timeout.
                    last_sign = Instant::now();
                } else if last_sign.elapsed() >= shared.silent {
                    return false;
                } else {
                    send(&shared.queue, viewer, &Message::Alive);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

fn send(queue: &Queue, viewer: u64, message: &Message) {
    if let Ok(bytes) = frame::encode(message, frame::MOST_TOLD) {
        queue.answer(viewer, Arc::new(bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn proved_viewer_is_not_closed_by_later_connections() {
        let program = Program { name: "test".into(), ranks: 1, checked: false, adapters: Vec::new() };
        let shared = Arc::new(ConnectionContext {
            queue: Arc::default(),
            token: "0".repeat(greeting::TOKEN_DIGITS),
            program,
            unproved: UnprovedConnections::default(),
            silent: Duration::from_secs(60),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || {
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, listener.accept().unwrap().0)
        };
        // No viewer can be added while the queue is locked.
        let held = shared.queue.lock_for_test();
        let (mut viewer, server) = connect();
        serve_on_threads(server, &shared);
        let token = shared.token.clone();
        let greeted = thread::spawn(move || greeting::greet(&mut viewer, &token).map(|()| viewer));
        let deadline = Instant::now() + Duration::from_secs(20);
        while !shared.unproved.lock().streams.is_empty() {
            assert!(Instant::now() < deadline, "the viewer is still unproved");
            thread::sleep(Duration::from_millis(1));
        }
        let unproved: Vec<_> = (0..2 * MAX_UNPROVED).map(|_| connect()).collect();
        for (_, server) in &unproved {
            shared.unproved.add(server).unwrap();
        }
        drop(held);
        let mut viewer = greeted.join().unwrap().expect("the viewer is accepted");
        let program: Program = frame::read(&mut viewer, frame::MOST_TOLD).unwrap().unwrap();
        assert_eq!(program, shared.program);
    }
}
