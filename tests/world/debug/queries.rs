//! Queries of a viewer: conditions, summaries, differences, stale ghost cells, moves, and
//! timelines.

use zippy::debug::Settings;
use zippy::{Config, Layout, Result, Split, World};
use zippy_protocol::{
    Answer, ArrayEntry, Control, GhostState, Request, Rule, SpanKind, SummaryRequest, ViewRequest, When,
};

use super::client::{Client, watched, watched_once};
use crate::support::launcher;

fn condition_request(text: &str) -> Request {
    Request::Rules(vec![Rule { name: None, when: When::Condition(text.to_string()) }])
}

/// Reads the value and the owner of a cell of an array of 32-bit numbers.
fn read_cell(viewer: &mut Client, array: &ArrayEntry, at: &[i64]) -> (f32, u32) {
    let end = at.iter().map(|x| x + 1).collect();
    let stride = vec![1; at.len()];
    let of = ViewRequest { array: array.array, chunk: None, start: at.to_vec(), end, stride, numbers: None };
    let Ok(Answer::View(view)) = viewer.ask(Request::View(of)) else { panic!("no view") };
    let holds = |start: &[i64], end: &[i64]| {
        at.iter().zip(start.iter().zip(end)).all(|(x, (start, end))| start <= x && x < end)
    };
    let owner = array.chunks.iter().find(|chunk| holds(&chunk.start, &chunk.end)).expect("it is in a chunk");
    (f32::from_le_bytes(view.cells.try_into().expect("one number")), owner.rank)
}

fn request_summary(viewer: &mut Client, array: &ArrayEntry, bins: u16) -> zippy_protocol::Summary {
    let request = SummaryRequest { bins, ..SummaryRequest::of(array.array, 0) };
    match viewer.ask(Request::Summary(request)) {
        Ok(Answer::Summary(summary)) => summary,
        other => panic!("{other:?}"),
    }
}

/// Program whose field grows by 0.1 per step in one cell, and becomes NaN in another cell at step
/// 7.
fn growing_field_program(world: &World) -> Result<()> {
    let layout = Layout::new([9, 8]).split([Split::Even(2), Split::Even(world.size())]);
    let u = world.array::<f32, 2>("u", &layout)?;
    let w = world.array::<f32, 2>("w", &layout)?;
    let own = world.local_array::<u8, 1>("own", &Layout::new([1 + world.rank() as i64]))?;
    own.all().write(&vec![7; 1 + world.rank()])?;
    for step in 1..=9 {
        u.fill_with(move |[x, y]| match (x, y) {
            (6, 5) => 0.1 * step as f32,
            (1, 2) if step >= 7 => f32::NAN,
            _ => -0.01 * x as f32,
        })?;
        world.copy(u.at(..), w.at(..))?;
        if step == 5 {
            w.at((8, 7)).fill(1.0)?;
        }
        world.debug_point("after step")?;
    }
    Ok(())
}

