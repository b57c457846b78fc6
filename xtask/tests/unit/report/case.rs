use super::*;
use serde_json::json;

fn read(entries: &Value) -> anyhow::Result<Vec<Case>> {
    Case::read_all(entries.as_array().unwrap())
}

#[test]
fn case_has_times_of_library_and_peers() {
    let figure =
        json!({ "who": "C", "median_secs": 2.0, "library_to_this": 0.5, "library_to_this_quartiles": [0.4, 0.6] });
    let entry =
        json!({ "case": "axpy, mapped", "target": 1.5, "figures": [{ "who": "zippy", "median_secs": 1.0 }, figure] });
    let cases = read(&json!([entry])).unwrap();
    let [case] = &cases[..] else { panic!("{cases:?}") };
    assert_eq!((&*case.name, case.access, case.secs, case.goal), ("axpy", "mapped", Some(1.0), Some(Goal::Ratio(1.5))));
    let expected = Peer { name: "C".into(), secs: Some(2.0), ratio: 0.5, quartiles: Some([0.4, 0.6]) };
    assert_eq!(case.peers, [expected]);
}

#[test]
fn entries_with_one_name_are_parts_of_one_case() {
    let entries = json!([
        { "case": "tangle, cold, mapped", "figures": [{ "who": "zippy", "median_secs": 3.0 }] },
        { "case": "tangle, cold, kernels", "median_secs": 9.0 },
        { "case": "tangle, cold, mapped", "by": "VTK", "secs": 1.5 },
        { "case": "tangle, cold, mapped", "casting_secs": 2.5 },
    ]);
    let cases = read(&entries).unwrap();
    assert_eq!(cases.iter().map(|case| case.secs).collect::<Vec<_>>(), [Some(3.0), Some(9.0)]);
    assert_eq!((&*cases[0].peers[0].name, cases[0].peers[0].ratio), ("VTK", 2.0));
    assert_eq!(cases[0].field("casting_secs"), Some(2.5));
}

#[test]
fn goal_of_case_without_figures_applies_to_a_field() {
    let entries =
        json!([{ "case": "memory", "target": 1.3, "peak_to_array": 1.05, "peak_to_array_quartiles": [1, 2] }]);
    let case = &read(&entries).unwrap()[0];
    assert_eq!((case.goal, case.quartiles("peak_to_array")), (Some(Goal::Field(1.3)), Some([1.0, 2.0])));
}

#[test]
fn access_is_split_off_within_a_name() {
    assert_eq!(split_access("sort, 1 Mi, mapped, CPU seconds"), ("sort, 1 Mi, CPU seconds".into(), "mapped"));
    assert_eq!(split_access("debug point"), ("debug point".into(), ""));
}

#[test]
fn case_without_name_is_an_error() {
    assert!(read(&json!([{ "median_secs": 1.0 }])).unwrap_err().to_string().contains("`case`"));
}
