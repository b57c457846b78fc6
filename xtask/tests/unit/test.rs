use super::*;

fn parsed(line: &str) -> Parsed {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse_arguments(&words).unwrap().unwrap()
}

fn names(line: &str) -> Vec<&'static str> {
    selected_steps(&parsed(line)).unwrap().iter().map(|step| step.name).collect()
}

#[test]
fn flags_select_steps_and_refuse_each_other() {
    assert_eq!(names("").len(), STEPS.len());
    assert_eq!(names("--only docs --only format"), ["format", "docs"]);
    assert!(!names("--skip docs").contains(&"docs"));
    assert!(!names("--no-mpi").contains(&"mpi"));
    assert!(selected_steps(&parsed("--only dosc")).err().unwrap().contains("did you mean \"docs\"?"));
    assert!(selected_steps(&parsed("--only mpi --no-mpi")).is_err());
    assert_eq!(names("--quick"), ["format", "quick"]);
    assert_eq!(names("--drivers --no-mpi"), ["drivers"]);
    assert_eq!(names("--no-driver"), ["no-driver"]);
    for both in [
        "--quick --only docs",
        "--quick --skip docs",
        "--drivers --only docs",
        "--quick --drivers",
        "--no-driver --skip docs",
    ] {
        assert!(selected_steps(&parsed(both)).err().unwrap().contains("cannot be used with"), "{both}");
    }
}

#[test]
fn summary_has_outputs_first_and_names_of_failures_last() {
    let second = Duration::from_secs(1);
    let failure = Failure { name: "tests/copy.rs: wraps".into(), text: "left: 1\nright: 2".into() };
    let good = |passed| Outcome { passed, ..Outcome::default() };
    let problem = Some("1 of 9 tests failed".into());
    let failed = Outcome { failed: 1, failures: vec![failure], problem, ..good(8) };
    let result = |name, outcome| StepResult { name, duration: second, cpu_secs: 2.0, outcome };
    let text = summary(&[result("format", good(0)), result("tests", good(7)), result("mpi", failed)]);
    assert!(text.starts_with("FAILED in mpi: tests/copy.rs: wraps\n    left: 1\n    right: 2\n\nstep "), "{text}");
    assert!(text.contains("      8       1       0  FAILED: 1 of 9 tests failed\n"), "{text}");
    assert!(text.contains("\nall                 3.0        6\n"), "{text}");
    assert!(text.ends_with("\n\nFAILED in mpi: tests/copy.rs: wraps\n2 passed, 1 failed"), "{text}");
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