#[test]
fn run_is_paused_by_condition_and_its_cell_is_read() {
    watched(&[1, 3, 4, 5], &Settings::listen(0).paused(), growing_field_program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        assert_eq!(viewer.ask(condition_request("max(abs(u)) > 0.35")), Ok(Answer::Done));
        let point = viewer.go(Control::Continue);
        assert_eq!((point.step, &*point.reason), (4, "max(abs(u)) > 0.35"));
        let u = viewer.array("u");
        let (value, owner) = read_cell(&mut viewer, &u, &[6, 5]);
        assert_eq!(value, 0.1 * 4.0);
        // Two chunks of whole rows per rank, with an even division of the rows.
        assert_eq!(owner, [0, 1, 1, 2, 2][viewer.program.ranks as usize - 1]);
        assert_eq!(viewer.ask(condition_request("u != w")), Ok(Answer::Done));
        let point = viewer.go(Control::Continue);
        assert_eq!((point.step, &*point.reason), (5, "u != w"));
        let [u, w] = ["u", "w"].map(|name| viewer.array(name).array);
        let Ok(Answer::Difference(found)) = viewer.ask(Request::Compare(u, w)) else { panic!("no difference") };
        assert_eq!((found.cells, found.first), (1, Some(vec![8, 7])));
        let u = viewer.array("u");
        assert_eq!(viewer.ask(condition_request("nan(u) > 0 and min(u) < 0")), Ok(Answer::Done));
        assert_eq!(viewer.go(Control::Continue).step, 7);
        let found = request_summary(&mut viewer, &u, 3);
        let [of] = &found.components[..] else { panic!("{found:?}") };
        assert_eq!((found.step, of.count, of.nans, of.infinities), (7, 72, 1, 0));
        assert_eq!(of.extremes, Some((f64::from(-0.08_f32).into(), f64::from(0.1 * 7.0_f32).into())));
        assert_eq!((of.bins.iter().sum::<u64>(), of.bins[2], of.outside), (71, 1, (0, 0)));
        let own: Vec<_> = viewer.arrays().into_iter().filter(|array| array.name == "own").collect();
        for (rank, array) in own.iter().enumerate() {
            let found = request_summary(&mut viewer, array, 0).components[0].clone();
            assert_eq!((found.count, found.extremes), (1 + rank as u64, Some((7.0.into(), 7.0.into()))));
        }
        let text = viewer.ask(condition_request("maximum(u) > 1")).unwrap_err();
        assert!(text.contains("maximum") && text.contains("nan"), "{text}");
        assert_eq!(viewer.ask(condition_request("nan(v) > 0")), Ok(Answer::Done), "there may be one later");
        let point = viewer.go(Control::Continue);
        assert!(
            point.step == 8 && point.reason.contains("cannot be evaluated") && point.reason.contains("\"u\""),
            "{point:?}"
        );
        viewer.run_out();
    });
}

/// Program without the ghost update of step 4 of 6.
fn missing_update_program(world: &World) -> Result<()> {
    let layout = Layout::new([12]).split([Split::Even(world.size())]).ghost([1]).periodic([true]);
    let [a, b] = ["a", "b"].map(|name| world.array::<f32, 1>(name, &layout));
    let (a, b) = (a?, b?);
    let kernel = world.kernel(zippy::KernelSource::text(
        "average.wgsl",
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
         @group(0) @binding(1) var<storage, read_write> b: array<f32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             let p = b_position(id);
             if b_inside(p) { b_store(p, 0.5 * (a_load(p - 1) + a_load(p + 1))); }
         }",
    ))?;
    for step in 1..=6 {
        a.fill_with(move |[x]| (x + 100 * step) as f32)?;
        if step != 4 {
            world.ghosts(&a)?;
        }
        world.debug_point("ghosts")?;
        for (a, b) in zippy::zip_chunks((&a, &b))? {
            kernel.call().read("a", a.all()).write("b", b.all()).run()?;
        }
        world.barrier()?;
    }
    Ok(())
}

