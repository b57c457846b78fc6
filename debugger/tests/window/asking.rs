//! What is asked for, how often, and when again.

use std::time::Duration;

use egui_kittest::kittest::Queryable;
use zippy::debug::protocol::{Answer, Message, Request};
use zippy_debugger::session::State;

use super::*;

#[test]
fn what_is_there_is_asked_for_once_a_step() {
    let fake = program();
    let mut harness = window(&fake);
    let asked = fake.asked();
    let count = |asked: &[Request], which: &Request| asked.iter().filter(|request| *request == which).count();
    assert_eq!(count(&asked, &Request::Arrays), 1);
    let slice = last_view(asked.clone());
    assert_eq!(count(&asked, &Request::View(slice.clone())), 1);
    settle(&mut harness);
    assert_eq!(fake.asked(), [], "nothing new has happened");
    fake.arrive(6, "after collide");
    settle(&mut harness);
    let asked = fake.asked();
    assert_eq!(count(&asked, &Request::Arrays), 1);
    assert_eq!(count(&asked, &Request::View(slice)), 1);
}

#[test]
fn few_asks_are_under_way_and_late_answers_are_dropped() {
    let fake = program();
    fake.inside.borrow_mut().silent = true;
    let mut harness = window(&fake);
    let list = Answer::Arrays(fake.inside.borrow().arrays.clone());
    assert_eq!(fake.asked(), [Request::Arrays]);
    fake.inside.borrow_mut().told.push_back(Message::Answer(1, Ok(list)));
    settle(&mut harness);
    for row in 0..30 {
        let plane = f64::from(row % 8);
        harness.get_by_label("index along z").set_value_accesskit(plane);
        harness.run();
    }
    let asked = fake.asked();
    assert_eq!(asked.len(), 4, "{asked:?}");
    // Answers to the first ones come late: what is wanted now is asked for then.
    let told: Vec<Message> = (2..=5).map(|id| Message::Answer(id, Err("late".into()))).collect();
    fake.inside.borrow_mut().told.extend(told);
    settle(&mut harness);
    let asked = fake.asked();
    assert_eq!(last_view(asked).start[2], 5);
}

#[test]
fn an_answer_to_something_else_is_an_error() {
    let fake = program();
    fake.inside.borrow_mut().instead = |request| match request {
        Request::View(_) => Some(Ok(Answer::Done)),
        _ => None,
    };
    let mut harness = window(&fake);
    settle(&mut harness);
    let views = views(fake.asked());
    assert_eq!(views.len(), 1, "it is not asked for again: {views:?}");
}

/// After how long the window is to be drawn again.
fn delay(harness: &Window) -> Duration {
    let shown = &harness.output().viewport_output;
    shown.values().map(|viewport| viewport.repaint_delay).min().unwrap_or(Duration::MAX)
}

#[test]
fn window_rests_until_something_is_said() {
    let fake = program();
    let mut harness = window(&fake);
    for tab in ["Breakpoints", "History", "Compare", "Moves", "Timeline"] {
        click(&mut harness, tab);
        harness.remove_cursor();
        settle(&mut harness);
        assert_eq!(delay(&harness), Duration::MAX, "{tab}");
    }
    let _ = fake.asked();
    fake.arrive(6, "after collide");
    assert!(harness.ctx.has_requested_repaint(), "it is woken");
    settle(&mut harness);
    assert!(fake.asked().contains(&Request::Arrays) && sees(&harness, "step 6"));
    assert_eq!(delay(&harness), Duration::MAX);
}

#[test]
fn what_was_not_asked_for_before_the_end_is_said_to_be_gone() {
    let fake = program();
    let mut harness = window(&fake);
    let how = "the program has ended: it has returned; the next run at here is looked for";
    fake.inside.borrow_mut().tell(Message::End("it has returned".into()));
    settle(&mut harness);
    fake.inside.borrow_mut().state = State::Closed(how.into());
    settle(&mut harness);
    let _ = fake.asked();
    for tab in ["Moves", "Timeline"] {
        click(&mut harness, tab);
        assert!(sees(&harness, "it was not asked for before the program ended"), "{tab}");
        assert!(!sees(&harness, "asking"), "{tab}");
    }
    click(&mut harness, "Breakpoints");
    assert_eq!(harness.query_all_by_label_contains("it has returned").count(), 1, "it is said once");
    assert_eq!(fake.asked(), [], "there is nobody to ask");
}
