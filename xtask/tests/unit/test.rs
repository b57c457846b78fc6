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
    assert_eq!(names(""), TESTS.each_ref().map(|step| step.name));
    assert_eq!(names("--only examples --only tests"), ["tests", "examples"]);
    assert!(!names("--skip build").contains(&"build"));
    assert!(!names("--no-mpi").contains(&"mpi"));
    assert!(selected_steps(&parsed("--only bulid")).err().unwrap().to_string().contains("did you mean \"build\"?"));
    assert!(selected_steps(&parsed("--only mpi --no-mpi")).is_err());
    assert_eq!(names("--quick"), ["format", "quick"]);
    assert_eq!(names("--drivers --no-mpi"), ["drivers"]);
    assert_eq!(names("--no-driver"), ["no-driver"]);
    for both in [
        "--quick --only tests",
        "--quick --skip tests",
        "--drivers --only tests",
        "--quick --drivers",
        "--no-driver --skip tests",
    ] {
        assert!(selected_steps(&parsed(both)).err().unwrap().to_string().contains("cannot be used with"), "{both}");
    }
}