#[test]
fn missing_ghost_update_pauses_run_and_is_shown() {
    for count in launcher::counts(&[2, 4]) {
        let config = Config::threads(count).check(true);
        watched_once(config, &Settings::listen(0).paused(), missing_update_program, |access| {
            let mut viewer = Client::connect(access).unwrap();
            assert!(viewer.program.checked);
            viewer.paused();
            assert_eq!(viewer.ask(condition_request("stale(a) > 0")), Ok(Answer::Done));
            let point = viewer.go(Control::Continue);
            assert_eq!((point.step, &*point.reason), (4, "stale(a) > 0"));
            let a = viewer.array("a");
            let Ok(Answer::Ghosts(ghosts)) = viewer.ask(Request::Ghosts(a.array)) else { panic!("no answer") };
            assert_eq!(ghosts.len(), 2 * a.chunks.len());
            assert!(ghosts.iter().all(|ghost| ghost.state == GhostState::Stale), "{ghosts:?}");
            let of = ViewRequest {
                array: a.array,
                chunk: Some(1),
                start: vec![a.chunks[1].start[0] - 1],
                end: vec![a.chunks[1].start[0] + 1],
                stride: vec![1],
                numbers: None,
            };
            let Ok(Answer::View(view)) = viewer.ask(Request::View(of)) else { panic!("no view") };
            let observed: Vec<f32> = bytemuck::pod_collect_to_vec(&view.cells);
            let first = a.chunks[1].start[0] as f32;
            assert_eq!(observed, [first - 1.0 + 300.0, first + 400.0], "the ghost cell is from the step before");
            assert_eq!(viewer.go(Control::Step(1)).step, 5);
            let Ok(Answer::Ghosts(ghosts)) = viewer.ask(Request::Ghosts(a.array)) else { panic!("no answer") };
            assert!(ghosts.iter().all(|ghost| ghost.state == GhostState::Fresh), "{ghosts:?}");
            viewer.run_out();
        })
        .unwrap();
    }
    let unchecked = Config::threads(launcher::counts(&[2])[0]).check(false);
    watched_once(unchecked, &Settings::listen(0).paused(), missing_update_program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        viewer.paused();
        let array = viewer.array("a").array;
        let text = viewer.ask(Request::Ghosts(array)).unwrap_err();
        assert!(text.contains("ZIPPY_CHECK=1"), "{text}");
        viewer.run_out();
    })
    .unwrap();
}

#[test]
fn moves_differences_and_timelines_are_answered() {
    watched(
        &[1, 3],
        &Settings::listen(0).paused(),
        |world| {
            let layout = Layout::new([10, 3]).split([Split::Even(world.size()), Split::Whole]);
            let [a, b] = ["a", "b"].map(|name| world.array::<i32, 2>(name, &layout));
            let (a, b) = (a?, b?);
            a.fill_with(|[x, y]| (x + 10 * y) as i32)?;
            world.debug_point("before")?;
            world.copy(a.at(..), b.at(..))?;
            b.at((7, 2)).fill(-1)?;
            world.debug_point("after")?;
            // The timeline contains this wait.
            world.barrier()?;
            world.debug_point("last")
        },
        |access| {
            let mut viewer = Client::connect(access).unwrap();
            viewer.paused();
            assert!(matches!(viewer.ask(Request::Timeline(0)), Ok(Answer::Timeline(_))));
            let [a, b] = ["a", "b"].map(|name| viewer.array(name).array);
            let compared = |viewer: &mut Client| match viewer.ask(Request::Compare(a, b)) {
                Ok(Answer::Difference(difference)) => (difference.cells, difference.first),
                other => panic!("{other:?}"),
            };
            assert_eq!(compared(&mut viewer), (29, Some(vec![1, 0])));
            viewer.go(Control::Step(1));
            assert_eq!(compared(&mut viewer), (1, Some(vec![7, 2])));
            let Ok(Answer::Moves(moves)) = viewer.ask(Request::Moves) else { panic!("no moves") };
            assert_eq!(
                (moves.bytes_local, moves.bytes_network, moves.count),
                (120, 0, u64::from(viewer.program.ranks))
            );
            assert!(moves.operation.starts_with("copy("), "{}", moves.operation);
            assert!(moves.moves.iter().all(|of| of.from.0 == Some(a) && of.to.0 == Some(b) && of.from.3 == of.to.3));
            viewer.go(Control::Step(1));
            let Ok(Answer::Timeline(line)) = viewer.ask(Request::Timeline(0)) else { panic!("no timeline") };
            assert_eq!(line.ranks.len(), viewer.program.ranks as usize);
            for spans in &line.ranks {
                assert!(
                    spans.iter().any(|span| span.kind == SpanKind::Debug && span.what.contains("after")),
                    "{spans:?}"
                );
                assert!(spans.iter().all(|span| span.start + span.length <= line.until));
            }
            viewer.run_out();
        },
    );
}
