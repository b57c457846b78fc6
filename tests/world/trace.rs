//! Timeline of all ranks in a file, for runs that succeed, fail and panic.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use zippy::transport::copied;
use zippy::{Config, Error, KernelSource, Layout, Result, Split, World, run_with};

use crate::support::launcher;

/// Span of the file; times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
struct Span {
    rank: u64,
    category: String,
    what: String,
    start: u64,
    end: u64,
    peer: Option<u64>,
}

/// Spans of a file, and names of its rows. `None` on processes without rank 0, which write no file.
fn read_spans(path: &Path) -> Option<(Vec<Span>, Vec<String>)> {
    if launcher::rank().is_some_and(|rank| rank > 0) {
        assert!(!path.exists());
        return None;
    }
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    let nanos = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as u64;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let span = |event: &Value| Span {
        rank: event["pid"].as_u64().unwrap(),
        category: text(&event["cat"]),
        what: text(&event["args"]["what"]),
        start: nanos(&event["ts"]),
        end: nanos(&event["ts"]) + nanos(&event["dur"]),
        peer: event["args"].get("for_rank").map(|peer| peer.as_u64().unwrap()),
    };
    let named = events.iter().filter(|event| event["name"] == "process_name");
    let mut rows: Vec<String> = named.map(|event| text(&event["args"]["name"])).collect();
    rows.sort();
    // No temporary file remains.
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    Some((events.iter().filter(|event| event["ph"] == "X").map(span).collect(), rows))
}

/// Checks that spans of a row are nested or disjoint, and that no wait is inside another wait,
/// which would count it twice.
fn check_rows(spans: &[Span], ranks: u64) {
    for rank in 0..ranks {
        let mut row: Vec<&Span> = spans.iter().filter(|span| span.rank == rank).collect();
        row.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut around: Vec<&Span> = Vec::new();
        for span in row {
            while around.last().is_some_and(|outer| outer.end <= span.start) {
                around.pop();
            }
            if let Some(outer) = around.last() {
                assert!(span.end <= outer.end, "{span:?} begins in {outer:?}");
            }
            let waits = |span: &Span| span.category == "wait";
            assert!(!waits(span) || !around.iter().any(|outer| waits(outer)), "{span:?} in {around:?}");
            around.push(span);
        }
    }
    for span in spans {
        assert!(span.peer.is_none_or(|peer| peer < ranks && peer != span.rank), "{span:?}");
        assert!(span.peer.is_none() || span.category == "wait", "{span:?}");
    }
}

const TWICE: &str = "
@group(0) @binding(0) var<storage, read_write> field: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = field_position(id);
    if field_inside(p) { field_store(p, 2.0 * field_load(p)); }
}";

/// Steps of a program that computes and updates ghost cells. Before the last step, rank 1 sleeps in
/// a debug point, and the other ranks wait for it.
fn sleeping_program(world: &World) -> Result<()> {
    let layout = Layout::new([3000]).split([Split::Even(world.size())]).ghost([1]).periodic([true]);
    let field = world.array::<f32, 1>("field", &layout)?;
    let twice = world.kernel(KernelSource::text("twice", TWICE))?;
    field.fill_with(|[x]| x as f32)?;
    let step = || {
        field.chunks().try_for_each(|chunk| twice.call().update("field", chunk.all()).run())?;
        world.ghosts(&field).map(drop)
    };
    (0..3).try_for_each(|_| step())?;
    world.barrier()?;
    let tag = world.group().next_sequence();
    world.debug().observe(move |world, _| {
        if world.rank() == 1 {
            for other in (0..world.size()).filter(|&rank| rank != 1) {
                world.group().receive(other, tag)?;
            }
            sleep(Duration::from_millis(300));
        }
        Ok(())
    });
    world.debug_point("between")?;
    if world.rank() != 1 {
        world.group().send(1, tag, copied::<u8>(&[]))?;
    }
    step()?;
    let first = field.chunks().next().expect("a chunk each");
    assert_eq!(first.all().read()?[1], 16.0 * (first.region().start[0] + 1) as f32);
    Ok(())
}

