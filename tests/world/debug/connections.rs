//! Connections to the port for viewers: no connection disturbs the run.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use zippy::debug::{Settings, ViewerAccess, attach};
use zippy::{Config, Layout, Result, Split, World, run_with};
use zippy_protocol::{Answer, Ask, Control, Request, VERSION, frame, greeting};

use super::client::{Client, watched};
use crate::support::launcher;

fn program(world: &World) -> Result<()> {
    let a = world.array::<i32, 1>("a", &Layout::new([100_000]).split([Split::Even(world.size())]))?;
    for step in 0..4 {
        a.fill_with(|[x]| x as i32 + step)?;
        world.debug_point("step")?;
    }
    let sum = world.sum(a.at(..))?;
    assert_eq!(sum, 100_000 * 99_999 / 2 + 300_000);
    Ok(())
}

fn connection_error(access: &ViewerAccess) -> String {
    Client::connect(access).err().expect("it is refused").to_string()
}

fn send_bytes_and_receive(access: &ViewerAccess, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", access.port)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut back = Vec::new();
    let _ = stream.read_to_end(&mut back);
    back
}

#[test]
fn connection_without_token_is_closed() {
    watched(&[1, 3], &Settings::listen(0).paused(), program, |access| {
        let wrong = ViewerAccess { token: "0".repeat(greeting::TOKEN_DIGITS), ..access.clone() };
        assert!(connection_error(&wrong).contains("token"), "{}", connection_error(&wrong));
        for token in ["", &access.token[1..]] {
            let wrong = ViewerAccess { token: token.to_string(), ..access.clone() };
            assert!(connection_error(&wrong).contains("token"));
        }
        let greeting_of = |version: u16| [b"zippydbg".as_slice(), &version.to_le_bytes(), &[7; 32]].concat();
        let other = greeting_of(VERSION + 1);
        assert_eq!(send_bytes_and_receive(access, &other).last(), Some(&1), "another version");
        assert_eq!(
            send_bytes_and_receive(access, b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: everything\r\n\r\n"),
            [0_u8; 0]
        );
        // A wrong proof, and an echo of the program's proof.
        for echo in [false, true] {
            let mut stream = TcpStream::connect(("127.0.0.1", access.port)).unwrap();
            stream.write_all(&greeting_of(VERSION)).unwrap();
            let mut challenge = [0; 11 + 64];
            stream.read_exact(&mut challenge).unwrap();
            stream.write_all(if echo { &challenge[43..] } else { &[0; 32] }).unwrap();
            let mut back = Vec::new();
            let _ = stream.read_to_end(&mut back);
            assert_eq!(back.get(10..), Some(&[2][..]), "a wrong token");
        }
        // An incomplete greeting does not delay other connections.
        let silent = TcpStream::connect(("127.0.0.1", access.port)).unwrap();
        (&silent).write_all(&other[..20]).unwrap();
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        viewer.run_out();
    });
}

/// Records the bytes between a program and a viewer in both directions.
fn recorded_traffic(access: &ViewerAccess) -> [Vec<u8>; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let between = ViewerAccess { port: listener.local_addr().unwrap().port(), ..access.clone() };
    let port = access.port;
    let relay = std::thread::spawn(move || {
        let viewer = listener.accept().unwrap().0;
        let program = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let [one, other] = [(&viewer, &program), (&program, &viewer)].map(|(from, to)| {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || {
                let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
                while let Ok(got @ 1..) = from.read(&mut bytes) {
                    all.extend(&bytes[..got]);
                    let _ = to.write_all(&bytes[..got]);
                }
                let _ = to.shutdown(std::net::Shutdown::Both);
                all
            })
        });
        [one, other].map(|thread| thread.join().unwrap())
    });
    let mut viewer = Client::connect(&between).unwrap();
    viewer.paused();
    drop(viewer);
    relay.join().unwrap()
}

#[test]
fn replayed_traffic_of_viewer_is_refused() {
    watched(&[1], &Settings::listen(0).paused().lost(None), program, |access| {
        let [requests, responses] = recorded_traffic(access);
        for bytes in [&requests, &responses] {
            assert!(!bytes.windows(8).any(|part| access.token.as_bytes().windows(8).any(|token| token == part)));
        }
        assert_eq!(requests.len(), 42 + 32);
        let back = send_bytes_and_receive(access, &requests);
        assert_eq!((back.len(), back.last()), (11 + 64 + 11, Some(&2)), "a wrong token");
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        viewer.run_out();
    });
}

#[test]
fn oldest_silent_connection_is_closed_for_viewer() {
    watched(&[2], &Settings::listen(0).paused().lost(None), program, |access| {
        let connect = || TcpStream::connect(("127.0.0.1", access.port)).unwrap();
        let _silent: Vec<TcpStream> = (0..40).map(|_| connect()).collect();
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        viewer.run_out();
    });
}

