//! A program that the test imitates.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use zippy_debugger::session::{Live, Session, State};
use zippy_protocol::greeting::{self, Reception};
use zippy_protocol::{Ask, Message, Point, Program, frame};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// Time limit of expected events.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Accepts a viewer and receives its proof of the token. `None` if the viewer closes the
/// connection.
pub(crate) fn accept(listener: &TcpListener) -> (TcpStream, Option<Reception>) {
    let (mut stream, _) = listener.accept().unwrap();
    let reception = greeting::receive(&mut stream, TOKEN).ok();
    (stream, reception)
}

pub(crate) fn welcome(listener: &TcpListener, name: &str) -> TcpStream {
    let (mut stream, reception) = accept(listener);
    assert_eq!(reception, Some(Reception::Welcome));
    greeting::answer(&mut stream, Reception::Welcome).unwrap();
    send_message(&mut stream, &program(name));
    stream
}

pub(crate) fn program(name: &str) -> Program {
    Program { name: name.into(), ranks: 4, checked: false, adapters: Vec::new() }
}

pub(crate) fn send_message(stream: &mut TcpStream, value: &impl serde::Serialize) {
    frame::write(stream, value, frame::MOST_TOLD).unwrap();
}

pub(crate) fn asked(stream: &mut TcpStream) -> Option<Ask> {
    frame::read(stream, frame::MOST_ASKED).unwrap()
}

pub(crate) fn point(step: u64, paused: bool) -> Message {
    let (name, file, reason) = ("after collide".into(), "flow.rs".into(), String::new());
    Message::Point(Point { step, name, file, line: 7, paused, reason, micros: step })
}

/// Waits until a condition holds, and returns all received messages.
pub(crate) fn receive_until(live: &mut Live, condition: impl Fn(&State, &[Message]) -> bool) -> Vec<Message> {
    let mut told = Vec::new();
    for _ in 0..TIME_LIMIT.as_millis() / 50 {
        let state = live.state();
        told.extend(live.poll());
        if condition(&state, &told) {
            return told;
        }
        live.wait(Duration::from_millis(50));
    }
    panic!("it did not come to that: {:?}, {told:?}", live.state());
}

pub(crate) fn is_open(state: &State, _: &[Message]) -> bool {
    *state == State::Open
}

pub(crate) fn closing_reason(state: &State) -> &str {
    if let State::Closed(how) = state { how } else { "" }
}
