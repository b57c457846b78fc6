//! Pointer, wheel and keys change the camera to values that were computed by hand.

use egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Ui, vec2};
use egui_kittest::Harness;
use zippy_render::volume::{Camera, Projection};
use zippy_view::{CameraControl, Picture};

/// A camera at distance 10 that points along y. z is up and x is to the right.
fn camera() -> Camera {
    Camera {
        position: [5.0, -10.0, 7.0],
        focal_point: [5.0, 0.0, 7.0],
        view_up: [0.0, 0.0, 1.0],
        projection: Projection::Perspective { vertical_fov_degrees: 90.0 },
    }
}

fn parallel_camera() -> Camera {
    Camera { projection: Projection::Parallel { half_height: 4.0 }, ..camera() }
}

struct CameraState {
    camera: Camera,
    changes: usize,
}

/// A picture of 400 x 200 points that fills its window.
fn harness(camera: Camera) -> Harness<'static, CameraState> {
    let control = CameraControl::new(camera.clone());
    let show = move |ui: &mut Ui, seen: &mut CameraState| {
        let (response, place) = Picture::default().show(ui, [0.0; 3]);
        seen.changes += usize::from(control.update(ui, &response, place, &mut seen.camera));
    };
    let seen = CameraState { camera, changes: 0 };
    let builder = Harness::builder().with_size(vec2(416.0, 216.0)).with_step_dt(0.02).with_max_steps(100);
    let mut harness = builder.build_ui_state(show, seen);
    harness.run();
    harness
}

/// Returns the centre of the picture and its height in points.
fn picture(harness: &Harness<'_, CameraState>) -> (Pos2, f32) {
    let rect = harness.ctx.content_rect();
    (rect.center(), rect.height() - 16.0)
}

fn drag(harness: &mut Harness<'_, CameraState>, button: PointerButton, modifiers: Modifiers, by: [f32; 2]) {
    let (start, height) = picture(harness);
    let end = start + vec2(by[0], by[1]) * height;
    harness.event(Event::ModifiersChanged(modifiers));
    harness.step();
    let event = |pressed, pos| Event::PointerButton { pos, button, pressed, modifiers };
    for event in [Event::PointerMoved(start), event(true, start), Event::PointerMoved(end), event(false, end)] {
        harness.event(event);
        harness.step();
    }
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    harness.run();
}

fn assert_near(found: [f64; 3], expected: [f64; 3]) {
    let near = (0..3).all(|axis| (found[axis] - expected[axis]).abs() < 1e-4);
    assert!(near, "{found:?}, expected {expected:?}");
}

#[test]
fn a_drag_turns_the_volume_with_the_pointer() {
    // Half of the height to the right is a quarter turn: the camera moves left, where x is small.
    let mut harness = harness(camera());
    drag(&mut harness, PointerButton::Primary, Modifiers::NONE, [0.5, 0.0]);
    let seen = harness.state();
    assert_near(seen.camera.position, [-5.0, 0.0, 7.0]);
    assert_near(seen.camera.view_up, [0.0, 0.0, 1.0]);
    assert_near(seen.camera.focal_point, [5.0, 0.0, 7.0]);
    assert_eq!(seen.changes, 1);
}

#[test]
fn a_drag_down_shows_the_top_and_passes_the_pole() {
    let mut harness = harness(camera());
    drag(&mut harness, PointerButton::Primary, Modifiers::NONE, [0.0, 0.25]);
    let half = 0.5_f64.sqrt();
    assert_near(harness.state().camera.position, [5.0, -10.0 * half, 7.0 + 10.0 * half]);
    assert_near(harness.state().camera.view_up, [0.0, half, half]);
    drag(&mut harness, PointerButton::Primary, Modifiers::NONE, [0.0, 0.5]);
    assert_near(harness.state().camera.position, [5.0, 10.0 * half, 7.0 + 10.0 * half]);
    assert_near(harness.state().camera.view_up, [0.0, half, -half]);
}

