use super::*;

fn parse_output(text: &str) -> Outcome {
    super::parse_output(text.lines().map(String::from).collect())
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
    let Outcome { passed, failed, failures, .. } = parse_output(FAILING);
    assert_eq!((passed, failed), (2, 2));
    assert_eq!(failures[0].name, "tests/copy.rs: wraps");
    assert!(failures[0].text.starts_with("thread 'wraps' panicked at tests/copy.rs:7:5:\nleft: 1\n"));
    let overlaps = Failure { name: "tests/copy.rs: overlaps".into(), text: "on 3 ranks: no".into() };
    assert_eq!(failures[1..], [overlaps]);
}

#[test]
fn passing_tests_have_no_failures() {
    let passing = FAILING.split("     Running tests").next().unwrap();
    let outcome = parse_output(passing);
    assert_eq!((outcome.passed, outcome.failed, outcome.failures), (1, 0, Vec::new()));
}

#[test]
fn program_that_ends_without_result_is_named() {
    let text =
        "     Running tests/a.rs (t)\n\nrunning 2 tests\ntest x ... ok\nSegmentation fault\n   Doc-tests zippy\n";
    let failures = parse_output(&format!("{text}\nrunning 1 test\n")).failures;
    let names: Vec<&str> = failures.iter().map(|failure| failure.name.as_str()).collect();
    assert_eq!(names, ["tests/a.rs: ended without a result", "Doc-tests zippy: ended without a result"]);
    assert!(failures[0].text.ends_with("Segmentation fault"));
}

#[test]
fn long_output_of_failure_is_cut_to_its_last_lines() {
    let body: Vec<String> = (0..2 * KEPT_LINES).map(|number| format!("line {number}")).collect();
    let failures = parse_output(&format!("---- x stdout ----\n{}\nfailures:\n", body.join("\n"))).failures;
    assert_eq!(failures[0].text, body[KEPT_LINES..].join("\n"));
}

#[test]
fn result_line_is_parsed() {
    let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.01s";
    assert_eq!(test_counts(line), Some([12, 3, 4]));
    assert_eq!(test_counts("test region::tests::x ... ok"), None);
}

#[cfg(unix)]
fn run(script: &str, silence: Duration) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    run_with_timeout(command, "cargo test", silence).unwrap()
}

#[cfg(unix)]
#[test]
fn lines_of_both_streams_are_parsed_in_order() {
    let script = "echo '     Running a (t)' >&2; echo 'running 1 test'; echo 'test x ... FAILED'; exit 3";
    let failed = run(script, MAX_SILENCE);
    assert_eq!(failed.failures[0].name, "a: ended without a result");
    assert!(failed.failures[0].text.ends_with("test x ... FAILED"), "{failed:?}");
    assert!(failed.problem.unwrap().contains('3'));
    let line = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    let good = run(&format!("echo '{line}'"), MAX_SILENCE);
    assert_eq!((good.passed, good.failed, good.problem), (2, 0, None));
}

#[cfg(unix)]
#[test]
fn failed_command_without_tests_reports_its_last_lines() {
    let failed = run("seq 1 200; exit 1", MAX_SILENCE);
    assert_eq!((failed.failures.len(), failed.failures[0].name.as_str()), (1, "cargo test"));
    assert_eq!(failed.failures[0].text.lines().count(), KEPT_LINES);
    assert!(failed.failures[0].text.ends_with("\n200"));
}

#[cfg(target_os = "linux")]
#[test]
fn silent_command_is_killed_with_its_descendants() {
    let script = "echo '     Running a (t)'; echo 'running 1 test'; (sleep 3600; echo never) | cat";
    let start = std::time::Instant::now();
    let failed = run(script, Duration::from_millis(300));
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(failed.failures[0].name, "a: ended without a result");
    assert!(failed.failures[0].text.ends_with("it was ended"), "{failed:?}");
    assert!(failed.problem.is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn descendants_of_process_include_grandchildren() {
    let mut child = Command::new("sh").args(["-c", "(sleep 3600; true) & wait"]).spawn().unwrap();
    let found = || process_with_descendants(&child.id().to_string());
    let start = std::time::Instant::now();
    while found().len() < 3 && start.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    let all = found();
    assert_eq!(all.len(), 3, "the shell, its subshell and sleep: {all:?}");
    kill_silent_process(child.id(), MAX_SILENCE);
    assert!(!child.wait().unwrap().success());
    assert_eq!(process_with_descendants(&all[2]), all[2..], "an ended process has no children");
}
