use super::*;

const TEXT: &str = "\
title: Flow
benchmark: ranks_lbm
ranks: 1 thread; 2 processes
cases: D3Q19
without: 16-bit; walls
columns: mlups = updates
ratios: 1 / of_triad = ÷ the triad

One step.

More.
";

#[test]
fn topic_has_keys_and_an_explanation() {
    let topic = Topic::parse("flow", TEXT).unwrap();
    assert_eq!((&*topic.title, &*topic.benchmark, &*topic.text), ("Flow", "ranks_lbm", "One step.\n\nMore."));
    assert_eq!(topic.ranks, ["1 thread", "2 processes"]);
    let triad = Field { name: "of_triad".into(), is_inverse: true, heading: "÷ the triad".into() };
    assert_eq!(topic.ratios, [triad]);
    let selected = ["D3Q19 f32", "D3Q19 16-bit", "walls, D3Q19", "cavity"].map(|case| topic.selects(case));
    assert_eq!(selected, [true, false, false, false]);
}

#[test]
fn unknown_key_missing_title_and_missing_text_are_errors() {
    let problem = |text: &str| Topic::parse("flow", text).unwrap_err().to_string();
    assert!(problem("title: Flow\nbench: ranks_lbm\n\nOne step.").contains("\"bench\""));
    assert!(problem("benchmark: ranks_lbm\n\nOne step.").contains("`title`"));
    assert!(problem("title: Flow\nbenchmark: ranks_lbm\n").contains("explanation"));
    assert!(problem("title: Flow\nbenchmark: b\ncolumns: mlups\n\nOne step.").contains("field = heading"));
}
