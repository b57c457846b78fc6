//! What test programs print, and commands that are watched.

use super::*;

fn read(text: &str, success: bool) -> (Counts, Vec<Failure>) {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.feed(line));
    (reader.counts, reader.finish("cargo test", success))
}

const FAILING: &str = "     Running unittests src/lib.rs (target/debug/deps/zippy-1)

running 1 test
test region::works ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/copy.rs (target/debug/deps/copy-1)

running 3 tests
test wraps ... FAILED
test fits ... ok
test overlaps ... FAILED

failures:

---- wraps stdout ----
thread 'wraps' panicked at tests/copy.rs:7:5:
left: 1
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/library/std/src/panicking.rs:689:5

---- overlaps stdout ----
on 3 ranks: no

failures:
    overlaps
    wraps

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `--test copy`
";

#[test]
fn failing_tests_are_named_with_their_output() {
    let (counts, failures) = read(FAILING, false);
    assert_eq!(counts, Counts { passed: 2, failed: 2 });
    let wraps = ["thread 'wraps' panicked at tests/copy.rs:7:5:", "left: 1"].map(String::from);
    assert_eq!(failures[0], Failure { what: "tests/copy.rs: wraps".into(), text: wraps.into() });
    let overlaps = Failure { what: "tests/copy.rs: overlaps".into(), text: vec!["on 3 ranks: no".into()] };
    assert_eq!(failures[1..], [overlaps]);
}

#[test]
fn success_leaves_nothing() {
    let passing = FAILING.split("     Running tests").next().unwrap();
    assert_eq!(read(passing, true), (Counts { passed: 1, failed: 0 }, Vec::new()));
}

#[test]
fn a_program_that_dies_is_named() {
    let text =
        "     Running tests/a.rs (t)\n\nrunning 2 tests\ntest x ... ok\nSegmentation fault\n   Doc-tests zippy\n";
    let (_, failures) = read(&format!("{text}\nrunning 1 test\n"), false);
    let names: Vec<&str> = failures.iter().map(|failure| failure.what.as_str()).collect();
    assert_eq!(names, ["tests/a.rs: ended without a result", "Doc-tests zippy: ended without a result"]);
    assert!(failures[0].text.contains(&"Segmentation fault".to_string()));
}

#[test]
fn a_command_without_tests_shows_its_last_lines() {
    let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
    let (_, failures) = read(&lines.join("\n"), false);
    assert_eq!(failures[0].what, "cargo test");
    assert_eq!(failures[0].text, lines[100 - KEPT..]);
}

#[test]
fn long_output_keeps_its_end() {
    let body: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
    let (_, failures) = read(&format!("---- x stdout ----\n{}\nfailures:\n", body.join("\n")), false);
    assert_eq!(failures[0].text, body[50 - KEPT..]);
}

#[test]
fn results_are_read() {
    let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
    assert_eq!(result(line), Some(Counts { passed: 12, failed: 3 }));
    assert_eq!(result("test region::tests::x ... ok"), None);
}

#[cfg(unix)]
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[cfg(unix)]
#[test]
fn both_streams_are_read_in_order() {
    let script = "echo '     Running a (t)' >&2; echo 'running 1 test'; echo 'test x ... FAILED'; exit 3";
    let failed = watched(shell(script)).unwrap_err();
    let names: Vec<&str> = failed.failures.iter().map(|failure| failure.what.as_str()).collect();
    assert_eq!(names, ["a: x", "a: ended without a result"]);
    assert!(failed.message.contains('3'), "{}", failed.message);
    let line = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    assert_eq!(watched(shell(&format!("echo '{line}'"))).unwrap(), Counts { passed: 2, failed: 0 });
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_is_ended_with_all_that_it_started() {
    let script = "echo '     Running a (t)'; echo 'running 1 test'; (sleep 3600; echo never) | cat";
    let failed = watched_for(shell(script), Duration::from_millis(300)).unwrap_err();
    assert_eq!(failed.failures[0].what, "a: ended without a result");
    assert!(failed.failures[0].text.last().unwrap().contains("it was ended"), "{failed:?}");
}
