//! A connection: its greeting, then a thread that reads and one that writes.

use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::queue::Queue;
use crate::debug::protocol::greeting::{self, GREETING_BYTES, Reception};
use crate::debug::protocol::{Ask, Program, frame};

/// So many viewers at most.
const MOST_VIEWERS: usize = 8;
/// So many connections that have not greeted yet.
const MOST_STRANGERS: usize = 16;
/// Who has not greeted after this time is let go.
const TO_GREET: Duration = Duration::from_secs(5);
/// Who takes nothing for this time is let go.
const TO_TAKE: Duration = Duration::from_secs(20);

static STRANGERS: AtomicUsize = AtomicUsize::new(0);

/// Goes on with a connection on threads of its own. Whatever goes wrong ends it, and nothing else.
pub fn begin(stream: TcpStream, queue: &Arc<Queue>, token: &str, program: &Program) {
    if STRANGERS.fetch_add(1, Ordering::Relaxed) >= MOST_STRANGERS {
        STRANGERS.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let (queue, token, program) = (queue.clone(), token.to_string(), program.clone());
    let run = move || {
        let viewer = greeted(&stream, &queue, &token, &program);
        STRANGERS.fetch_sub(1, Ordering::Relaxed);
        if let Some(viewer) = viewer {
            talk(&stream, &queue, viewer);
            queue.remove(viewer);
        }
        let _ = stream.shutdown(Shutdown::Both);
    };
    if thread::Builder::new().name("zippy viewer".into()).spawn(run).is_err() {
        STRANGERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of a viewer that has said the right thing.
fn greeted(mut stream: &TcpStream, queue: &Queue, token: &str, program: &Program) -> Option<u64> {
    stream.set_write_timeout(Some(TO_TAKE)).ok()?;
    stream.set_nodelay(true).ok()?;
    let (mut bytes, mut read, until) = ([0; GREETING_BYTES], 0, Instant::now() + TO_GREET);
    while read < bytes.len() {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        read += stream.read(&mut bytes[read..]).ok().filter(|&more| more > 0)?;
    }
    let reception = greeting::received(&bytes, token)?;
    if reception != Reception::Welcome {
        greeting::answer(&mut stream, reception).ok()?;
        return None;
    }
    let mut first = Vec::new();
    greeting::answer(&mut first, Reception::Welcome).ok()?;
    first.extend(frame::encode(program, frame::MOST_TOLD).ok()?);
    stream.set_read_timeout(None).ok()?;
    let viewer = queue.add(MOST_VIEWERS, first);
    if viewer.is_none() {
        greeting::answer(&mut stream, Reception::Full).ok()?;
    }
    viewer
}

/// Reads on this thread and writes on another one, until either ends.
fn talk(stream: &TcpStream, queue: &Arc<Queue>, viewer: u64) {
    let Ok(sending) = stream.try_clone() else { return };
    let to_send = queue.clone();
    let write = move || {
        while let Some(bytes) = to_send.next_for(viewer) {
            if std::io::Write::write_all(&mut &sending, &bytes).is_err() {
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
    while let Ok(Some(ask)) = frame::read::<Ask>(&mut reading, frame::MOST_ASKED) {
        if !queue.ask(viewer, ask) {
            return;
        }
    }
}
