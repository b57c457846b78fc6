//! The control panel, breakpoints and recordings.

use egui_kittest::kittest::Queryable;
use zippy::debug::protocol::{Control, Request, Rule, When};
use zippy_debugger::session::State;
use zippy_view::egui::Key;
use zippy_view::egui::accesskit::Role;

use super::*;

/// Orders among what was asked for.
fn orders(asked: Vec<Request>) -> Vec<Request> {
    asked.into_iter().filter(|request| matches!(request, Request::Control(_) | Request::Rules(_))).collect()
}

#[test]
fn buttons_and_keys_send_what_they_say() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.asked();
    let cases = [
        ("Continue", Control::Continue),
        ("Step", Control::Step(1)),
        ("Steps", Control::Step(10)),
        ("Detach", Control::Detach),
    ];
    for (label, control) in cases {
        click(&mut harness, label);
        assert_eq!(orders(fake.asked()), [Request::Control(control)], "{label}");
    }
    for (key, control) in [(Key::F10, Control::Step(1)), (Key::F5, Control::Continue)] {
        harness.key_press(key);
        settle(&mut harness);
        assert_eq!(orders(fake.asked()), [Request::Control(control)]);
    }
    // It runs: it can be paused, and not be told to step.
    fake.inside.borrow_mut().point.paused = false;
    fake.arrive(6, "before stream");
    settle(&mut harness);
    assert!(sees(&harness, "running"));
    click(&mut harness, "Step");
    harness.key_press(Key::F10);
    settle(&mut harness);
    assert_eq!(orders(fake.asked()), []);
    harness.key_press(Key::F6);
    settle(&mut harness);
    assert_eq!(orders(fake.asked()), [Request::Control(Control::Pause)]);
}

#[test]
fn stop_asks_once_more() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.asked();
    click(&mut harness, "Stop");
    click(&mut harness, "Keep it");
    assert_eq!(orders(fake.asked()), []);
    click(&mut harness, "Stop");
    click(&mut harness, "End it");
    assert_eq!(orders(fake.asked()), [Request::Control(Control::Stop)]);
}

#[test]
fn it_runs_to_points_seen_so_far() {
    let fake = program();
    let mut harness = window(&fake);
    fake.arrive(6, "before stream");
    settle(&mut harness);
    let _ = fake.asked();
    choose(&mut harness, "debug points seen so far", "after collide");
    click(&mut harness, "Run to");
    assert_eq!(orders(fake.asked()), [Request::Control(Control::RunTo("after collide".into()))]);
}

#[test]
fn breakpoints_are_sent_as_a_list() {
    let fake = program();
    let mut harness = window(&fake);
    let _ = fake.asked();
    click(&mut harness, "Add breakpoint");
    let always = Rule { name: None, when: When::Always };
    assert_eq!(orders(fake.asked()), [Request::Rules(vec![always.clone()])]);
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
    assert_eq!(orders(fake.asked()), [Request::Rules(vec![always, condition.clone()])]);
    click(&mut harness, "remove breakpoint 1");
    assert_eq!(orders(fake.asked()), [Request::Rules(vec![condition.clone()])]);
    // A program that is found again is told them again.
    fake.inside.borrow_mut().state = State::Connecting("nobody listens".into());
    settle(&mut harness);
    assert!(sees(&harness, "nobody listens"));
    fake.inside.borrow_mut().state = State::Open;
    settle(&mut harness);
    assert_eq!(orders(fake.asked()), [Request::Rules(vec![condition])]);
}

#[test]
fn a_refused_condition_is_said() {
    let fake = program();
    fake.inside.borrow_mut().instead = |request| match request {
        Request::Rules(_) => Some(Err("there is no array `q`".into())),
        _ => None,
    };
    let mut harness = window(&fake);
    click(&mut harness, "Add breakpoint");
    assert!(sees(&harness, "breakpoints: there is no array `q`"));
}

#[test]
fn a_recording_has_a_slider() {
    let mut fake = program();
    fake.steps = vec![2, 5, 9, 40];
    let mut harness = window(&fake);
    assert!(harness.query_by_label("Stop").is_none(), "there is nothing to stop");
    harness.get_by_role_and_label(Role::Slider, "recorded step").set_value_accesskit(3.0);
    settle(&mut harness);
    assert_eq!(fake.inside.borrow().point.step, 40);
    assert!(sees(&harness, "step 40"));
    click(&mut harness, "Back");
    assert_eq!(fake.inside.borrow().point.step, 9);
}

#[test]
fn the_status_line_tells_where_it_is() {
    let fake = program();
    fake.inside.borrow_mut().point.reason = "max(abs(u)) > 0.3 is true".into();
    fake.arrive(6, "before stream");
    let mut harness = window(&fake);
    for text in ["flow", "2 ranks", "a software adapter", "paused", "step 6", "before stream", "main.rs:17", "is true"]
    {
        assert!(sees(&harness, text), "{text}");
    }
    fake.inside.borrow_mut().state = State::Closed("the program has ended".into());
    settle(&mut harness);
    assert!(sees(&harness, "closed: the program has ended"));
    assert!(sees(&harness, "look at density"), "what was told is still there");
}
