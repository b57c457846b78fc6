use super::*;
use serde_json::json;

/// A directory with files of results; its name is that of the test.
fn directory(test: &str, files: &[(&str, String)]) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("zippy-results-{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    for (name, text) in files {
        std::fs::write(directory.join(name), text).unwrap();
    }
    directory
}

fn results(adapter: &Value, date: &str, benches: &[&str]) -> String {
    let runs: Vec<Value> = benches
        .iter()
        .map(|bench| json!({ "bench": bench, "transport": "threads", "ranks": 2, "numbers": { "cases": [] } }))
        .collect();
    json!({ "adapter": adapter, "date": date, "cores": 2, "runs": runs }).to_string()
}

#[test]
fn newest_run_of_each_benchmark_is_kept_and_unused_files_are_named() {
    let adapter =
        json!({ "name": "llvmpipe", "type": "Cpu", "host_processor": "Xeon(R) 8", "host_vector_extensions": ["AVX2"] });
    let files = [
        ("a.json", results(&adapter, "2026-11-01", &["plans"])),
        ("b.json", results(&adapter, "2026-11-03", &["plans", "ranks_step"])),
        ("c.json", results(&adapter, "2026-11-02", &["ranks_step", "ranks_start"])),
        ("d.json", results(&json!({ "name": "RTX", "type": "DiscreteGpu" }), "2026-11-04", &["plans"])),
        ("e.unfinished", "{".into()),
    ];
    let directory = directory("newest", &files);
    let results = Results::read(&directory).unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    let names: Vec<&str> = results.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!(names, ["RTX", "Xeon 8 with AVX2"]);
    let dates =
        |benchmark: &str| results.machines[1].run(benchmark, RankCount::Threads(2)).map(|run| run.date.as_str());
    let found = ["plans", "ranks_step", "ranks_start"].map(dates);
    assert_eq!(found, [Some("2026-11-03"), Some("2026-11-03"), Some("2026-11-02")]);
    assert_eq!(results.superseded, ["a.json"]);
}

#[test]
fn date_of_a_run_takes_precedence_over_that_of_its_file() {
    let run = json!({ "bench": "plans", "date": "2026-10-30", "numbers": { "cases": [] } });
    let text = json!({ "adapter": { "name": "RTX" }, "date": "2026-11-01", "runs": [run] }).to_string();
    let machine = read(&text, 0).unwrap();
    assert_eq!((&*machine.runs[0].date, machine.runs[0].ranks), ("2026-10-30", RankCount::Threads(1)));
    assert_eq!((&*machine.processor, &*machine.cores), ("not recorded", "not recorded"));
}

#[test]
fn damaged_file_is_an_error_with_its_name_and_the_reason() {
    let without_adapter = json!({ "date": "2026-11-01", "runs": [] }).to_string();
    let without_cases = json!({ "adapter": { "name": "RTX" }, "date": "2026-11-01", "runs": [{ "bench": "plans" }] });
    let damaged = [
        ("{ \"adapter\": ".to_string(), "not JSON"),
        (without_adapter, "no text `name`"),
        (json!({ "adapter": { "name": "RTX" }, "date": "2026-11-01" }).to_string(), "no list `runs`"),
        (without_cases.to_string(), "plans has no list `cases`"),
    ];
    for (text, reason) in damaged {
        let directory = directory("damaged", &[("rtx.json", text)]);
        let problem = format!("{:#}", Results::read(&directory).unwrap_err());
        std::fs::remove_dir_all(directory).unwrap();
        assert!(problem.contains("rtx.json: ") && problem.contains(reason), "{problem}");
    }
}

#[test]
fn missing_directory_has_no_results() {
    let results = Results::read(Path::new("/nonexistent/results")).unwrap();
    assert!(results.machines.is_empty() && results.superseded.is_empty());
}
