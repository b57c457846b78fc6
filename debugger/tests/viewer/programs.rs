//! Running programs: invalid, slow, and lost and found again.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use zippy_debugger::session::{Live, MOST_UNANSWERED, Session, State};
use zippy_protocol::greeting::{self, GREETING_BYTES, Reception};
use zippy_protocol::{Answer, Message, Point, Request, Rule, VERSION, When, frame};

use crate::fake::{
    TIME_LIMIT, TOKEN, accept, asked, closing_reason, is_open, listener, point, program, receive_until, send_message,
    welcome,
};
use crate::support::arrays;

#[test]
fn program_answers_requests() {
    let (listener, address) = listener();
    let fake = thread::spawn(move || {
        let mut stream = welcome(&listener, "lbm");
        send_message(&mut stream, &point(3, true));
        let mut requests = Vec::new();
        while let Some(ask) = asked(&mut stream) {
            // Answers to an unknown request, to this request, and to this request again.
            send_message(&mut stream, &Message::Answer(ask.id + 1000, Ok(Answer::Done)));
            send_message(&mut stream, &Message::Answer(ask.id, Ok(Answer::Arrays(arrays(3)))));
            send_message(&mut stream, &Message::Answer(ask.id, Ok(Answer::Done)));
            requests.push(ask.request);
        }
        requests
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    receive_until(&mut live, is_open);
    assert_eq!(live.program(), Some(&program("lbm")));
    let ids = [live.ask(Request::Arrays), live.ask(Request::Moves)];
    let mut told =
        receive_until(&mut live, |_, told| told.iter().filter(|m| matches!(m, Message::Answer(..))).count() == 2);
    told.retain(|message| !matches!(message, Message::Point(_)));
    let other = "the program's answer is invalid: the answer is one to something else";
    let expected = [Ok(Answer::Arrays(arrays(3))), Err(other.to_string())];
    assert_eq!(told, [0, 1].map(|at| Message::Answer(ids[at], expected[at].clone())));
    drop(live);
    assert_eq!(fake.join().unwrap(), [Request::Arrays, Request::Moves]);
}

#[test]
fn only_the_latest_unread_point_is_kept() {
    let (listener, address) = listener();
    let fake = thread::spawn(move || {
        let mut stream = welcome(&listener, "fast");
        // Far more messages than the buffers of a connection hold, so that most were received
        // before the last one was sent.
        for step in 1..=3000 {
            let Message::Point(point) = point(step, false) else { unreachable!() };
            send_message(&mut stream, &Message::Point(Point { name: "x".repeat(20_000), ..point }));
        }
        stream
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    let mut stream = fake.join().unwrap();
    let told = live.poll();
    assert!(matches!(told.as_slice(), [Message::Point(point)] if point.step > 1000), "{} points", told.len());
    send_message(&mut stream, &point(3001, true));
    receive_until(&mut live, |_, told| told.last() == Some(&point(3001, true)));
}

/// A window that repaints only when it is woken misses no message, and is not woken without a
/// message.
#[test]
fn messages_wake_the_session() {
    let (listener, address) = listener();
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let fake = thread::spawn(move || {
        let mut stream = welcome(&listener, "quiet");
        for step in 1..=3 {
            goes_on.recv().unwrap();
            // The program's check for the viewer must not wake the window.
            send_message(&mut stream, &Message::Alive);
            assert_eq!(asked(&mut stream).unwrap().request, Request::Alive);
            send_message(&mut stream, &point(step, true));
        }
        goes_on.recv().unwrap();
    });
    let (wake, woken) = std::sync::mpsc::channel();
    let mut live = Live::connect(&address.to_string(), TOKEN);
    live.set_waker(std::sync::Arc::new(move || wake.send(()).unwrap_or_default()));
    let mut told = Vec::new();
    for step in 0..=3 {
        // The connection and each debug point wake the window.
        while !(live.state() == State::Open && told.len() == step) {
            woken.recv_timeout(TIME_LIMIT).expect("it is woken");
            told.extend(live.poll());
        }
        while woken.try_recv().is_ok() {}
        go_on.send(()).unwrap();
    }
    assert_eq!(told, [1, 2, 3].map(|step| point(step, true)));
    fake.join().unwrap();
    receive_until(&mut live, |state, _| *state != State::Open);
    assert!(woken.recv_timeout(TIME_LIMIT).is_ok(), "it is woken by the end");
}

#[test]
fn refused_viewer_reports_reason_and_does_not_retry() {
    type Reply = fn(&mut TcpStream);
    let cases: [(Reply, &str, &str); 5] = [
        (|_| (), "f123456789abcdef0123456789abcdef", "token"),
        (|stream| greeting::answer(stream, Reception::Welcome).unwrap(), TOKEN, "has not proved"),
        (
            |stream| stream.write_all(&[b"zippydbg".as_slice(), &[VERSION as u8 + 1, 0, 1]].concat()).unwrap(),
            TOKEN,
            "release",
        ),
        (|stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap(), TOKEN, "no program of Zippy's"),
        (|stream| stream.write_all(&[b"zippydbg".as_slice(), &[1, 0, 77]].concat()).unwrap(), TOKEN, "77"),
    ];
    for (reply, token, part) in cases {
        let (listener, address) = listener();
        let fake = thread::spawn(move || {
            if token == TOKEN {
                let mut stream = listener.accept().unwrap().0;
                stream.read_exact(&mut [0; GREETING_BYTES]).unwrap();
                reply(&mut stream);
            } else {
                // The viewer finds out that the other side has another token, and sends no proof.
                assert_eq!(accept(&listener).1, None);
            }
            listener
        });
        let mut live = Live::connect(&address.to_string(), token);
        let id = live.ask(Request::Arrays);
        let told = receive_until(&mut live, |state, _| !closing_reason(state).is_empty());
        assert!(closing_reason(&live.state()).contains(part), "{:?}", live.state());
        assert!(matches!(&told[..], [Message::Answer(answered, Err(_))] if *answered == id), "{told:?}");
        let listener = fake.join().unwrap();
        listener.set_nonblocking(true).unwrap();
        thread::sleep(Duration::from_millis(300));
        assert!(listener.accept().is_err(), "it came again");
        assert!(closing_reason(&live.state()).contains(part));
    }
}

#[test]
fn viewer_waits_for_a_late_program() {
    // A port without a listener.
    let address = listener().1;
    let mut live = Live::connect(&address.to_string(), TOKEN);
    receive_until(&mut live, |state, _| matches!(state, State::Connecting(why) if why.contains(&address.to_string())));
    let fake = thread::spawn(move || {
        let listener = TcpListener::bind(address).unwrap();
        // The program refuses at first, then closes the connection, then answers slowly.
        let (mut stream, reception) = accept(&listener);
        assert_eq!(reception, Some(Reception::Welcome));
        greeting::answer(&mut stream, Reception::Full).unwrap();
        drop(stream);
        drop(accept(&listener));
        let (mut stream, _) = accept(&listener);
        let mut bytes = Vec::new();
        greeting::answer(&mut bytes, Reception::Welcome).unwrap();
        frame::write(&mut bytes, &program("slow"), frame::MOST_TOLD).unwrap();
        frame::write(&mut bytes, &point(9, true), frame::MOST_TOLD).unwrap();
        for byte in bytes {
            stream.write_all(&[byte]).unwrap();
            stream.flush().unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(asked(&mut stream), None);
    });
    let told = receive_until(&mut live, |_, told| !told.is_empty());
    assert_eq!((told, live.state()), (vec![point(9, true)], State::Open));
    assert_eq!(live.program().unwrap().name, "slow");
    drop(live);
    fake.join().unwrap();
}

#[test]
fn viewer_searches_again_after_the_end_of_a_program() {
    let (listener, address) = listener();
    let goodbye: [fn(&mut TcpStream); 5] = [
        |stream| send_message(stream, &Message::End("it has returned".into())),
        |stream| stream.shutdown(Shutdown::Both).unwrap(),
        // Half of a frame.
        |stream| stream.write_all(&[200, 0, 0, 0, 1, 2, 3]).unwrap(),
        |stream| stream.write_all(&[0xff; 64]).unwrap(),
        |stream| stream.write_all(&[3, 0, 0, 0, 0xff, 0xff, 0xff]).unwrap(),
    ];
    let fake = thread::spawn(move || {
        for (run, goodbye) in goodbye.into_iter().enumerate() {
            let mut stream = welcome(&listener, &format!("run {run}"));
            assert_eq!(asked(&mut stream).unwrap().request, Request::Arrays);
            goodbye(&mut stream);
        }
        assert_eq!(asked(&mut welcome(&listener, "the last run")), None);
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    for (run, part) in
        ["it has returned", "hung up", "ends after 3", "4294967295", "cannot be decoded"].into_iter().enumerate()
    {
        let name = format!("run {run}");
        while live.state() != State::Open || live.program().is_none_or(|program| program.name != name) {
            live.wait(TIME_LIMIT);
            live.poll();
        }
        let id = live.ask(Request::Arrays);
        let lost = |message: &Message| matches!(message, Message::Answer(answered, Err(_)) if *answered == id);
        let told = receive_until(&mut live, |_, told| told.iter().any(lost));
        let Some(Message::Answer(_, Err(text))) = told.iter().find(|message| lost(message)) else { panic!() };
        assert!(text.contains(part), "{run}: {text}");
    }
    while live.program().is_none_or(|program| program.name != "the last run") {
        live.wait(TIME_LIMIT);
        live.poll();
    }
    assert_eq!(live.state(), State::Open);
    drop(live);
    fake.join().unwrap();
}

#[test]
fn unanswered_requests_are_limited_and_never_block() {
    let (listener, address) = listener();
    // The program reads nothing.
    let fake = thread::spawn(move || welcome(&listener, "deaf"));
    let mut live = Live::connect(&address.to_string(), TOKEN);
    receive_until(&mut live, is_open);
    let rules = |bytes| Request::Rules(vec![Rule { name: None, when: When::Condition("x".repeat(bytes)) }]);
    for _ in 0..MOST_UNANSWERED {
        live.ask(rules(60_000));
    }
    assert_eq!(live.poll(), []);
    let more = [live.ask(Request::Arrays), live.ask(rules(frame::MOST_ASKED))];
    let told = live.poll();
    let [Message::Answer(first, Err(many)), Message::Answer(second, Err(long))] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!([*first, *second] == more && many.contains("32") && long.contains("65536"), "{many}, {long}");
    drop(fake.join().unwrap());
    let told = receive_until(&mut live, |_, told| told.len() == MOST_UNANSWERED);
    assert!(told.iter().all(|message| matches!(message, Message::Answer(_, Err(_)))));
}

/// A stranger that listens at the port of a former program learns neither the token nor anything
/// that gives access to the next program.
#[test]
fn stranger_at_the_port_learns_nothing_that_gives_access() {
    let (listener, address) = listener();
    let fake = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        // A viewer's challenge needs the token for a reply; the stranger guesses.
        let mut heard = vec![0; GREETING_BYTES];
        stream.read_exact(&mut heard).unwrap();
        let reception = [b"zippydbg".as_slice(), &VERSION.to_le_bytes(), &[4]].concat();
        stream.write_all(&[&reception[..], &[7; 64]].concat()).unwrap();
        let _ = stream.read_to_end(&mut heard);
        heard
    });
    let mut live = Live::connect(&address.to_string(), TOKEN);
    receive_until(&mut live, |state, _| closing_reason(state).contains("the token is not the one"));
    let heard = fake.join().unwrap();
    assert_eq!(heard.len(), GREETING_BYTES, "the viewer proves nothing to who has proved nothing");
    assert!(!heard.windows(8).any(|part| TOKEN.as_bytes().windows(8).any(|token| token == part)));
}
