//! [`Report`]: results of a run, as a table and as JSON for `benches/results/`.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::adapters::Adapter;
use crate::manifest::Manifest;
use crate::outcome::Outcome;
use crate::parts::{Part, PartWork};

const MAX_UNFINISHED_NAMES: usize = 12;

/// Results of the parts that ended.
pub(crate) struct Report {
    machine: Value,
    file: PathBuf,
    parts: Vec<(&'static Part, Outcome)>,
    /// Names of parts that did not run within the time limit of the run.
    parts_without_time: Vec<&'static str>,
}

/// Default directory of results, with the host name and the time in UTC.
pub(crate) fn default_directory() -> PathBuf {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace([':', '-'], "");
    Path::new("zippy-results").join(format!("{}-{time}", host()))
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or("host".into())
}

impl Report {
    pub(crate) fn new(manifest: &Manifest, adapter: &Adapter, out: &Path, only: &[String]) -> Self {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string()[..10].to_string();
        let words = adapter.name().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let name = words.collect::<Vec<_>>().join("-").to_lowercase();
        // A run of selected parts must not replace the file of a full run.
        let part = only.iter().map(|name| format!("-{name}")).collect::<String>();
        let machine = json!({
            "adapter": adapter.about,
            "date": date,
            "cores": std::thread::available_parallelism().ok(),
            "rustc": manifest.rustc,
            "commit": manifest.commit,
        });
        Self {
            machine,
            file: out.join(format!("{name}-{date}-bundle{part}.json")),
            parts: Vec::new(),
            parts_without_time: Vec::new(),
        }
    }

    /// Path of the JSON file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// True if at least one part ran and all outcomes are good.
    pub(crate) fn is_good(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|(_, outcome)| outcome.is_good())
    }

    /// Adds parts that do not run, because the time limit of the run is reached.
    pub(crate) fn leave_out(&mut self, parts: &[&'static Part]) {
        self.parts_without_time.extend(parts.iter().map(|part| part.name));
    }

    /// Adds a result and writes the JSON file with all results: a run can be stopped at any time.
    pub(crate) fn add(&mut self, part: &'static Part, outcome: Outcome) -> Result<()> {
        self.parts.push((part, outcome));
        let draft = self.file.with_extension("draft");
        let written = std::fs::write(&draft, self.json()).and_then(|()| std::fs::rename(&draft, &self.file));
        written.with_context(|| self.file.display().to_string())
    }

    fn limits(&self) -> &[Value] {
        let limits = self.parts.iter().find(|(part, _)| part.name == "limits");
        limits.map_or(&[], |(_, outcome)| &outcome.cases)
    }

    fn json(&self) -> String {
        let fields = self.machine.as_object().into_iter().flatten();
        let fields: String = fields.map(|(name, value)| format!("  \"{name}\": {value},\n")).collect();
        let (mut runs, mut tests) = (Vec::new(), Vec::new());
        for (part, outcome) in &self.parts {
            match part.work {
                PartWork::Benchmark { program, ranks, .. } => runs.push(json!({
                    "bench": program,
                    "transport": "threads",
                    "ranks": ranks,
                    "problem": outcome.problem,
                    "numbers": { "cases": outcome.cases },
                })),
                _ => tests.push(json!({
                    "part": part.name,
                    "secs": outcome.secs,
                    "passed": outcome.passed,
                    "failed": outcome.failed,
                    "unfinished": outcome.unfinished,
                    "problem": outcome.problem,
                    "left_out": outcome.left_out,
                })),
            }
        }
        let no_time_left = json!(self.parts_without_time);
        let lines = |values: &[Value]| values.iter().map(|v| format!("    {v}")).collect::<Vec<_>>().join(",\n");
        format!(
            "{{\n{fields}  \"no_time_left\": {no_time_left},
  \"tests\": [\n{}\n  ],\n  \"runs\": [\n{}\n  ]\n}}\n",
            lines(&tests),
            lines(&runs)
        )
    }

    /// Table of the tests, with the names of failed tests, and of the medians of benchmarks
    /// compared with the adapter's limits.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{:18} {:>7} {:>7} {:>8}  result\n", "tests", "passed", "failed", "seconds");
        let (mut failed, mut unfinished) = (String::new(), Vec::new());
        for (part, outcome) in self.parts.iter().filter(|(part, _)| !matches!(part.work, PartWork::Benchmark { .. })) {
            let result = match (&outcome.left_out, &outcome.problem) {
                (Some(reason), _) => format!("left out: {reason}"),
                (_, Some(problem)) => problem.clone(),
                _ => "ok".into(),
            };
            let Outcome { passed, secs, .. } = outcome;
            text += &format!("{:18} {passed:7} {:7} {secs:8.1}  {result}\n", part.name, outcome.failed.len());
            failed.extend(outcome.failed.iter().map(|name| format!("FAILED {name} ({}.log)\n", part.name)));
            unfinished.extend(outcome.unfinished.iter().cloned());
        }
        text += &failed;
        if !unfinished.is_empty() {
            let more = unfinished.len().saturating_sub(MAX_UNFINISHED_NAMES);
            let more = if more > 0 { format!(" and {more} more, in the JSON file") } else { String::new() };
            let named = &unfinished[..unfinished.len().min(MAX_UNFINISHED_NAMES)];
            text += &format!("not finished: {}{more}\n", named.join(", "));
        }
        text += "\nlimits of the adapter, of this run\n";
        for limit in self.limits() {
            let micros = limit["median_secs"].as_f64().unwrap_or(f64::NAN) * 1e6;
            let rate = limit["gb_per_sec"].as_f64().filter(|rate| *rate > 0.0);
            let rate = rate.map_or(String::new(), |rate| format!("{rate:10.2} GB/s"));
            text += &format!("  {:52} {micros:12.1} us {rate}\n", limit["case"].as_str().unwrap_or_default());
        }
        text += &format!("\n{:54} {:>15} {:>15}  of the limit  of its own reference\n", "benchmarks", "median", "rate");
        for (part, outcome) in &self.parts {
            let PartWork::Benchmark { ranks, limit, .. } = part.work else { continue };
            if part.name == "limits" {
                continue;
            }
            let problem = outcome.problem.as_ref().map_or(String::new(), |problem| format!(": {problem}"));
            text += &format!("{}, {ranks} ranks{problem}\n", part.name);
            text.extend(outcome.cases.iter().filter_map(|case| case_line(case, ranks, limit.rate(self.limits()))));
        }
        if !self.parts_without_time.is_empty() {
            text += &format!("\nno time was left for: {}\n", self.parts_without_time.join(", "));
        }
        text
    }
}

