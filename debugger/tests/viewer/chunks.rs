//! Recordings by chunks: ghost cells, moves and timelines.

use zippy_debugger::session::Replay;
use zippy_protocol::{
    Answer, ArrayRef, Control, GhostEntry, GhostState, MoveEntry, Moves, Point, Recorded, Request, Rule, Span,
    SpanKind, Timeline, ViewRequest, When,
};

use crate::recordings::{ask, control, request_view};
use crate::support::{arrays, encoded_recording, entries, view};

/// An array of six cells in two chunks. Each chunk was recorded with its ghost cells.
#[test]
fn replay_returns_recorded_ghost_cells_moves_and_timelines() {
    let line = ArrayRef { rank: None, number: 5 };
    let mut entry = arrays(1).swap_remove(0);
    (entry.array, entry.name, entry.shape, entry.grid) = (line, "line".into(), vec![6], Some(vec![2]));
    (entry.ghosts, entry.periodic) = ([vec![1], vec![2]], vec![true]);
    let cut = [(0, 2), (2, 6)];
    entry.chunks.iter_mut().zip(cut).for_each(|(chunk, (start, end))| {
        (chunk.start, chunk.end) = (vec![start], vec![end]);
    });
    let part = |step: u64, chunk: usize| {
        let (start, end) = (cut[chunk].0 - 1, cut[chunk].1 + 2);
        let cells = (start..end).flat_map(|x| (x as f32 + 10.0 * step as f32).to_le_bytes()).collect();
        let mut view = view(line, step, &[6], 1, cells);
        (view.of.chunk, view.of.start, view.of.end) = (Some(chunk as u64), vec![start], vec![end]);
        view
    };
    let ghosts = |state| vec![GhostEntry { chunk: 1, side: vec![-1], state }];
    let end = (Some(line), 0, 0, vec![1]);
    let boxes = vec![MoveEntry { from: end.clone(), to: end, extents: vec![1], bytes: 4 }];
    let moves =
        |boxes, step: u64| Moves { operation: format!("ghosts in {step}"), moves: boxes, count: 7, ..Moves::default() };
    let span = |start| Span { kind: SpanKind::Wait, what: "w".into(), start, length: 5, peer: None };
    let mut entries = entries()[..1].to_vec();
    for step in 1..=3 {
        let point = Point {
            step,
            name: "p".into(),
            file: "a.rs".into(),
            line: 1,
            paused: false,
            reason: String::new(),
            micros: 10 * step,
        };
        let state = if step == 2 { GhostState::Stale } else { GhostState::Fresh };
        entries.extend([Recorded::Point(point), Recorded::Arrays(vec![entry.clone()])]);
        entries.extend([0, 1].map(|chunk| Recorded::View(part(step, chunk))));
        entries.push(Recorded::Ghosts(line, ghosts(state)));
        let again = if step == 1 { boxes.clone() } else { Vec::new() };
        entries.extend((step < 3).then(|| Recorded::Moves(moves(again, step))));
        let ranks = vec![vec![span(10 * step), span(10 * step + 5)], Vec::new()];
        entries.push(Recorded::Timeline(Timeline { until: 10 * step + 10, ranks }));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("chunks.zrec");
    std::fs::write(&path, encoded_recording(&entries).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    let whole = ViewRequest { chunk: None, start: vec![0], end: vec![6], ..part(1, 0).of };
    let rule = |text: &str| Request::Rules(vec![Rule { name: None, when: When::Condition(text.into()) }]);
    for (condition, step) in [("stale(line) == 1", 2), ("max(line) == 35", 3)] {
        assert_eq!(ask(&mut replay, rule(condition)).0, Ok(Answer::Done));
        let at = control(&mut replay, Control::Continue).unwrap().unwrap();
        assert_eq!((at.0, at.1.contains(condition)), (step, true), "{at:?}");
        let values: Vec<u8> = (0..6).flat_map(|x| (x as f32 + 10.0 * step as f32).to_le_bytes()).collect();
        assert_eq!(request_view(&mut replay, &whole).unwrap().cells, values);
        let ghost = ViewRequest { start: vec![1], end: vec![3], ..part(step, 1).of };
        let seen = request_view(&mut replay, &ghost).unwrap();
        assert_eq!((&seen.of, &seen.cells[..]), (&ghost, &part(step, 1).cells[..8]));
        assert_eq!(request_view(&mut replay, &part(step, 0).of).unwrap(), part(step, 0));
        let state = if step == 2 { GhostState::Stale } else { GhostState::Fresh };
        assert_eq!(ask(&mut replay, Request::Ghosts(line)).0, Ok(Answer::Ghosts(ghosts(state))));
        let told = ask(&mut replay, Request::Moves).0;
        assert_eq!(told, Ok(Answer::Moves(moves(boxes.clone(), 2))), "its boxes are those of the first one");
        let (Ok(Answer::Timeline(found)), _) = ask(&mut replay, Request::Timeline(17)) else { panic!() };
        let starts: Vec<u64> = found.ranks[0].iter().map(|span| span.start).collect();
        let wanted: Vec<u64> = (3..=2 * step + 1).map(|place| 5 * place).collect();
        assert_eq!((found.until, starts, found.ranks.len()), (10 * step + 10, wanted, 2));
    }
    let outside = ViewRequest { start: vec![0], ..part(1, 1).of };
    assert!(request_view(&mut replay, &outside).unwrap_err().contains("0..8 lies outside of 1..8"));
    // A chunk is missing, or has the number of the other one.
    let text = |entries: &[Recorded]| {
        std::fs::write(&path, encoded_recording(entries).0).unwrap();
        request_view(&mut Replay::open(&path).unwrap(), &whole).unwrap_err()
    };
    assert!(text(&[&entries[..4], &entries[5..]].concat()).contains("are invalid"));
    let mut other = part(1, 1);
    other.of.chunk = Some(7);
    entries[4] = Recorded::View(other);
    assert!(text(&entries).contains("are invalid"));
}

/// A request for a timeline reads only a part of a long recording.
#[test]
fn timeline_from_time_zero_has_latest_debug_points_only() {
    let mut entries = entries()[..1].to_vec();
    for step in 1..=300 {
        let (name, file, reason) = ("p".into(), "a.rs".into(), String::new());
        entries.push(Recorded::Point(Point { step, name, file, line: 1, paused: false, reason, micros: 10 * step }));
        let span = Span { kind: SpanKind::Wait, what: "w".into(), start: 10 * step, length: 5, peer: None };
        entries.push(Recorded::Timeline(Timeline { until: 10 * step + 10, ranks: vec![vec![span]] }));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.zrec");
    std::fs::write(&path, encoded_recording(&entries).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(control(&mut replay, Control::Step(299)).unwrap().unwrap().0, 300);
    let (Ok(Answer::Timeline(found)), _) = ask(&mut replay, Request::Timeline(0)) else { panic!() };
    let starts: Vec<u64> = found.ranks[0].iter().map(|span| span.start).collect();
    assert_eq!((found.until, starts), (3010, (45..=300).map(|step| 10 * step).collect()));
}