#[test]
fn timeline_has_rows_of_all_ranks_and_waits_for_sleeping_rank() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    run_with(Config::threads(3).trace(&path), sleeping_program).unwrap();
    let Some((spans, rows)) = read_spans(&path) else { return };
    assert_eq!(rows, ["rank 0", "rank 1", "rank 2"]);
    check_rows(&spans, 3);
    for rank in 0..3 {
        let has = |category: &str, what: &str| {
            spans.iter().any(|span| span.rank == rank && span.category == category && span.what.contains(what))
        };
        let expected =
            [("plan", "transfer"), ("pack", "field"), ("unpack", "ghosts"), ("kernel", " twice"), ("debug", "between")];
        let by_driver = ["recording twice", "submitting twice", "waiting for twice"].map(|what| ("kernel", what));
        let is_native = has("kernel", "computing twice");
        let expected = expected.into_iter().chain(by_driver.into_iter().filter(|_| !is_native));
        let expected: Vec<_> = expected.collect();
        let missing: Vec<_> = expected.iter().filter(|(category, what)| !has(category, what)).collect();
        assert!(missing.is_empty(), "rank {rank} has no {missing:?}");
    }
    let slept = spans.iter().find(|span| span.rank == 1 && span.category == "debug").expect("it was in a debug point");
    let within = |span: &&Span| span.rank == 1 && span.category == "wait" && slept.start <= span.start;
    let awake = spans.iter().filter(within).map(|span| span.end).filter(|&end| end <= slept.end).max();
    let slept = slept.end - awake.unwrap_or(slept.start);
    for rank in [0, 2] {
        let waits = spans.iter().filter(|span| span.rank == rank && span.peer == Some(1));
        let longest = waits.max_by_key(|span| span.end - span.start).expect("it has waited for rank 1");
        assert!(longest.what.contains("ghosts"), "{longest:?}");
        assert!(longest.end - longest.start > slept / 2, "{longest:?} while rank 1 slept for {slept} ns");
    }
}

#[test]
fn failed_run_has_timeline() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("failed.json");
    let error = run_with(Config::threads(3).trace(&path), |world| -> Result<()> {
        sleeping_program(world)?;
        match world.rank() {
            2 => Err(Error::program("no more input")),
            _ => loop {
                world.barrier()?;
            },
        }
    });
    assert!(error.unwrap_err().to_string().contains("no more input"));
    let Some((spans, rows)) = read_spans(&path) else { return };
    assert_eq!(rows, ["rank 0", "rank 1", "rank 2"]);
    check_rows(&spans, 3);
    assert!((0..3).all(|rank| spans.iter().any(|span| span.rank == rank && span.category == "debug")));
}

/// Under a launcher, a panic ends the job at once.
#[test]
fn timeline_of_a_panic_has_earlier_spans() {
    if launcher::size().is_some() {
        return;
    }
    for panicking in [0, 2] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panicked.json");
        let error = run_with(Config::threads(3).trace(&path), move |world| -> Result<()> {
            sleeping_program(world)?;
            assert!(world.rank() != panicking, "what was not expected");
            loop {
                world.barrier()?;
            }
        });
        assert!(error.unwrap_err().to_string().contains("what was not expected"));
        let (spans, rows) = read_spans(&path).expect("this process has all ranks");
        assert_eq!(rows, ["rank 0", "rank 1", "rank 2"]);
        check_rows(&spans, 3);
        assert!((0..3).all(|rank| spans.iter().any(|span| span.rank == rank && span.category == "debug")));
    }
}

#[test]
fn unwritable_file_is_an_error_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing/run.json");
    for path in [missing.as_path(), directory.path(), Path::new("")] {
        let ranks = launcher::counts(&[2])[0];
        let error = run_with(Config::threads(ranks).trace(path), |world| world.barrier()).unwrap_err().to_string();
        assert!(error.contains("cannot be written") && error.contains("ZIPPY_TRACE"), "{error}");
        // Under a launcher, each process has a separate directory.
        assert!(launcher::rank().is_some_and(|rank| rank > 0) || error.contains(&format!("{path:?}")), "{error}");
    }
}

#[test]
fn unwritable_file_at_the_end_loses_no_result() {
    let directory = tempfile::tempdir().unwrap();
    let below = directory.path().join("below");
    std::fs::create_dir(&below).unwrap();
    let ranks = launcher::counts(&[2])[0];
    let results = run_with(Config::threads(ranks).trace(below.join("run.json")), |world| {
        world.barrier()?;
        if world.rank() == 0 {
            std::fs::remove_dir(&below).unwrap();
        }
        Ok(world.rank())
    });
    let expected = launcher::rank().map_or(vec![0, 1], |rank| vec![rank]);
    assert_eq!(results.unwrap(), expected);
    assert_eq!(below.exists(), expected[0] > 0);
}
