//! The control panel, breakpoints and recordings.

use egui_kittest::kittest::Queryable;
use zippy_debugger::session::State;
use zippy_protocol::{Control, Request, Rule, When};
use zippy_view::egui::Key;
use zippy_view::egui::accesskit::Role;

use super::*;

fn commands(asked: Vec<Request>) -> Vec<Request> {
    asked.into_iter().filter(|request| matches!(request, Request::Control(_) | Request::Rules(_))).collect()
}

#[test]
fn buttons_and_keys_send_commands() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    let cases = [
        ("Continue", Control::Continue),
        ("Step", Control::Step(1)),
        ("Steps", Control::Step(10)),
        ("Detach", Control::Detach),
    ];
    for (label, control) in cases {
        click(&mut harness, label);
        assert_eq!(commands(fake.take_requests()), [Request::Control(control)], "{label}");
    }
    for (key, control) in [(Key::F10, Control::Step(1)), (Key::F5, Control::Continue)] {
        harness.key_press(key);
        settle(&mut harness);
        assert_eq!(commands(fake.take_requests()), [Request::Control(control)]);
    }
    // A running program can be paused, and cannot be stepped.
    fake.state.borrow_mut().point.paused = false;
    fake.arrive(6, "before stream");
    settle(&mut harness);
    assert!(shows(&harness, "running"));
    click(&mut harness, "Step");
    harness.key_press(Key::F10);
    settle(&mut harness);
    assert_eq!(commands(fake.take_requests()), []);
    harness.key_press(Key::F6);
    settle(&mut harness);
    assert_eq!(commands(fake.take_requests()), [Request::Control(Control::Pause)]);
}

#[test]
fn stop_needs_confirmation() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    click(&mut harness, "Stop");
    click(&mut harness, "Keep it");
    assert_eq!(commands(fake.take_requests()), []);
    click(&mut harness, "Stop");
    click(&mut harness, "End it");
    assert_eq!(commands(fake.take_requests()), [Request::Control(Control::Stop)]);
}

#[test]
fn run_to_offers_past_debug_points() {
    let fake = program();
    let mut harness = window(&fake);
    fake.arrive(6, "before stream");
    settle(&mut harness);
    let _ = fake.take_requests();
    choose(&mut harness, "debug points seen so far", "after collide");
    click(&mut harness, "Run to");
    assert_eq!(commands(fake.take_requests()), [Request::Control(Control::RunTo("after collide".into()))]);
}

#[test]
fn breakpoints_are_sent_as_a_list() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.take_requests();
    click(&mut harness, "Add breakpoint");
    let always = Rule { name: None, when: When::Always };
    assert_eq!(commands(fake.take_requests()), [Request::Rules(vec![always.clone()])]);
    harness.get_by_role_and_label(Role::RadioButton, "if").click();
    settle(&mut harness);
    harness.get_by_label("debug point of the breakpoint").focus();
    settle(&mut harness);
    harness.get_by_label("debug point of the breakpoint").type_text("after collide");
    settle(&mut harness);
    harness.get_by_label("condition").focus();
    settle(&mut harness);
    harness.get_by_label("condition").type_text("nan(f) > 0");
    settle(&mut harness);
    click(&mut harness, "Add breakpoint");
    let condition = Rule { name: Some("after collide".into()), when: When::Condition("nan(f) > 0".into()) };
    assert_eq!(commands(fake.take_requests()), [Request::Rules(vec![always, condition.clone()])]);
    click(&mut harness, "remove breakpoint 1");
    assert_eq!(commands(fake.take_requests()), [Request::Rules(vec![condition.clone()])]);
    // A program that is found again receives the breakpoints again.
    fake.state.borrow_mut().state = State::Connecting("nobody listens".into());
    settle(&mut harness);
    assert!(shows(&harness, "nobody listens"));
    fake.state.borrow_mut().state = State::Open;
    settle(&mut harness);
    assert_eq!(commands(fake.take_requests()), [Request::Rules(vec![condition])]);
}

#[test]
fn refused_condition_is_reported() {
    let fake = program();
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::Rules(_) => Some(Err("there is no array `q`".into())),
        _ => None,
    };
    let mut harness = window(&fake);
    click(&mut harness, "Add breakpoint");
    assert!(shows(&harness, "breakpoints: there is no array `q`"));
}

#[test]
fn a_recording_has_a_slider() {
    let mut fake = program();
    fake.steps = vec![2, 5, 9, 40];
    let mut harness = window(&fake);
    assert!(harness.query_by_label("Stop").is_none(), "there is nothing to stop");
    harness.get_by_role_and_label(Role::Slider, "recorded step").set_value_accesskit(3.0);
    settle(&mut harness);
    assert_eq!(fake.state.borrow().point.step, 40);
    assert!(shows(&harness, "step 40"));
    click(&mut harness, "Back");
    assert_eq!(fake.state.borrow().point.step, 9);
}

#[test]
fn status_line_shows_debug_point() {
    let fake = program();
    fake.state.borrow_mut().point.reason = "max(abs(u)) > 0.3 is true".into();
    fake.arrive(6, "before stream");
    let mut harness = window(&fake);
    for text in ["flow", "2 ranks", "a software adapter", "paused", "step 6", "before stream", "main.rs:17", "is true"]
    {
        assert!(shows(&harness, text), "{text}");
    }
    fake.state.borrow_mut().state = State::Closed("the program has ended".into());
    settle(&mut harness);
    assert!(shows(&harness, "closed: the program has ended"));
    assert!(shows(&harness, "look at density"), "received data stays visible");
}
