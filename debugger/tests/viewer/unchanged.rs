//! Recordings whose cells stay the same, and whose file grows.

use std::fs::OpenOptions;
use std::io::Write;

use zippy::debug::protocol::{Answer, Recorded, Request, SummaryRequest, ViewRequest};
use zippy::debug::recording::LIMIT_REACHED;
use zippy_debugger::session::{Replay, Session};

use crate::fake::LONG;
use crate::recordings::{ask, look};
use crate::support::{COARSE, FLOW, SHAPE, STEPS, arrays, cells, entries, flow_bytes, said, viewer, written};

/// Cells that are said to be those of an earlier debug point.
#[test]
fn unchanged_cells_are_those_of_the_debug_point_that_has_them() {
    let mut all = entries();
    let mut seen = 0;
    // At the last two debug points the flow is that of the first one.
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
    std::fs::write(&path, written(&all).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.notice(), None);
    let whole = ViewRequest::whole(&arrays(1)[2]);
    let bytes: Vec<u8> = cells(SHAPE).flat_map(|at| flow_bytes(1, at)).collect();
    for step in STEPS {
        replay.go_to(step);
        let view = look(&mut replay, &whole).unwrap();
        assert_eq!((view.step, &view.cells), (step, &bytes));
        let (Ok(Answer::Summary(found)), _) = ask(&mut replay, Request::Summary(SummaryRequest::of(FLOW, 0))) else {
            panic!("no summary")
        };
        assert_eq!((found.step, found.components[0].extremes), (step, Some((0.0.into(), 7.0.into()))));
    }
    // What is not there is damage.
    for wrong in [Recorded::Unchanged(FLOW, 7), Recorded::Unchanged(COARSE, 10)] {
        let place = all.iter().rposition(|entry| matches!(entry, Recorded::Unchanged(..))).unwrap();
        let mut damaged = all.clone();
        damaged[place] = wrong;
        std::fs::write(&path, written(&damaged).0).unwrap();
        let replay = Replay::open(&path).unwrap();
        assert!(replay.notice().unwrap().contains("which has none"), "{:?}", replay.notice());
    }
}

#[test]
fn recording_that_grows_wakes_who_looks_at_it() {
    let (bytes, ends) = written(&entries());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grows.zrec");
    std::fs::write(&path, &bytes[..ends[6]]).unwrap();
    let (wake, woken) = std::sync::mpsc::channel();
    let mut replay = Replay::open(&path).unwrap();
    replay.wake_by(std::sync::Arc::new(move || wake.send(()).unwrap_or_default()));
    replay.poll();
    while woken.try_recv().is_ok() {}
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[ends[6]..]).unwrap();
    while replay.end().is_none() {
        woken.recv_timeout(LONG).expect("it is woken");
        replay.poll();
    }
    assert_eq!(replay.steps(), STEPS);
    // So it is by its own answers.
    while woken.try_recv().is_ok() {}
    replay.ask(Request::Arrays);
    assert!(woken.try_recv().is_ok());
}

#[test]
fn end_at_a_limit_is_said_where_the_recording_is_looked_at() {
    let mut all = entries();
    let how = format!("{LIMIT_REACHED} of 1 GiB after debug point 10; the run went on");
    *all.last_mut().unwrap() = Recorded::End(how.clone());
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("run.zrec"), written(&all).0).unwrap();
    let replay = Replay::open(directory.path().join("run.zrec")).unwrap();
    assert_eq!((replay.steps(), replay.notice().as_ref()), (&STEPS[..], Some(&how)));
    let text = said(viewer(directory.path(), &["info", "run.zrec"]).output().unwrap());
    assert!(text.ends_with(&format!("{how}\n")), "{text}");
}
