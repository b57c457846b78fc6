use super::*;
use crate::steps::{CHECKS, TESTS};

#[test]
fn lines_of_all_steps_have_no_abbreviation_left() {
    for step in CHECKS.iter().chain(&TESTS) {
        for line in step.commands {
            let line = expand_abbreviations(line, &["--features", "mpi"]);
            assert!(!line.contains(['{', '}']), "{line}");
        }
    }
}

#[test]
fn line_has_features_of_its_run() {
    let line = "clippy {all} {aarch64} --all-targets";
    let common = "--features zippy-native/aarch64 --all-targets";
    assert_eq!(
        expand_abbreviations(line, &["--features", "mpi"]),
        format!("clippy --workspace --features mpi {common}")
    );
    assert_eq!(expand_abbreviations(line, &[]), format!("clippy --workspace {common}"));
}

#[test]
fn step_without_its_optional_tool_is_not_run() {
    let absent = Step { optional_tool: Some("no-such-tool"), ..step("x", "y", &[], &["no-such-tool"]) };
    let outcome = absent.run(&Context::new().unwrap()).unwrap();
    assert_eq!(outcome.not_run.as_deref(), Some("cargo-no-such-tool is not installed"));
    assert_eq!(outcome.problem, None);
}
