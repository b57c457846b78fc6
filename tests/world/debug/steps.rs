//! Pauses, steps and rules of viewers.

use zippy::debug::Settings;
use zippy::{Config, Layout, Result, Split, World};
use zippy_protocol::{Answer, Control, Request, Rule, When};

use super::client::{Client, watched, watched_once};
use crate::support::launcher;

const COUNTS: &[usize] = &[1, 3];

/// Program of six steps with two debug points each; `a` has the number of the step.
fn program(world: &World) -> Result<()> {
    let a = world.array::<i32, 1>("a", &Layout::new([7]).split([Split::Even(world.size())]))?;
    for step in 1..=6 {
        world.debug_point("before")?;
        a.fill(step)?;
        world.debug_point("after")?;
    }
    Ok(())
}

fn rule(name: Option<&str>, when: When) -> Rule {
    Rule { name: name.map(str::to_string), when }
}

#[test]
fn step_requests_pause_program_at_debug_points() {
    watched(COUNTS, &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        assert!(viewer.program.ranks >= 1 && viewer.program.adapters.len() == 1);
        let point = viewer.paused();
        assert_eq!((point.step, &*point.name, &*point.reason), (1, "before", ""));
        assert!(point.file.ends_with("steps.rs") && point.line > 10, "{point:?}");
        let points: Vec<_> = [1, 1, 3, 0].map(|steps| viewer.go(Control::Step(steps)).step).into();
        assert_eq!(points, [2, 3, 6, 7]);
        assert_eq!(viewer.go(Control::RunTo("after".into())).step, 8);
        assert_eq!(viewer.go(Control::RunTo("after".into())).step, 10);
        assert_eq!(viewer.run_out(), "the program has come to its end");
    });
}

#[test]
fn rule_pauses_program_at_matching_debug_point() {
    watched(COUNTS, &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        let rules = |viewer: &mut Client, rules| viewer.ask(Request::Rules(rules));
        assert_eq!(rules(&mut viewer, vec![rule(Some("after"), When::Always)]), Ok(Answer::Done));
        let point = viewer.go(Control::Continue);
        assert_eq!((point.step, &*point.reason), (2, "debug point \"after\""));
        assert_eq!(rules(&mut viewer, vec![rule(None, When::Every(3))]), Ok(Answer::Done));
        assert_eq!([0; 2].map(|_| viewer.go(Control::Continue).step), [3, 6]);
        // A rule pauses the program before the requested step.
        assert_eq!(viewer.go(Control::Step(100)).step, 9);
        let wrong = rules(&mut viewer, vec![rule(None, When::Every(0))]).unwrap_err();
        assert!(wrong.contains("1 at least"), "{wrong}");
        assert_eq!(viewer.go(Control::Continue).step, 12, "a wrong rule leaves the others as they were");
        viewer.run_out();
    });
}

#[test]
fn program_ends_on_request_of_viewer() {
    let run = |control: Control| {
        watched_once(
            Config::threads(launcher::counts(&[3])[0]),
            &Settings::listen(0).paused(),
            |world| {
                program(world)?;
                // After the end of viewing, no debug point is observed.
                assert!(!world.debug().is_observed("before"));
                Ok(())
            },
            |access| {
                let mut viewer = Client::connect(access).unwrap();
                viewer.paused();
                viewer.control(control.clone());
                while viewer.receive().is_some() {}
                let how = viewer.ended.unwrap();
                let expected_text =
                    if control == Control::Stop { "stopped by the viewer" } else { "goes on without it" };
                assert!(how.contains(expected_text), "{how}");
            },
        )
    };
    assert_eq!(run(Control::Detach), Ok(()));
    let error = run(Control::Stop).unwrap_err().to_string();
    assert!(error.contains("stopped by the viewer"), "{error}");
}

#[test]
fn is_observed_is_true_for_points_that_viewers_use() {
    watched(
        COUNTS,
        &Settings::listen(0).paused(),
        |world| {
            assert!(world.debug().is_observed("first"));
            world.debug_point("first")?;
            // Ranks synchronize with viewers at varying times, and always at debug points of a
            // rule.
            assert!(world.debug().is_observed("named"));
            world.debug_point("other")?;
            assert!(world.debug().is_observed("named"));
            world.debug_point("named")
        },
        |access| {
            let mut viewer = Client::connect(access).unwrap();
            viewer.paused();
            // Prevents synchronization by time.
            assert_eq!(viewer.ask(Request::Rules(vec![rule(Some("named"), When::Always)])), Ok(Answer::Done));
            assert_eq!(viewer.go(Control::Step(1000)).step, 3);
            viewer.run_out();
        },
    );
}
