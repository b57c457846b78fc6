//! Recordings with unchanged cells, and files that grow.

use std::fs::OpenOptions;
use std::io::Write;

use zippy_debugger::session::{Replay, Session};
use zippy_protocol::recording::LIMIT_REACHED;
use zippy_protocol::{Answer, Recorded, Request, SummaryRequest, ViewRequest};

use crate::fake::TIME_LIMIT;
use crate::recordings::{ask, request_view};
use crate::support::{
    COARSE, FLOW, SHAPE, STEPS, arrays, cells, encoded_recording, entries, flow_bytes, standard_output, viewer,
};

/// Entries that refer to the cells of an earlier debug point.
#[test]
fn unchanged_cells_are_those_of_the_debug_point_that_has_them() {
    let mut all = entries();
    let mut seen = 0;
    // At the last two debug points, the flow is that of the first one.
    for entry in &mut all {
        if matches!(entry, Recorded::View(view) if view.of.array == FLOW) {
            seen += 1;
            if seen > 1 {
                *entry = Recorded::Unchanged(FLOW, 1);
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("unchanged.zrec");
    std::fs::write(&path, encoded_recording(&all).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.notice(), None);
    let whole = ViewRequest::whole(&arrays(1)[2]);
    let bytes: Vec<u8> = cells(SHAPE).flat_map(|at| flow_bytes(1, at)).collect();
    for step in STEPS {
        replay.go_to(step);
        let view = request_view(&mut replay, &whole).unwrap();
        assert_eq!((view.step, &view.cells), (step, &bytes));
        let (Ok(Answer::Summary(found)), _) = ask(&mut replay, Request::Summary(SummaryRequest::of(FLOW, 0))) else {
            panic!("no summary")
        };
        assert_eq!((found.step, found.components[0].extremes), (step, Some((0.0.into(), 7.0.into()))));
    }
    // A reference to a missing debug point is damage.
    for wrong in [Recorded::Unchanged(FLOW, 7), Recorded::Unchanged(COARSE, 10)] {
        let place = all.iter().rposition(|entry| matches!(entry, Recorded::Unchanged(..))).unwrap();
        let mut damaged = all.clone();
        damaged[place] = wrong;
        std::fs::write(&path, encoded_recording(&damaged).0).unwrap();
        let replay = Replay::open(&path).unwrap();
        assert!(replay.notice().unwrap().contains("the array refers to cells of debug point"), "{:?}", replay.notice());
    }
}

#[test]
fn growing_recording_wakes_its_session() {
    let (bytes, ends) = encoded_recording(&entries());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grows.zrec");
    std::fs::write(&path, &bytes[..ends[6]]).unwrap();
    let (wake, woken) = std::sync::mpsc::channel();
    let mut replay = Replay::open(&path).unwrap();
    replay.set_waker(std::sync::Arc::new(move || wake.send(()).unwrap_or_default()));
    replay.poll();
    while woken.try_recv().is_ok() {}
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[ends[6]..]).unwrap();
    while replay.end().is_none() {
        woken.recv_timeout(TIME_LIMIT).expect("it is woken");
        replay.poll();
    }
    assert_eq!(replay.steps(), STEPS);
    // The session's own answers wake it.
    while woken.try_recv().is_ok() {}
    replay.ask(Request::Arrays);
    assert!(woken.try_recv().is_ok());
}

/// The window repaints each time that it is woken: bytes that a poll has already scanned must not
/// cause another poll.
#[test]
fn poll_of_a_growing_recording_does_not_wake() {
    let (bytes, ends) = encoded_recording(&entries());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grows.zrec");
    std::fs::write(&path, &bytes[..ends[6]]).unwrap();
    let (wake, woken) = std::sync::mpsc::channel();
    let mut replay = Replay::open(&path).unwrap();
    let window = std::thread::current().id();
    // The thread that watches the file also wakes, at its own times.
    let waker = move || {
        if std::thread::current().id() == window {
            wake.send(()).unwrap_or_default();
        }
    };
    replay.set_waker(std::sync::Arc::new(waker));
    while woken.try_recv().is_ok() {}
    for end in &ends[7..] {
        let so_far = bytes[..*end].to_vec();
        std::fs::write(&path, so_far).unwrap();
        replay.poll();
        assert!(replay.bytes() == *end as u64 && woken.try_recv().is_err(), "{end}");
    }
}

/// Bytes that arrive between the scan and the first reading of the watch.
#[test]
fn bytes_between_open_and_watch_wake() {
    let (bytes, ends) = encoded_recording(&entries());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grows.zrec");
    std::fs::write(&path, &bytes[..ends[6]]).unwrap();
    let (wake, woken) = std::sync::mpsc::channel();
    let mut replay = Replay::open(&path).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[ends[6]..]).unwrap();
    replay.set_waker(std::sync::Arc::new(move || wake.send(()).unwrap_or_default()));
    // One wake for the call itself, and one for the bytes.
    for _ in 0..2 {
        woken.recv_timeout(TIME_LIMIT).expect("it is woken");
    }
}

/// Debug points that share a long list of views do not copy it.
#[test]
fn unchanged_cells_do_not_lengthen_a_list_of_views() {
    let mut all = entries();
    let first = all.iter().position(|entry| matches!(entry, Recorded::View(view) if view.of.array == FLOW)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hostile.zrec");
    let notice = |entries: &[Recorded]| {
        std::fs::write(&path, encoded_recording(entries).0).unwrap();
        Replay::open(&path).unwrap().notice().unwrap_or_default()
    };
    let view = all[first].clone();
    let mut many = all.clone();
    many.splice(first..first, vec![view.clone(); 256]);
    assert!(notice(&many).contains("an array has more than 256 views at debug point 1"), "{}", notice(&many));
    let last = all.iter().rposition(|entry| matches!(entry, Recorded::View(view) if view.of.array == FLOW)).unwrap();
    all.splice(last..=last, [Recorded::Unchanged(FLOW, 1), view]);
    assert!(notice(&all).contains("it also calls unchanged"), "{}", notice(&all));
}

#[test]
fn end_at_a_limit_is_reported_by_the_viewer() {
    let mut all = entries();
    let how = format!("{LIMIT_REACHED} of 1 GiB after debug point 10; the run went on");
    *all.last_mut().unwrap() = Recorded::End(how.clone());
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("run.zrec"), encoded_recording(&all).0).unwrap();
    let replay = Replay::open(directory.path().join("run.zrec")).unwrap();
    assert_eq!((replay.steps(), replay.notice().as_ref()), (&STEPS[..], Some(&how)));
    let text = standard_output(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    assert!(text.ends_with(&format!("{how}\n")), "{text}");
}
