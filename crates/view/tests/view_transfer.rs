//! Points of a transfer function are added, dragged, typed and removed.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use zippy_render::volume::{Distribution, TransferFunction};
use zippy_view::TransferEditor;

fn function() -> TransferFunction {
    TransferFunction {
        opacity: vec![[0.0, 0.0], [100.0, 0.25], [200.0, 1.0]],
        colour: vec![[0.0, 0.0, 0.0, 1.0], [200.0, 1.0, 0.0, 0.0]],
        unit_distance: 1.0,
    }
}

struct EditorState {
    function: TransferFunction,
    changes: usize,
}

fn harness() -> Harness<'static, EditorState> {
    let mut editor = TransferEditor::new(Distribution { min: 0.0, max: 200.0, counts: vec![1000, 10, 0, 3] });
    let show = move |ui: &mut Ui, edited: &mut EditorState| {
        edited.changes += usize::from(editor.show(ui, &mut edited.function));
    };
    let edited = EditorState { function: function(), changes: 0 };
    let mut harness = Harness::builder().with_size(vec2(420.0, 320.0)).build_ui_state(show, edited);
    harness.run();
    harness
}

fn plot(harness: &Harness<'_, EditorState>) -> Rect {
    harness.get_by_label("opacities; click to add a point").rect()
}

/// Screen position of a value and an opacity; opacities are drawn by their square roots.
fn plot_position(harness: &Harness<'_, EditorState>, value: f32, opacity: f32) -> Pos2 {
    let plot = plot(harness);
    plot.left_bottom() + vec2(value / 200.0 * plot.width(), -opacity.sqrt() * plot.height())
}

fn press(harness: &mut Harness<'_, EditorState>, button: PointerButton, from: Pos2, to: Pos2) {
    let event = |pressed, pos| Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE };
    for event in [Event::PointerMoved(from), event(true, from), Event::PointerMoved(to), event(false, to)] {
        harness.event(event);
        harness.step();
    }
    harness.run();
}

fn assert_near(found: &[[f64; 2]], expected: &[[f64; 2]]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    let near = |(a, b): (&[f64; 2], &[f64; 2])| (a[0] - b[0]).abs() < 1e-3 && (a[1] - b[1]).abs() < 1e-5;
    assert!(found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
}

#[test]
fn a_dragged_point_moves_and_stays_between_its_neighbours() {
    let mut harness = harness();
    let (from, to) = (plot_position(&harness, 100.0, 0.25), plot_position(&harness, 150.0, 0.04));
    press(&mut harness, PointerButton::Primary, from, to);
    assert_near(&harness.state().function.opacity, &[[0.0, 0.0], [150.0, 0.04], [200.0, 1.0]]);
    let beyond = plot_position(&harness, 200.0, 0.09) + vec2(30.0, 0.0);
    press(&mut harness, PointerButton::Primary, to, beyond);
    assert_near(&harness.state().function.opacity, &[[0.0, 0.0], [200.0, 0.09], [200.0, 1.0]]);
    assert_eq!(harness.state().function.colour, function().colour);
    assert_eq!(harness.state().changes, 2);
}

#[test]
fn a_click_adds_a_point_and_a_right_click_removes_one() {
    let mut harness = harness();
    let at = plot_position(&harness, 50.0, 0.64);
    press(&mut harness, PointerButton::Primary, at, at);
    assert_near(&harness.state().function.opacity, &[[0.0, 0.0], [50.0, 0.64], [100.0, 0.25], [200.0, 1.0]]);
    let at = plot_position(&harness, 100.0, 0.25);
    press(&mut harness, PointerButton::Secondary, at, at);
    assert_near(&harness.state().function.opacity, &[[0.0, 0.0], [50.0, 0.64], [200.0, 1.0]]);
}

#[test]
fn added_colour_points_keep_the_colour_and_move() {
    let mut harness = harness();
    let strip = harness.get_by_label("colours; click to add a point").rect();
    let at = strip.left_center() + vec2(strip.width() / 4.0, 0.0);
    press(&mut harness, PointerButton::Primary, at, at);
    let added = harness.state().function.colour[1];
    let expected = [50.0, 0.25, 0.0, 0.75];
    assert!(added.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{added:?}");
    let from = harness.get_by_label_contains("colour point 2").rect().center();
    press(&mut harness, PointerButton::Primary, from, from + vec2(strip.width() / 4.0, 5.0));
    let moved = harness.state().function.colour[1];
    assert!((moved[0] - 100.0).abs() < 1e-3 && moved[1..] == added[1..], "{moved:?}");
    assert_eq!(harness.state().function.opacity, function().opacity);
}

#[test]
fn the_keyboard_reaches_moves_and_removes_points() {
    let mut harness = harness();
    harness.get_by_label_contains("opacity point 2").focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    let moved = harness.state().function.opacity[1];
    // A fiftieth of the plot.
    assert!((moved[0] - 104.0).abs() < 1e-3 && (moved[1] - 0.25).abs() < 1e-5, "{moved:?}");
    harness.key_press(Key::Delete);
    harness.run();
    assert_eq!(harness.state().function.opacity, [[0.0, 0.0], [200.0, 1.0]]);
}

#[test]
fn function_stays_valid_after_many_actions() {
    let mut harness = harness();
    let places = [(0.0, 0.0), (200.0, 1.0), (30.0, 0.3), (30.0, 0.31), (199.0, 0.0), (7.0, 0.9), (100.0, 0.25)];
    for (number, &(value, opacity)) in places.iter().enumerate() {
        let from = plot_position(&harness, value, opacity);
        let to = plot_position(&harness, 220.0 - value, 1.1 - opacity) + vec2(number as f32 * 9.0 - 30.0, 20.0);
        press(&mut harness, PointerButton::Primary, from, from);
        press(&mut harness, PointerButton::Primary, from, to);
        press(&mut harness, PointerButton::Secondary, to, to);
        assert_eq!(harness.state().function.check(), Ok(()));
    }
}
