//! Requests of the window: which, how often, and when again.

use std::time::Duration;

use egui_kittest::kittest::Queryable;
use zippy_debugger::session::State;
use zippy_protocol::{Answer, Message, Request};

use super::*;

#[test]
fn each_request_is_sent_once_per_step() {
    let fake = program();
    let mut harness = window(&fake);
    let asked = fake.take_requests();
    let count = |asked: &[Request], which: &Request| asked.iter().filter(|request| *request == which).count();
    assert_eq!(count(&asked, &Request::Arrays), 1);
    let slice = last_view(asked.clone());
    assert_eq!(count(&asked, &Request::View(slice.clone())), 1);
    settle(&mut harness);
    assert_eq!(fake.take_requests(), [], "nothing new has happened");
    fake.arrive(6, "after collide");
    settle(&mut harness);
    let asked = fake.take_requests();
    assert_eq!(count(&asked, &Request::Arrays), 1);
    assert_eq!(count(&asked, &Request::View(slice)), 1);
}

#[test]
fn pending_requests_are_limited_and_late_answers_dropped() {
    let fake = program();
    fake.state.borrow_mut().silent = true;
    let mut harness = window(&fake);
    let list = Answer::Arrays(fake.state.borrow().arrays.clone());
    assert_eq!(fake.take_requests(), [Request::Arrays]);
    fake.state.borrow_mut().messages.push_back(Message::Answer(1, Ok(list)));
    settle(&mut harness);
    for row in 0..30 {
        let plane = f64::from(row % 8);
        harness.get_by_label("index along z").set_value_accesskit(plane);
        harness.run();
    }
    let asked = fake.take_requests();
    assert_eq!(asked.len(), 4, "{asked:?}");
    // Answers to the first requests arrive late: the current requests are sent then.
    let told: Vec<Message> = (2..=5).map(|id| Message::Answer(id, Err("late".into()))).collect();
    fake.state.borrow_mut().messages.extend(told);
    settle(&mut harness);
    let asked = fake.take_requests();
    assert_eq!(last_view(asked).start[2], 5);
}

#[test]
fn answer_to_another_request_is_an_error() {
    let fake = program();
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::View(_) => Some(Ok(Answer::Done)),
        _ => None,
    };
    let mut harness = window(&fake);
    settle(&mut harness);
    let views = views(fake.take_requests());
    assert_eq!(views.len(), 1, "it is not asked for again: {views:?}");
}

/// Time until the next repaint of the window.
fn repaint_delay(harness: &Window) -> Duration {
    let shown = &harness.output().viewport_output;
    shown.values().map(|viewport| viewport.repaint_delay).min().unwrap_or(Duration::MAX)
}

#[test]
fn window_does_not_repaint_without_messages() {
    let fake = program();
    let mut harness = window(&fake);
    for tab in ["Breakpoints", "History", "Compare", "Moves", "Timeline"] {
        click(&mut harness, tab);
        harness.remove_cursor();
        settle(&mut harness);
        assert_eq!(repaint_delay(&harness), Duration::MAX, "{tab}");
    }
    let _ = fake.take_requests();
    fake.arrive(6, "after collide");
    assert!(harness.ctx.has_requested_repaint(), "it is woken");
    settle(&mut harness);
    assert!(fake.take_requests().contains(&Request::Arrays) && shows(&harness, "step 6"));
    assert_eq!(repaint_delay(&harness), Duration::MAX);
}

#[test]
fn missing_data_after_the_end_is_reported() {
    let fake = program();
    let mut harness = window(&fake);
    let how = "the program has ended: it has returned; the next run at here is looked for";
    fake.state.borrow_mut().send(Message::End("it has returned".into()));
    settle(&mut harness);
    fake.state.borrow_mut().state = State::Closed(how.into());
    settle(&mut harness);
    let _ = fake.take_requests();
    for tab in ["Moves", "Timeline"] {
        click(&mut harness, tab);
        assert!(shows(&harness, "it was not requested before the program ended"), "{tab}");
        assert!(!shows(&harness, "loading"), "{tab}");
    }
    click(&mut harness, "Breakpoints");
    assert_eq!(harness.query_all_by_label_contains("it has returned").count(), 1, "it is said once");
    assert_eq!(fake.take_requests(), [], "there is no connection");
}