#[test]
fn other_buttons_and_shift_move_the_volume_with_the_pointer() {
    // At an angle of 90 degrees and a distance of 10, a picture height is 20.
    let cases = [
        (camera(), PointerButton::Secondary, Modifiers::NONE, 20.0),
        (camera(), PointerButton::Middle, Modifiers::NONE, 20.0),
        (camera(), PointerButton::Primary, Modifiers::SHIFT, 20.0),
        (parallel_camera(), PointerButton::Secondary, Modifiers::NONE, 8.0),
    ];
    for (camera, button, modifiers, height) in cases {
        let mut harness = harness(camera);
        drag(&mut harness, button, modifiers, [0.25, 0.4]);
        let seen = &harness.state().camera;
        assert_near(seen.position, [5.0 - 0.25 * height, -10.0, 7.0 + 0.4 * height]);
        assert_near(seen.focal_point, [5.0 - 0.25 * height, 0.0, 7.0 + 0.4 * height]);
        assert_near(seen.view_up, [0.0, 0.0, 1.0]);
    }
}

/// Turns the wheel by 200 ln 2 points, which doubles the scale.
fn zoom_to_double_scale(harness: &mut Harness<'_, CameraState>, aside: [f32; 2]) {
    let (middle, height) = picture(harness);
    harness.event(Event::PointerMoved(middle + vec2(aside[0], aside[1]) * height));
    harness.step();
    harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 200.0 * 2.0_f32.ln()),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    harness.run();
}

#[test]
fn the_wheel_zooms_about_the_pointer() {
    // The pointer is over (5 + 0.25 * 20, 0, 7 - 0.5 * 20), and the camera moves half of that
    // distance.
    let mut harness = harness(camera());
    zoom_to_double_scale(&mut harness, [0.25, 0.5]);
    assert_near(harness.state().camera.position, [7.5, -5.0, 2.0]);
    assert_near(harness.state().camera.focal_point, [7.5, 0.0, 2.0]);
    // Parallel projection: the pointer is over (5 + 0.25 * 8, 0, 7 - 0.5 * 8).
    let mut harness = self::harness(parallel_camera());
    zoom_to_double_scale(&mut harness, [0.25, 0.5]);
    assert_near(harness.state().camera.position, [6.0, -10.0, 5.0]);
    let Projection::Parallel { half_height } = harness.state().camera.projection else { panic!("another projection") };
    assert!((half_height - 2.0).abs() < 1e-4, "{half_height}");
}

#[test]
fn a_double_click_returns_to_the_first_camera() {
    let mut harness = harness(camera());
    drag(&mut harness, PointerButton::Primary, Modifiers::NONE, [0.3, 0.1]);
    assert_ne!(harness.state().camera, camera());
    let (middle, _) = picture(&harness);
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerMoved(middle));
        harness.event(Event::PointerButton { pos: middle, button, pressed, modifiers });
        harness.step();
    }
    harness.run();
    assert_eq!(harness.state().camera, camera());
}

#[test]
fn keys_turn_move_and_zoom_as_the_pointer() {
    let mut harness = harness(camera());
    harness.key_press(Key::Tab);
    harness.run();
    for _ in 0..18 {
        harness.key_press(Key::ArrowRight);
        harness.run();
    }
    // 18 times 5 degrees.
    assert_near(harness.state().camera.position, [-5.0, 0.0, 7.0]);
    harness.key_press(Key::Home);
    harness.run();
    assert_eq!(harness.state().camera, camera());
    harness.key_press(Key::Plus);
    harness.run();
    assert_near(harness.state().camera.position, [5.0, -10.0 / 1.1, 7.0]);
    harness.key_press(Key::Minus);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowUp);
    harness.run();
    // A twentieth of a height of 20: the volume moves up and the camera down.
    assert_near(harness.state().camera.position, [5.0, -10.0, 6.0]);
}

#[test]
fn seen_at_returns_position_on_the_picture() {
    let picture = egui::Rect::from_center_size(Pos2::new(200.0, 100.0), vec2(400.0, 200.0));
    let seen = |camera: &Camera, point| zippy_view::seen_at(camera, picture, point);
    // At a distance of 10, an angle of 90 degrees covers 20.
    assert_eq!(seen(&camera(), [5.0, 0.0, 7.0]), Some(Pos2::new(200.0, 100.0)));
    let near = |found: Option<Pos2>, x, y| found.is_some_and(|at| at.distance(Pos2::new(x, y)) < 1e-3);
    assert!(near(seen(&camera(), [10.0, 0.0, 12.0]), 250.0, 50.0));
    assert!(near(seen(&camera(), [10.0, 10.0, 7.0]), 225.0, 100.0), "twice as far away");
    assert!(near(seen(&parallel_camera(), [7.0, 10.0, 6.0]), 250.0, 125.0), "8 high, however far away");
    assert_eq!(seen(&camera(), [5.0, -11.0, 7.0]), None, "behind it");
}
