//! What a recording has beside the cells that chunks own, and what is held against it.

use zippy::debug::protocol::{
    Answer, ArrayRef, Control, GhostEntry, GhostState, MoveEntry, Moves, Point, Recorded, Request, Rule, Span,
    SpanKind, Timeline, View, ViewRequest, When,
};
use zippy_debugger::look::Quantity;
use zippy_debugger::reference::Reference;
use zippy_debugger::session::Replay;

use crate::recordings::{ask, control, look};
use crate::support::{SHAPE, STEPS, arrays, cells, density, entries, recording, view, written};

/// An array of six cells in two chunks, of which each was recorded with its ghost cells.
#[test]
fn chunks_with_ghost_cells_moves_and_times_are_those_that_were_recorded() {
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
    std::fs::write(&path, written(&entries).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    let whole = ViewRequest { chunk: None, start: vec![0], end: vec![6], ..part(1, 0).of };
    let rule = |text: &str| Request::Rules(vec![Rule { name: None, when: When::Condition(text.into()) }]);
    for (condition, step) in [("stale(line) == 1", 2), ("max(line) == 35", 3)] {
        assert_eq!(ask(&mut replay, rule(condition)).0, Ok(Answer::Done));
        let at = control(&mut replay, Control::Continue).unwrap().unwrap();
        assert_eq!((at.0, at.1.contains(condition)), (step, true), "{at:?}");
        let values: Vec<u8> = (0..6).flat_map(|x| (x as f32 + 10.0 * step as f32).to_le_bytes()).collect();
        assert_eq!(look(&mut replay, &whole).unwrap().cells, values);
        let ghost = ViewRequest { start: vec![1], end: vec![3], ..part(step, 1).of };
        let seen = look(&mut replay, &ghost).unwrap();
        assert_eq!((&seen.of, &seen.cells[..]), (&ghost, &part(step, 1).cells[..8]));
        assert_eq!(look(&mut replay, &part(step, 0).of).unwrap(), part(step, 0));
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
    assert!(look(&mut replay, &outside).unwrap_err().contains("0..8 lies outside of 1..8"));
    // A chunk is missing, or says that it is another one.
    let text = |entries: &[Recorded]| {
        std::fs::write(&path, written(entries).0).unwrap();
        look(&mut Replay::open(&path).unwrap(), &whole).unwrap_err()
    };
    assert!(text(&[&entries[..4], &entries[5..]].concat()).contains("make no sense"));
    let mut other = part(1, 1);
    other.of.chunk = Some(7);
    entries[4] = Recorded::View(other);
    assert!(text(&entries).contains("make no sense"));
}

/// Not all of a long recording is read while somebody waits for it.
#[test]
fn a_timeline_from_the_beginning_is_that_of_the_last_debug_points() {
    let mut entries = entries()[..1].to_vec();
    for step in 1..=300 {
        let (name, file, reason) = ("p".into(), "a.rs".into(), String::new());
        entries.push(Recorded::Point(Point { step, name, file, line: 1, paused: false, reason, micros: 10 * step }));
        let span = Span { kind: SpanKind::Wait, what: "w".into(), start: 10 * step, length: 5, peer: None };
        entries.push(Recorded::Timeline(Timeline { until: 10 * step + 10, ranks: vec![vec![span]] }));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.zrec");
    std::fs::write(&path, written(&entries).0).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    let Ok(Answer::Timeline(found)) = replay.answer_at(300, Request::Timeline(0)) else { panic!() };
    let starts: Vec<u64> = found.ranks[0].iter().map(|span| span.start).collect();
    assert_eq!((found.until, starts), (3010, (45..=300).map(|step| 10 * step).collect()));
}

#[test]
fn a_program_is_held_against_a_recording() {
    let (directory, path) = recording();
    let mut reference = Reference::open(&path).unwrap();
    assert_eq!((reference.name(), reference.steps(), reference.notice()), ("run.zrec", &STEPS[..], None));
    // What the program says: other numbers of its arrays, and one cell that differs.
    let mut list = arrays(2);
    list.iter_mut().for_each(|entry| entry.array.number += 100);
    let quantity = Quantity::first(&list[0].element).unwrap();
    let of = ViewRequest { end: vec![5, 4, 1], ..view(list[0].array, 2, &SHAPE, 1, Vec::new()).of };
    let mut bytes: Vec<u8> = cells([5, 4, 1]).flat_map(|at| density(2, at).to_le_bytes()).collect();
    bytes[76..].copy_from_slice(&0.0_f32.to_le_bytes());
    let seen = View { of: of.clone(), step: 2, cells: bytes };
    let found = reference.differences(&list[0], &seen, quantity).unwrap();
    assert_eq!((found.cells, &found.first, found.largest), (1, &Some(vec![4, 3, 0]), Some(2034.0)));
    let again = reference.differences(&list[0], &seen, quantity).unwrap();
    assert!(std::rc::Rc::ptr_eq(&found, &again), "it is kept");
    reference.forget();
    assert!(!std::rc::Rc::ptr_eq(&found, &reference.differences(&list[0], &seen, quantity).unwrap()));
    // Of a coarse recording, the cells that it has.
    let line = ViewRequest { array: list[3].array, ..view(list[3].array, 2, &[100], 1, Vec::new()).of };
    let there = reference.view(2, &list[3], &line).unwrap();
    assert_eq!((&there.of.stride[..], there.cells.len()), (&[3][..], 68));
    let own = View { of: ViewRequest { array: list[3].array, ..there.of.clone() }, ..(*there).clone() };
    assert_eq!(reference.differences(&list[3], &own, quantity).unwrap().cells, 0);
    let text = reference.differences(&list[0], &View { step: 3, ..seen.clone() }, quantity).unwrap_err();
    assert!(text.contains("no debug point 3: there are 3 from 1 to 10"), "{text}");
    list[0].shape[0] = 6;
    assert!(
        reference.array(2, &list[0]).unwrap_err().contains("[5, 4, 3] in the recording, and f32 of shape [6, 4, 3]")
    );
    list[1].name = "other".into();
    assert!(reference.array(2, &list[1]).unwrap_err().contains("no array `other` at debug point 2"));
    assert!(Reference::open(directory.path().join("none.zrec")).is_err());
}
