//! The tabs: comparisons, moves and the timeline.

use zippy_protocol::{Answer, ArrayRef, Request, View};

use super::*;

const DENSITY: ArrayRef = ArrayRef { rank: None, number: 0 };
const NEXT: ArrayRef = ArrayRef { rank: None, number: 3 };

#[test]
fn two_arrays_are_compared_as_a_whole_and_in_the_slice() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    let _ = fake.take_requests();
    choose(&mut harness, "compare with", "next density");
    let asked = fake.take_requests();
    assert!(asked.contains(&Request::Compare(DENSITY, NEXT)), "{asked:?}");
    let boxes: Vec<_> = views(asked).into_iter().filter(|of| of.array == NEXT).map(|of| of.start).collect();
    assert_eq!(boxes, [[0, 0, 4]]);
    assert!(shows(&harness, "7 cells differ in all, the first at (3, 2, 6)"));
    assert!(shows(&harness, "0 cells differ of those seen"));
    click(&mut harness, "Go to the first");
    assert_eq!(last_view(fake.take_requests()).start[2], 6);
    // One of the views is of another step.
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::View(of) if of.array == NEXT => {
            let cells = vec![0; of.bytes(4).unwrap()];
            Some(Ok(Answer::View(View { of: of.clone(), step: 5, cells })))
        }
        _ => None,
    };
    fake.arrive(6, "after collide");
    settle(&mut harness);
    assert!(shows(&harness, "loading") && !shows(&harness, "cells differ of those seen"));
}

#[test]
fn a_step_is_kept_and_compared_with_later_ones() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    click(&mut harness, "Keep this step");
    assert!(shows(&harness, "0 cells differ of those seen"));
    fake.arrive(6, "after collide");
    settle(&mut harness);
    assert!(shows(&harness, "step 6 less step 5"));
    // Every value is 2¹⁸ more.
    assert!(shows(&harness, "120 cells differ of those seen"));
    assert!(shows(&harness, "largest: 262144"));
}

#[test]
fn moves_are_listed_with_their_bytes() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Moves");
    assert!(fake.take_requests().contains(&Request::Moves));
    for text in ["ghosts of density", "320 B between ranks", "rank 0: density(5, 0, 0) of chunk 0", "1 × 10 × 8"] {
        assert!(shows(&harness, text), "{text}");
    }
}

#[test]
fn timeline_requests_new_spans_only() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    click(&mut harness, "Timeline");
    assert!(fake.take_requests().contains(&Request::Timeline(0)));
    assert!(shows(&harness, "timeline of 2 ranks"));
    settle(&mut harness);
    assert_eq!(fake.take_requests(), [], "it is not requested again in the same step");
    fake.arrive(6, "after collide");
    settle(&mut harness);
    let asked = fake.take_requests();
    assert!(asked.contains(&Request::Timeline(20_000)), "{asked:?}");
    click(&mut harness, "all");
    let plot = harness.get_by_label("timeline of 2 ranks").rect();
    // The first kernel of rank 1 covers 600 of 20000 microseconds.
    let width = plot.width() - 64.0;
    harness.hover_at(plot.min + zippy_view::egui::vec2(64.0 + width * 0.01, 20.0 + 24.0 + 12.0));
    settle(&mut harness);
    assert!(shows(&harness, "rank 1: kernel, collide, 600 µs, from 0 µs on"));
}
