use super::*;

#[test]
fn summary_has_outputs_first_and_names_of_failures_last() {
    let second = Duration::from_secs(1);
    let failure = Failure { name: "tests/copy.rs: wraps".into(), text: "left: 1\nright: 2".into() };
    let good = |passed| Outcome { passed, ..Outcome::default() };
    let problem = Some("1 of 9 tests failed".into());
    let failed = Outcome { failed: 1, failures: vec![failure], problem, ..good(8) };
    let result = |name, outcome| StepResult { name, duration: second, cpu_secs: 2.0, outcome };
    let not_run = Outcome { not_run: Some("no tool".into()), ..good(0) };
    let results = [result("format", good(0)), result("x", not_run), result("tests", good(7)), result("mpi", failed)];
    let text = summary_text(&results);
    assert!(text.starts_with("FAILED in mpi: tests/copy.rs: wraps\n    left: 1\n    right: 2\n\nstep "), "{text}");
    assert!(text.contains("      8       1       0  FAILED: 1 of 9 tests failed\n"), "{text}");
    assert!(text.contains("      0       0       0  not run: no tool\n"), "{text}");
    assert!(text.contains("\nall                 4.0        8\n"), "{text}");
    assert!(text.ends_with("\n\nFAILED in mpi: tests/copy.rs: wraps\n2 passed, 1 failed, 1 not run"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn cpu_time_of_ended_children_is_counted() {
    let before = children_cpu_secs();
    let mut busy = std::process::Command::new("sh");
    busy.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
    assert!(busy.status().unwrap().success());
    assert!(children_cpu_secs() > before);
}
