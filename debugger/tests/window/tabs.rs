//! What is seen below: comparisons, moves, the timeline.

use zippy::debug::protocol::{Answer, ArrayRef, Request, View};

use super::*;

const DENSITY: ArrayRef = ArrayRef { rank: None, number: 0 };
const NEXT: ArrayRef = ArrayRef { rank: None, number: 3 };

#[test]
fn two_arrays_are_compared_whole_and_where_they_are_seen() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    let _ = fake.asked();
    choose(&mut harness, "compare with", "next density");
    let asked = fake.asked();
    assert!(asked.contains(&Request::Compare(DENSITY, NEXT)), "{asked:?}");
    let boxes: Vec<_> = views(asked).into_iter().filter(|of| of.array == NEXT).map(|of| of.start).collect();
    assert_eq!(boxes, [[0, 0, 4]]);
    assert!(sees(&harness, "7 cells differ in all, the first at (3, 2, 6)"));
    assert!(sees(&harness, "0 cells differ of those seen"));
    click(&mut harness, "Go to the first");
    assert_eq!(last_view(fake.asked()).start[2], 6);
    // One of them is of another step.
    fake.inside.borrow_mut().instead = |request| match request {
        Request::View(of) if of.array == NEXT => {
            let cells = vec![0; of.bytes(4).unwrap()];
            Some(Ok(Answer::View(View { of: of.clone(), step: 5, cells })))
        }
        _ => None,
    };
    fake.arrive(6, "after collide");
    settle(&mut harness);
    assert!(sees(&harness, "asking") && !sees(&harness, "cells differ of those seen"));
}

#[test]
fn a_step_is_kept_and_compared_with_later_ones() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    click(&mut harness, "Keep this step");
    assert!(sees(&harness, "0 cells differ of those seen"));
    fake.arrive(6, "after collide");
    settle(&mut harness);
    assert!(sees(&harness, "step 6 less step 5"));
    // Every value is 2¹⁸ more.
    assert!(sees(&harness, "120 cells differ of those seen"));
    assert!(sees(&harness, "largest: 262144"));
}

#[test]
fn moves_are_listed_with_their_bytes() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "Moves");
    assert!(fake.asked().contains(&Request::Moves));
    for text in ["ghosts of density", "320 B between ranks", "rank 0: density(5, 0, 0) of chunk 0", "1 × 10 × 8"] {
        assert!(sees(&harness, text), "{text}");
    }
}

#[test]
fn the_timeline_asks_for_what_came_to_it() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.asked();
    click(&mut harness, "Timeline");
    assert!(fake.asked().contains(&Request::Timeline(0)));
    assert!(sees(&harness, "timeline of 2 ranks"));
    settle(&mut harness);
    assert_eq!(fake.asked(), [], "it is not asked for again in the same step");
    fake.arrive(6, "after collide");
    settle(&mut harness);
    let asked = fake.asked();
    assert!(asked.contains(&Request::Timeline(20_000)), "{asked:?}");
    click(&mut harness, "all");
    let plot = harness.get_by_label("timeline of 2 ranks").rect();
    // The first kernel of rank 1 is 600 of 20000 microseconds long.
    let width = plot.width() - 64.0;
    harness.hover_at(plot.min + zippy_view::egui::vec2(64.0 + width * 0.01, 20.0 + 24.0 + 12.0));
    settle(&mut harness);
    assert!(sees(&harness, "rank 1: kernel, collide, 600 µs, from 0 µs on"));
}
