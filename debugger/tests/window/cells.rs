//! Display of cells, and the requests for it.

use egui_kittest::kittest::Queryable;
use zippy_protocol::{ArrayRef, Request, ViewRequest};
use zippy_view::egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, TouchPhase, vec2};

use super::*;

fn request(start: [i64; 3], end: [i64; 3]) -> ViewRequest {
    ViewRequest {
        array: ArrayRef { rank: None, number: 0 },
        chunk: None,
        start: start.into(),
        end: end.into(),
        stride: vec![1; 3],
        numbers: Some(0),
    }
}

#[test]
fn slider_of_an_axis_requests_its_plane() {
    let fake = program();
    let mut harness = window(&fake);
    assert_eq!(last_view(fake.take_requests()), request([0, 0, 4], [12, 10, 5]));
    harness.get_by_label("index along z").set_value_accesskit(6.0);
    settle(&mut harness);
    assert_eq!(last_view(fake.take_requests()), request([0, 0, 6], [12, 10, 7]));
    choose(&mut harness, "up", "z");
    assert_eq!(last_view(fake.take_requests()), request([0, 5, 0], [12, 6, 8]));
}

#[test]
fn a_click_pins_the_cell_under_the_pointer() {
    let fake = program();
    let mut harness = window(&fake);
    let area = harness.get_by_label("slice of density").rect();
    // The plane is 12 × 10 cells with a margin of 12 points around it.
    let cell = ((area.width() - 24.0) / 12.0).min((area.height() - 24.0) / 10.0);
    let at = |x: f32, y: f32| area.center() + vec2((x + 0.5 - 6.0) * cell, (5.0 - y - 0.5) * cell);
    harness.hover_at(at(7.0, 8.0));
    settle(&mut harness);
    assert_eq!(
        views(fake.take_requests()).last().map(|of| (of.start.clone(), of.numbers)),
        Some((vec![7, 8, 4], None))
    );
    // 7 + 64 × 8 + 4096 × 4 + 5 × 2¹⁸ = 1327623; of the second chunk.
    for text in ["(7, 8, 4) of density", "1327623.0", "0x49a21038", "rank 1, chunk 1", "(1, 8, 4)"] {
        assert!(shows(&harness, text), "{text}");
    }
    press(&mut harness, PointerButton::Primary, at(2.0, 3.0));
    assert!(shows(&harness, "density(2, 3, 4)"));
    click(&mut harness, "History");
    assert!(shows(&harness, "history of 1 pinned cells"));
    fake.arrive(6, "after collide");
    settle(&mut harness);
    // 2 + 64 × 3 + 4096 × 4 + 6 × 2¹⁸.
    assert!(shows(&harness, "1589442.0"), "the pin follows the steps");
    harness.get_by_label("unpin density(2, 3, 4)").scroll_to_me();
    settle(&mut harness);
    click(&mut harness, "unpin density(2, 3, 4)");
    assert!(!shows(&harness, "density(2, 3, 4)"));
}

#[test]
fn keys_select_and_pin_cells() {
    let fake = program();
    let mut harness = window(&fake);
    harness.get_by_label("slice of density").focus();
    settle(&mut harness);
    // From the middle, cell (6, 4) or (6, 5), two cells to the left and far up.
    for _ in 0..2 {
        harness.key_press(Key::ArrowLeft);
        harness.run();
    }
    for _ in 0..12 {
        harness.key_press(Key::ArrowUp);
        harness.run();
    }
    settle(&mut harness);
    assert!(shows(&harness, "(4, 9, 4) of density"));
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(shows(&harness, "density(4, 9, 4)"));
}

#[test]
fn zoom_requests_fewer_cells_and_double_click_fits() {
    let fake = Fake::new(vec![array(0, "wide", &[256, 200], 1)]);
    let mut harness = window(&fake);
    let whole = last_view(fake.take_requests());
    assert_eq!((whole.start.clone(), whole.end.clone()), (vec![0, 0], vec![256, 200]));
    let middle = harness.get_by_label("slice of wide").rect().center();
    harness.hover_at(middle);
    harness.step();
    harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 200.0 * 8.0_f32.ln()),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    for _ in 0..60 {
        harness.step();
    }
    settle(&mut harness);
    let near = last_view(fake.take_requests());
    assert!(near.start[0] >= 64 && near.end[0] <= 192 && near.end[0] > 128, "{near:?}");
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: middle, button, pressed, modifiers });
        harness.step();
    }
    settle(&mut harness);
    let before = fake.take_requests();
    fake.arrive(6, "after collide");
    settle(&mut harness);
    assert_eq!(last_view(fake.take_requests()), whole, "after {before:?}");
}

#[test]
fn each_mode_requests_its_cells() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    click(&mut harness, "mosaic");
    assert_eq!(last_view(fake.take_requests()), request([0, 0, 0], [12, 10, 8]));
    assert!(shows(&harness, "8 slices of density"));
    click(&mut harness, "three planes");
    let mut planes: Vec<ViewRequest> = views(fake.take_requests());
    planes.retain(|of| of.extents().is_some_and(|extents| extents.iter().product::<i64>() > 1));
    planes.sort_by_key(|of| of.start.clone());
    // The first plane is the previous slice.
    assert!(planes.contains(&request([0, 5, 0], [12, 6, 8])), "{planes:?}");
    assert!(planes.contains(&request([6, 0, 0], [7, 10, 8])), "{planes:?}");
    click(&mut harness, "line");
    assert_eq!(last_view(fake.take_requests()), request([0, 5, 4], [12, 6, 5]));
    assert!(shows(&harness, "line of density along x"));
    click(&mut harness, "numbers");
    // (3, 1, 4) has 3 + 64 + 4096 × 4 + 5 × 2¹⁸.
    assert!(shows(&harness, "(3, 1, 4) 1327171.0"));
}

#[test]
fn components_of_vectors_are_selected() {
    let fake = program();
    let mut harness = window(&fake);
    click(&mut harness, "look at velocity");
    click(&mut harness, "numbers");
    choose(&mut harness, "shows", "z");
    // The third component is 1 more than the first.
    assert!(shows(&harness, "(3, 1, 4) 1327172.0"));
}

#[test]
fn a_chunk_is_shown_with_its_ghost_cells() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    click(&mut harness, "one chunk with its ghost cells");
    let with_ghosts = ViewRequest { chunk: Some(0), ..request([-1, -1, 4], [7, 11, 5]) };
    assert_eq!(last_view(fake.take_requests()), with_ghosts);
    // Planes of ghost cells are outside of the array.
    harness.get_by_label("index along z").set_value_accesskit(-1.0);
    settle(&mut harness);
    assert_eq!(last_view(fake.take_requests()), ViewRequest { chunk: Some(0), ..request([-1, -1, -1], [7, 11, 0]) });
    click(&mut harness, "ghost cells that are not fresh");
    assert!(fake.take_requests().contains(&Request::Ghosts(ArrayRef { rank: None, number: 0 })));
}
