use super::*;
use crate::report::results::RankCount;
use serde_json::{Value, json};

fn run(benchmark: &str, ranks: RankCount, is_native: bool, entries: &Value) -> Run {
    let cases = Case::read_all(entries.as_array().unwrap()).unwrap();
    Run { benchmark: benchmark.into(), ranks, is_native, date: "2026-11-25".into(), problem: None, cases, file: 0 }
}

fn machine(runs: Vec<Run>) -> MeasuredMachine {
    let text = || "Xeon".to_string();
    let (name, processor, vector_extensions, cores, adapter, driver) = (text(), text(), text(), text(), text(), text());
    MeasuredMachine { name, is_processor: true, processor, vector_extensions, cores, adapter, driver, runs }
}

fn topic(keys: &str) -> Topic {
    Topic::parse("t", &format!("title: T\nbenchmark: b\n{keys}\n\nText.")).unwrap()
}

fn compared(case: &str, ours: f64, peer: &str, theirs: f64, target: Value) -> Value {
    let peer = json!({ "who": peer, "median_secs": theirs, "library_to_this": ours / theirs });
    json!({ "case": case, "target": target, "figures": [{ "who": "zippy", "median_secs": ours }, peer] })
}

#[test]
fn rows_have_the_times_of_all_runs_and_missed_goals_are_bold() {
    let threads = json!([compared("copy, 2^3, mapped", 3e-3, "C", 1e-3, json!(2.0))]);
    let processes = json!([
        compared("copy, 2^3, mapped", 1e-3, "C", 1e-3, json!(2.0)),
        compared("copy, 4^3, mapped", 2e-3, "C", 4e-3, json!(null))
    ]);
    let machine = machine(vec![
        run("b", RankCount::Threads(4), false, &threads),
        run("b", RankCount::Threads(8), false, &threads),
        run("b", RankCount::Processes(4), false, &processes),
    ]);
    let topic = topic("ranks: 4 threads; 4 processes");
    let table = TopicTable::new(&topic, &machine).unwrap();
    let expected = "\
| case | Zippy, 4 threads | C, 4 threads | Zippy, 4 processes | C, 4 processes | goal |
|---|---:|---:|---:|---:|---:|
| copy, 2³ | 3.00 ms | **3.00 (1.00 ms)** | 1.00 ms | 1.00 (1.00 ms) | ≤ 2 |
| copy, 4³ | – | – | 2.00 ms | 0.50 (4.00 ms) | – |
";
    assert_eq!(table.markdown(), expected);
    assert_eq!(table.caption(), "Xeon, kernels by the software driver, 2026-11-25");
}

#[test]
fn native_runs_come_first_and_driver_runs_are_labelled() {
    let entries = json!([{ "case": "step", "median_secs": 1e-6 }]);
    let one = RankCount::Threads(1);
    let machine = machine(vec![run("b", one, false, &entries), run("b", one, true, &entries)]);
    let topic = topic("ranks: 1 thread");
    let table = TopicTable::new(&topic, &machine).unwrap();
    assert!(
        table.markdown().starts_with("| case | Zippy, 1 thread | Zippy, 1 thread, driver |\n"),
        "{}",
        table.markdown()
    );
    assert!(table.caption().contains("native kernels and kernels by the software driver"));
}

#[test]
fn fields_are_columns_and_ratios_have_the_goal() {
    let entries = json!([{ "case": "copy", "peak_bytes": 2048, "peak_to_array": 1.5, "target": 1.3, "secs": 2.0 }]);
    let machine = machine(vec![run("b", RankCount::Threads(1), true, &entries)]);
    let topic = topic("columns: peak_bytes = peak\nratios: peak_to_array = peak ÷ array");
    let markdown = TopicTable::new(&topic, &machine).unwrap().markdown();
    let row = "| copy | 2.00 s | 2.00 KiB | **1.50** | ≤ 1.3 |";
    assert!(markdown.contains(row), "{markdown}");
}

#[test]
fn library_of_the_peer_benchmark_is_a_peer() {
    let entries = json!([{ "case": "swap, f32, mapped", "median_secs": 1.0 }]);
    let theirs = json!([{ "case": "swap, f32", "figures": [{ "who": "IceT", "median_secs": 2.0 }] }]);
    let four = RankCount::Processes(4);
    let machine = machine(vec![run("b", four, false, &entries), run("icet", four, false, &theirs)]);
    let topic = topic("peer benchmark: icet");
    let table = TopicTable::new(&topic, &machine).unwrap();
    assert!(table.markdown().contains("| case | Zippy | IceT |") && table.markdown().contains("0.50 (2.00 s)"));
    assert!(table.has_ratios());
}

#[test]
fn plot_shows_the_first_run_with_a_peer_and_peers_of_later_runs() {
    let first = json!([compared("swap", 1.0, "by hand", 2.0, json!(null))]);
    let mut second = first.clone();
    second[0]["figures"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "who": "VTK", "median_secs": 4.0, "library_to_this": 0.25 }));
    let machine =
        machine(vec![run("b", RankCount::Threads(2), true, &first), run("b", RankCount::Threads(4), true, &second)]);
    let topic = topic("ranks: 2 threads; 4 threads");
    let mut plot = Plot::new("T", Scale::Ratio);
    TopicTable::new(&topic, &machine).unwrap().add_to(&mut plot);
    assert_eq!(plot.panels[0].heading, "Xeon, native kernels, 2026-11-25, 2 threads");
    let values: Vec<f64> = plot.panels[0].rows[0].bars.iter().map(|bar| bar.value).collect();
    assert_eq!(values, [0.5, 0.25]);
    assert!(plot.svg().contains(">VTK, 4 threads<"));
}

#[test]
fn common_words_of_all_names_are_left_out() {
    assert_eq!(common_prefix(["ghosts, 6 faces", "ghosts, 26"].into_iter()), "ghosts, ".len());
    assert_eq!(common_prefix(["sum", "sum, f64"].into_iter()), 0);
    assert_eq!(common_prefix(["a, b, c"].into_iter()), 0);
}
