use super::*;

fn names(line: &str) -> Vec<&'static str> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    let parsed = parse_arguments(&words).unwrap().unwrap();
    run_steps::select(&all_steps(), &parsed).unwrap().iter().map(|step| step.name).collect()
}

#[test]
fn quick_checks_come_before_all_steps_of_test() {
    let all = names("");
    assert_eq!(all[..3], ["format", "licences", "lints"]);
    assert_eq!(all[CHECKS.len()..], TESTS.each_ref().map(|step| step.name));
    let unique: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}

#[test]
fn flags_select_checks_and_tests() {
    assert_eq!(names("--only examples --only format"), ["format", "examples"]);
    let without_mpi = names("--no-mpi");
    assert!(without_mpi.contains(&"lints") && without_mpi.contains(&"tests"), "{without_mpi:?}");
    assert!(!without_mpi.contains(&"mpi") && !without_mpi.contains(&"default-build"), "{without_mpi:?}");
}

#[test]
fn flags_of_test_are_refused() {
    for flag in ["--quick", "--drivers", "--no-driver"] {
        let problem = parse_arguments(&[flag.into()]).unwrap_err().to_string();
        assert!(problem.contains(&format!("no option {flag:?}")), "{problem}");
    }
}