/// Line of a benchmark case: the library's median, the rate of all ranks, the ratio of this rate to
/// the limit of the adapter that the ranks share, and the ratio of the median to that of the case's
/// reference implementation.
fn case_line(case: &Value, ranks: usize, limit: Option<f64>) -> Option<String> {
    let name = case["case"].as_str()?;
    let library = &case["figures"][0]["median_secs"];
    let fields = ["median_secs", "median_step_secs", "median_frame_secs", "secs"].map(|field| &case[field]);
    let secs = std::iter::once(library).chain(fields).find_map(Value::as_f64)?;
    let rate = case["bytes_per_rank"].as_f64().map(|bytes| bytes * ranks as f64 / secs / 1e9);
    let rate_text = rate.map_or(String::new(), |rate| format!("{rate:.2} GB/s"));
    let of_limit = rate.zip(limit).map_or(String::new(), |(rate, limit)| format!("{:.0} %", 100.0 * rate / limit));
    let reference = &case["figures"][1];
    let of_reference = reference["library_to_this"]
        .as_f64()
        .map_or(String::new(), |ratio| format!("{ratio:.2} times {}", reference["who"].as_str().unwrap_or_default()));
    Some(format!("  {name:52} {:12.1} us {rate_text:>15}  {of_limit:>12}  {of_reference}\n", secs * 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str) -> &'static Part {
        crate::parts::PARTS.iter().find(|part| part.name == name).unwrap()
    }

    #[test]
    fn table_names_failed_tests_and_compares_rates_with_limits() {
        let out = std::env::temp_dir().join(format!("zippy-report-{}", std::process::id()));
        std::fs::create_dir_all(&out).unwrap();
        let manifest = Manifest { commit: "abc".into(), rustc: "rustc 1".into() };
        let adapter = Adapter { number: 0, about: json!({ "name": "RTX (9)", "type": "DiscreteGpu" }) };
        let mut report = Report::new(&manifest, &adapter, &out, &[]);
        let limit = json!({ "case": "device, triad", "gb_per_sec": 1000.0, "median_secs": 1e-3 });
        report.add(part("limits"), Outcome { cases: vec![limit], ..Outcome::default() }).unwrap();
        let failed = Outcome { passed: 3, failed: vec!["device::a".into()], ..Outcome::default() };
        report.add(part("device"), failed).unwrap();
        let case = json!({ "case": "step, 512^3", "bytes_per_rank": 1e9, "median_step_secs": 2e-3 });
        report.add(part("step"), Outcome { cases: vec![case], ..Outcome::default() }).unwrap();
        report.leave_out(&[part("mpi")]);
        let table = report.table();
        for wanted in ["FAILED device::a (device.log)", "500.00 GB/s          50 %", "no time was left for: mpi"] {
            assert!(table.contains(wanted), "{wanted}:\n{table}");
        }
        assert!(!report.is_good());
        assert!(report.file().file_name().unwrap().to_string_lossy().starts_with("rtx-9-"));
        let json: Value = serde_json::from_str(&std::fs::read_to_string(report.file()).unwrap()).unwrap();
        assert_eq!(json["tests"][0]["failed"][0], "device::a");
        assert_eq!(json["runs"][1]["numbers"]["cases"][0]["case"], "step, 512^3");
        std::fs::remove_dir_all(out).unwrap();
    }
}
