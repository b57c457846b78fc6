use super::*;
use crate::context::Context;
use serde_json::Value;

const TOPIC: &str = "title: Sums\nbenchmark: ranks_compute\n\nA sum of all cells.\n";

/// A directory of benchmarks with one topic and the given results, and the report on it.
fn report(test: &str, results: &[(&str, String)]) -> Result<Report> {
    let directory = std::env::temp_dir().join(format!("zippy-report-of-{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    for part in ["results", "topics"] {
        std::fs::create_dir_all(directory.join(part)).unwrap();
    }
    std::fs::write(directory.join("topics/introduction.md"), "# Benchmarks\n").unwrap();
    std::fs::write(directory.join("topics/10-sums.md"), TOPIC).unwrap();
    for (name, text) in results {
        std::fs::write(directory.join("results").join(name), text).unwrap();
    }
    let report = Report::new(&directory);
    std::fs::remove_dir_all(directory).unwrap();
    report
}

fn results(adapter: &str, bench: &str) -> String {
    let figures = json!([
        { "who": "zippy", "median_secs": 2e-3, "library_to_this": 1.0 },
        { "who": "C", "median_secs": 1e-3, "library_to_this": 2.0, "library_to_this_quartiles": [1.5, 2.5] },
    ]);
    let numbers = json!({ "cases": [{ "case": "sum, kernels", "figures": figures }] });
    let runs = json!([{ "bench": bench, "transport": "threads", "ranks": 1, "numbers": numbers }]);
    let adapter = json!({ "name": adapter, "type": "DiscreteGpu", "driver": "5.1" });
    json!({ "adapter": adapter, "date": "2026-11-25", "cores": 4, "runs": runs }).to_string()
}

#[test]
fn page_has_machines_a_table_and_a_plot() {
    let files = [("a.json", results("RTX", "ranks_compute")), ("b.json", results("H200", "plans"))];
    let report = report("page", &files).unwrap();
    let expected = "\
# Benchmarks

## Machines

| machine | processor | vector extensions | cores | adapter | driver | dates |
|---|---|---|---|---|---|---|
| H200 | not recorded | not recorded | 4 | H200 | 5.1 | 2026-11-25 |
| RTX | not recorded | not recorded | 4 | RTX | 5.1 | 2026-11-25 |

## Sums

A sum of all cells.

![Sums](plots/sums.svg)

RTX, 2026-11-25:

| case | Zippy | C |
|---|---:|---:|
| sum | 2.00 ms | 2.00 (1.00 ms) |

Not measured on this machine: H200.
";
    assert_eq!(report.files[Path::new("README.md")], expected);
    assert_eq!(report.files.len(), 2);
    assert!(report.files[Path::new("plots/sums.svg")].contains(">2.00<"));
}

#[test]
fn directory_without_results_gives_a_page_without_numbers() {
    let report = report("empty", &[]).unwrap();
    let page = &report.files[Path::new("README.md")];
    assert!(page.contains("`benches/results/` has no results.") && page.ends_with("\nNot measured.\n"), "{page}");
    assert_eq!(report.files.len(), 1);
}

#[test]
fn damaged_file_of_results_is_an_error() {
    let problem = format!("{:#}", report("damaged", &[("a.json", "{".into())]).err().unwrap());
    assert!(problem.contains("a.json: it is not JSON"), "{problem}");
}

/// The page and the plots are generated from the committed results and texts.
#[test]
fn committed_page_equals_generated_page() {
    let directory = Context::new().unwrap().root.join("benches");
    let report = Report::new(&directory).unwrap();
    assert!(report.superseded.is_empty(), "newer results replace these files; remove them: {:?}", report.superseded);
    for (file, text) in &report.files {
        let committed = std::fs::read_to_string(directory.join(file)).unwrap_or_default().replace("\r\n", "\n");
        assert!(committed == *text, "benches/{} is not up to date: run `cargo xtask bench --report`", file.display());
    }
    let others: Vec<PathBuf> =
        plots_in(&directory).into_iter().filter(|file| !report.files.contains_key(file)).collect();
    assert!(others.is_empty(), "no topic has these plots: {others:?}");
}

#[test]
fn every_benchmark_has_a_topic_and_every_topic_a_benchmark() {
    let context = Context::new().unwrap();
    let topics = Topic::read_all(&context.root.join("benches/topics")).unwrap();
    let mut named: Vec<String> = topics.into_iter().map(|topic| topic.benchmark).collect();
    named.sort();
    named.dedup();
    let files = context.machine.list(context.root.join("benches"));
    let name = |file: &PathBuf| Some(file.file_name()?.to_str()?.strip_suffix(".rs")?.to_string());
    assert_eq!(named, files.iter().filter_map(name).collect::<Vec<_>>());
}

#[test]
fn json_names_files_and_machines() {
    let report = report("json", &[("a.json", results("RTX", "ranks_compute"))]).unwrap();
    let json: Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["files"], json!(["benches/README.md", "benches/plots/sums.svg"]));
    assert_eq!((&json["machines"], &json["superseded"]), (&json!(["RTX"]), &json!([])));
}
