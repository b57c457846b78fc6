//! Steps, and what is said of them.

use super::*;
use crate::cargo_test::{Counts, Failure};

fn parsed(line: &str) -> Parsed {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    read(&words).unwrap().unwrap()
}

fn names(line: &str) -> Vec<&'static str> {
    chosen(&parsed(line)).unwrap().iter().map(|step| step.name).collect()
}

#[test]
fn steps_are_chosen() {
    assert_eq!(names("").len(), STEPS.len());
    assert_eq!(names("--only docs --only format"), ["format", "docs"]);
    assert!(!names("--skip docs").contains(&"docs"));
    assert!(!names("--no-mpi").contains(&"mpi"));
    assert!(chosen(&parsed("--only dosc")).err().unwrap().contains("did you mean \"docs\"?"));
    assert!(chosen(&parsed("--only mpi --no-mpi")).is_err());
    assert_eq!(names("--quick"), ["format", "quick"]);
    assert_eq!(names("--drivers --no-mpi"), ["drivers"]);
    for both in ["--quick --only docs", "--quick --skip docs", "--drivers --only docs", "--quick --drivers"] {
        assert!(chosen(&parsed(both)).err().unwrap().contains("cannot be used with"), "{both}");
    }
}

#[test]
fn failures_are_told_last() {
    let second = Duration::from_secs(1);
    let failure = Failure { what: "tests/copy.rs: wraps".into(), text: vec!["left: 1".into()] };
    let failed = Failed {
        message: "1 of 9 tests failed".into(),
        counts: Counts { passed: 8, failed: 1 },
        failures: vec![failure],
    };
    let done = |name, outcome| Done { name, took: second, cpu_secs: Some(2.0), outcome };
    let results = [
        done("format", Ok(Counts::default())),
        done("tests", Ok(Counts { passed: 7, failed: 0 })),
        done("mpi", Err(failed)),
    ];
    let table = summary(&results);
    assert!(table.ends_with("FAILED in mpi: tests/copy.rs: wraps\n2 passed, 1 failed"), "{table}");
    assert!(table.contains("      8       1  FAILED: 1 of 9 tests failed"), "{table}");
    assert!(
        table.contains(
            "
all                 3.0        6
"
        ),
        "{table}"
    );
    assert_eq!(failures(&results), "FAILED in mpi: tests/copy.rs: wraps\n    left: 1\n\n");
}
