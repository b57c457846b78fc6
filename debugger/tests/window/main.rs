//! The viewer's window with a program of the test: displays and requests.

mod array_list;
mod cells;
mod colours;
mod control;
mod fake;
mod hostile;
mod pictures;
mod real_window;
mod recording_comparison;
mod requests;
mod saving;
mod tabs;
mod volume;

use std::time::Duration;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use fake::{Fake, array};
use zippy_debugger::app::App;
use zippy_protocol::{Request, ViewRequest};
use zippy_view::egui::accesskit::Role;
use zippy_view::egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};

type Window = Harness<'static, App>;

fn window(fake: &Fake) -> Window {
    window_of(fake, [1440.0, 900.0])
}

/// Opens a window of `size` points on a program.
fn window_of(fake: &Fake, size: [f32; 2]) -> Window {
    let app = App::new(Box::new(fake.clone()));
    let builder = Harness::builder().with_size(size).with_step_dt(0.05).with_max_steps(20);
    let mut harness = builder.build_ui_state(|ui, app: &mut App| app.show(ui), app);
    settle(&mut harness);
    harness
}

/// Runs frames until pending answers are shown.
fn settle(harness: &mut Window) {
    for _ in 0..6 {
        harness.run();
    }
}

/// A program with two three-dimensional arrays, a vector field and a line.
fn program() -> Fake {
    Fake::new(vec![
        array(0, "density", &[12, 10, 8], 1),
        array(1, "velocity", &[12, 10, 8], 3),
        array(2, "profile", &[20], 1),
        array(3, "next density", &[12, 10, 8], 1),
    ])
}

/// Returns the views among requests.
fn views(asked: Vec<Request>) -> Vec<ViewRequest> {
    let view = |request| match request {
        Request::View(of) => Some(of),
        _ => None,
    };
    asked.into_iter().filter_map(view).collect()
}

/// Returns the last view of more than a cell.
fn last_view(asked: Vec<Request>) -> ViewRequest {
    let mut slices =
        views(asked).into_iter().filter(|of| of.extents().is_some_and(|extents| extents.iter().any(|n| *n > 1)));
    slices.next_back().expect("a view was asked for")
}

fn press(harness: &mut Window, button: PointerButton, at: Pos2) {
    let event = |pressed| Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE };
    for event in [Event::PointerMoved(at), event(true), event(false)] {
        harness.event(event);
        harness.step();
    }
    settle(harness);
}

fn click(harness: &mut Window, label: &str) {
    harness.get_by_label(label).click();
    settle(harness);
}

/// Waits for a text that depends on another thread.
fn wait_for(harness: &mut Window, text: &str) {
    for _ in 0..4000 {
        if shows(harness, text) {
            return;
        }
        harness.step();
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{text} is not visible");
}

fn retype(harness: &mut Window, field: &str, text: &str) {
    harness.get_by_label(field).focus();
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run();
    harness.get_by_label(field).type_text(text);
    harness.run();
}

/// Returns true if a text is visible.
fn shows(harness: &Window, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// Selects an entry of a selection list.
fn choose(harness: &mut Window, list: &str, entry: &str) {
    harness.get_by_role_and_label(Role::ComboBox, list).click();
    settle(harness);
    harness.get_by_role_and_label(Role::Button, entry).click();
    settle(harness);
}
