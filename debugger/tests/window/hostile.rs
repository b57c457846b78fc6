//! Invalid data of a program does not crash the viewer.

use zippy_protocol::*;

use super::{Fake, Window, array, click, shows, window};
use egui_kittest::kittest::Queryable;

fn malformed_arrays() -> Vec<ArrayEntry> {
    let mut none = array(10, "none", &[4, 4], 1);
    none.shape.clear();
    let mut empty = array(11, "empty", &[4, 4], 1);
    empty.shape[1] = 0;
    let mut bare = array(12, "bare", &[4, 4], 1);
    bare.element.numbers.clear();
    let mut ragged = array(13, "ragged", &[4, 4, 4], 1);
    ragged.chunks[0].start.pop();
    ragged.chunks[1].end.extend([9; 5]);
    ragged.ghosts = [vec![1], vec![]];
    let mut huge = array(14, "huge", &[4, 4, 4], 1);
    huge.shape = vec![i64::MAX, i64::MAX / 2, 3];
    huge.chunks[0].end = vec![i64::MAX; 3];
    huge.chunks[1].start = vec![i64::MIN; 3];
    let mut negative = array(15, "negative", &[4, 4], 1);
    negative.shape[0] = -3;
    let mut torn = array(16, "torn", &[4, 4], 1);
    torn.element.numbers[0].offset = 1 << 30;
    torn.element.numbers[0].components = 255;
    let mut seven = array(17, "seven", &[4; 7], 1);
    seven.chunks.clear();
    seven.chunk_count = 1 << 40;
    vec![none, empty, bare, ragged, huge, negative, torn, seven]
}

/// Selects every array, mode and tab.
fn visit_everything(harness: &mut Window) {
    let names: Vec<String> = malformed_arrays().into_iter().map(|entry| entry.name).collect();
    for name in names {
        press(harness, &format!("look at {name}"));
        for mode in ["slice", "mosaic", "three planes", "volume", "line", "numbers"] {
            if harness.query_by_label(mode).is_some() {
                press(harness, mode);
                let places = harness.query_all_by_label_contains(&name).map(|node| node.rect().center());
                let places: Vec<_> = places.collect();
                for place in places {
                    harness.hover_at(place);
                    harness.run();
                }
            }
        }
        if harness.query_by_label("slice").is_some() {
            press(harness, "slice");
        }
        if harness.query_by_label("one chunk with its ghost cells").is_some() {
            press(harness, "one chunk with its ghost cells");
            press(harness, "Go there");
        }
        press(harness, "Compare");
    }
    for tab in ["History", "Moves", "Timeline"] {
        press(harness, tab);
    }
}

/// A click and two frames: the first sends requests, and the second has the answers.
fn press(harness: &mut Window, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
    harness.run();
}

fn check_with_override(override_answer: fn(&Request) -> Option<Result<Answer, String>>) {
    let fake = Fake::new(malformed_arrays());
    fake.state.borrow_mut().override_answer = override_answer;
    let mut harness = window(&fake);
    for overlay in ["owners", "ghost cells that are not fresh", "moves of the last transfer"] {
        click(&mut harness, overlay);
    }
    visit_everything(&mut harness);
    assert!(shows(&harness, "look at huge"));
}

#[test]
fn views_with_too_few_bytes_or_other_boxes_are_errors() {
    check_with_override(|request| match request {
        Request::View(of) => {
            let mut of = of.clone();
            of.start.iter_mut().for_each(|start| *start -= 3);
            Some(Ok(Answer::View(View { of, step: 1, cells: vec![0; 7] })))
        }
        Request::Summary(_) => Some(Err("no".into())),
        _ => None,
    });
}

#[test]
fn views_of_other_axes_and_empty_summaries_are_errors() {
    check_with_override(|request| match request {
        Request::View(of) => {
            let of = ViewRequest { start: vec![0], end: vec![2], stride: vec![1], ..of.clone() };
            Some(Ok(Answer::View(View { of, step: u64::MAX, cells: vec![0xff; 8] })))
        }
        Request::Summary(of) => {
            let component = Component {
                count: u64::MAX,
                nans: u64::MAX,
                infinities: 0,
                extremes: Some((f64::NAN.into(), i128::MIN.into())),
                range: (i128::MIN.into(), i128::MAX.into()),
                bins: vec![u64::MAX; 3],
                outside: (u64::MAX, 1),
                percentiles: vec![f64::NAN.into(), f64::INFINITY.into()],
            };
            let components = vec![component];
            Some(Ok(Answer::Summary(Summary { array: of.array, numbers: 0, length: of.length, step: 0, components })))
        }
        _ => None,
    });
}

/// Integers that no type has.
#[test]
fn summaries_with_huge_integers_do_not_crash() {
    check_with_override(|request| match request {
        Request::Summary(of) => {
            let ends = (i128::MIN.into(), i128::MAX.into());
            let component = Component {
                count: 5,
                nans: 0,
                infinities: 0,
                extremes: Some(ends),
                range: ends,
                bins: vec![1; usize::from(of.bins)],
                outside: (0, 0),
                percentiles: of.percentiles.iter().map(|_| i128::MAX.into()).collect(),
            };
            let components = vec![component; 3];
            Some(Ok(Answer::Summary(Summary { array: of.array, numbers: 0, length: of.length, step: 0, components })))
        }
        _ => None,
    });
}

#[test]
fn invalid_ghosts_moves_and_times_do_not_crash() {
    check_with_override(|request| match request {
        Request::View(_) | Request::Summary(_) => Some(Err("it is not there".into())),
        Request::Ghosts(_) => {
            let side = |side: &[i8]| GhostEntry { chunk: u64::MAX, side: side.into(), state: GhostState::Stale };
            let other = GhostEntry { chunk: 0, ..side(&[127, -128, 5]) };
            Some(Ok(Answer::Ghosts(vec![side(&[]), side(&[1; 9]), other])))
        }
        Request::Moves => {
            let end = |array: u64, start: &[i64]| (Some(ArrayRef { rank: None, number: array }), 9, 9, start.to_vec());
            let entry = |start: &[i64], extents: &[i64]| MoveEntry {
                from: end(14, start),
                to: end(14, start),
                extents: extents.to_vec(),
                bytes: u64::MAX,
            };
            let moves = vec![entry(&[], &[]), entry(&[i64::MAX; 3], &[i64::MAX; 3]), entry(&[i64::MIN; 3], &[-1; 3])];
            let operation = "copy".into();
            Some(Ok(Answer::Moves(Moves { operation, moves, count: u64::MAX, bytes_local: 0, bytes_network: 1 })))
        }
        Request::Timeline(_) => {
            let span =
                |start, length| Span { kind: SpanKind::Wait, what: "x".into(), start, length, peer: Some(u32::MAX) };
            let spans = vec![span(u64::MAX, u64::MAX), span(5, 0), span(0, u64::MAX)];
            Some(Ok(Answer::Timeline(Timeline { until: u64::MAX, ranks: vec![spans, vec![]] })))
        }
        _ => None,
    });
}