#[test]
fn invalid_bytes_end_only_their_connection() {
    watched(&[2], &Settings::listen(0).paused().lost(None), program, |access| {
        let right = frame::encode(&Ask { id: 1, request: Request::Arrays }, frame::MOST_ASKED).unwrap();
        let mut longer = right.clone();
        longer.push(0);
        longer[0] += 1;
        let frames: [&[u8]; 5] = [&[255; 4], &[0; 4], &[1, 0, 0, 0, 77], &longer, &right[..3]];
        for bytes in frames {
            let viewer = Client::connect(access).unwrap();
            viewer.stream().write_all(bytes).unwrap();
            viewer.stream().shutdown(std::net::Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let _ = viewer.stream().read_to_end(&mut rest);
        }
        // One viewer more than the limit.
        let mut viewers = Vec::new();
        let error = loop {
            match Client::connect(access) {
                Ok(viewer) => viewers.push(viewer),
                // Some earlier connections may still be open.
                Err(_) if viewers.is_empty() => {}
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("as many viewers") && viewers.len() <= 8, "{error}");
        let mut last = viewers.pop().unwrap();
        drop(viewers);
        last.paused();
        last.run_out();
    });
}

#[test]
fn paused_program_resumes_when_viewer_disconnects() {
    let lost = Some(Duration::from_millis(300));
    watched(&[1, 3], &Settings::listen(0).paused().lost(lost), program, |access| {
        Client::connect(access).unwrap().paused();
    });
    // No viewer connects.
    for count in launcher::counts(&[2]) {
        run_with(Config::threads(count), |world| {
            attach(world, &Settings::listen(0).paused().lost(lost))?;
            program(world)
        })
        .unwrap();
    }
}

#[test]
fn viewer_without_answers_is_disconnected() {
    let silent = Duration::from_millis(800);
    let settings = Settings::listen(0).paused().lost(Some(Duration::ZERO)).silent(silent);
    watched(&[1, 2], &settings, program, |access| {
        // The connection stays open without answers, like a broken tunnel, and the program resumes.
        let mut dead = TcpStream::connect(("127.0.0.1", access.port)).unwrap();
        greeting::greet(&mut dead, &access.token).unwrap();
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        // A viewer that answers stays connected beyond the time limit.
        let begun = std::time::Instant::now();
        while begun.elapsed() < silent * 3 / 2 {
            viewer.receive();
        }
        assert!(viewer.paused().step == 1 && viewer.ended.is_none());
        drop(viewer);
        let mut rest = Vec::new();
        dead.read_to_end(&mut rest).unwrap();
    });
}

#[test]
fn viewer_that_does_not_read_answers_is_disconnected() {
    watched(&[2], &Settings::listen(0).paused().lost(Some(Duration::ZERO)), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        let array = viewer.array("a").array;
        let view = zippy_protocol::ViewRequest {
            array,
            chunk: None,
            start: vec![0],
            end: vec![100_000],
            stride: vec![1],
            numbers: None,
        };
        // 400 MB of unread answers: the program closes the connection and resumes.
        for id in 0..1000 {
            let ask = Ask { id, request: Request::View(view.clone()) };
            if frame::write(&mut viewer.stream(), &ask, frame::MOST_ASKED).is_err() {
                break;
            }
        }
    });
}

#[test]
fn two_viewers_receive_equal_answers() {
    watched(&[2], &Settings::listen(0).paused(), program, |access| {
        let [mut one, mut other] = [0, 1].map(|_| Client::connect(access).unwrap());
        one.paused();
        assert_eq!(other.ask(Request::Control(Control::Step(2))), Ok(Answer::Done));
        while other.receive().is_some_and(|_| other.paused().step < 3) {}
        assert_eq!(one.go(Control::Step(1)).step, 4);
        other.run_out();
    });
}

#[test]
fn port_in_use_returns_error_on_every_rank() {
    let taken = Mutex::new(None);
    for count in launcher::counts(&[3]) {
        run_with(Config::threads(count), |world| {
            if world.rank() == 0 {
                *taken.lock().unwrap() = Some(std::net::TcpListener::bind("127.0.0.1:0").unwrap());
            }
            let listener = taken.lock().unwrap();
            let port = listener.as_ref().map_or(0, |listener| listener.local_addr().unwrap().port());
            drop(listener);
            let error = attach(world, &Settings::listen(port)).unwrap_err().to_string();
            assert!(error.contains("is taken"), "{error}");
            let error = attach(world, &Settings::record("/nowhere/at/all.zrec")).unwrap_err().to_string();
            assert!(error.contains("/nowhere/at/all.zrec"), "{error}");
            world.barrier()
        })
        .unwrap();
    }
}
