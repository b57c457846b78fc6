//! [`MeasuredMachine`]: a machine with the newest run of each benchmark, from the files of results.

use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use serde_json::Value;

use super::case::Case;

/// A machine, as the files of results describe it.
#[derive(Debug)]
pub(super) struct MeasuredMachine {
    /// Name in headings: the GPU, or the processor if kernels run on it.
    pub name: String,
    /// True if the processor computes kernels: natively, or by a software driver.
    pub is_processor: bool,
    pub processor: String,
    pub vector_extensions: String,
    pub cores: String,
    pub adapter: String,
    pub driver: String,
    /// The newest run for each benchmark, number of ranks and backend of kernels.
    pub runs: Vec<Run>,
}

/// A run of a benchmark.
#[derive(Debug)]
pub(super) struct Run {
    pub benchmark: String,
    pub ranks: RankCount,
    /// True if the processor computes by native kernels.
    pub is_native: bool,
    /// Date in the form 2026-11-25.
    pub date: String,
    /// Reason why the run is not complete.
    pub problem: Option<String>,
    pub cases: Vec<Case>,
    /// Index of the file of results that contains the run.
    pub file: usize,
}

/// Ranks of a run: threads of one process, or processes under MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankCount {
    Threads(u64),
    Processes(u64),
}

/// Contents of a directory of results.
#[derive(Debug)]
pub(super) struct Results {
    /// Machines with the newest results first.
    pub machines: Vec<MeasuredMachine>,
    /// Names of files that contain no newest run.
    pub superseded: Vec<String>,
}

impl std::fmt::Display for RankCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RankCount::Threads(1) => f.write_str("1 thread"),
            RankCount::Threads(count) => write!(f, "{count} threads"),
            RankCount::Processes(1) => f.write_str("1 process"),
            RankCount::Processes(count) => write!(f, "{count} processes"),
        }
    }
}

impl Results {
    /// Reads all `.json` files of a directory. A directory that does not exist has no results.
    ///
    /// # Errors
    /// A file that cannot be read, is not JSON, or has no adapter, date or runs.
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "json"));
        files.sort();
        let mut machines: Vec<MeasuredMachine> = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let text = std::fs::read_to_string(file).map_err(Error::from);
            let read = text.and_then(|text| read(&text, index));
            let machine = read.with_context(|| file.display().to_string())?;
            match machines.iter_mut().find(|known| known.name == machine.name && known.adapter == machine.adapter) {
                Some(known) => machine.runs.into_iter().for_each(|run| known.keep_newest(run)),
                None => machines.push(machine),
            }
        }
        let newest = |machine: &MeasuredMachine| machine.runs.iter().map(|run| run.date.clone()).max();
        machines.sort_by(|a, b| newest(b).cmp(&newest(a)).then_with(|| a.name.cmp(&b.name)));
        let is_used = |file| machines.iter().flat_map(|machine| &machine.runs).any(|run| run.file == file);
        let unused = files.iter().enumerate().filter(|(index, _)| !is_used(*index));
        let superseded =
            unused.filter_map(|(_, file)| Some(file.file_name()?.to_string_lossy().into_owned())).collect();
        Ok(Self { machines, superseded })
    }
}

impl MeasuredMachine {
    /// Adds a run unless a newer one is present; removes an older one.
    fn keep_newest(&mut self, run: Run) {
        let same = |other: &Run| {
            (&other.benchmark, other.ranks, other.is_native) == (&run.benchmark, run.ranks, run.is_native)
        };
        match self.runs.iter_mut().find(|other| same(other)) {
            Some(other) if other.date <= run.date => *other = run,
            Some(_) => {}
            None => self.runs.push(run),
        }
    }

    /// Runs of a benchmark with the given ranks.
    pub(super) fn run(&self, benchmark: &str, ranks: RankCount) -> Option<&Run> {
        self.runs.iter().find(|run| run.benchmark == benchmark && run.ranks == ranks)
    }
}

/// The first and the last date of runs, or the only one.
pub(super) fn date_range<'a>(runs: impl Iterator<Item = &'a Run>) -> String {
    let dates: std::collections::BTreeSet<&str> = runs.map(|run| run.date.as_str()).collect();
    match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.copied().unwrap_or_default().into(),
    }
}

/// Reads the machine and the runs of a file.
fn read(text: &str, file: usize) -> Result<MeasuredMachine> {
    let results: Value = serde_json::from_str(text).context("it is not JSON")?;
    let adapter = &results["adapter"];
    let text = |value: &Value, field: &str| value[field].as_str().map(String::from);
    let required = |value: &Value, field: &str| text(value, field).with_context(|| format!("it has no text `{field}`"));
    let date = required(&results, "date")?;
    let name = required(adapter, "name").context("its adapter is not known")?;
    let runs = results["runs"].as_array().context("it has no list `runs`")?;
    let runs = runs.iter().map(|run| {
        let benchmark = required(run, "bench")?;
        let cases = run["numbers"]["cases"].as_array().with_context(|| format!("{benchmark} has no list `cases`"))?;
        let count = run["ranks"].as_u64().unwrap_or(1);
        let is_mpi = run["transport"] == "mpi";
        Ok(Run {
            ranks: if is_mpi { RankCount::Processes(count) } else { RankCount::Threads(count) },
            is_native: adapter["kernels"] == "native",
            date: text(run, "date").unwrap_or(date.clone()),
            problem: text(run, "problem"),
            cases: Case::read_all(cases).with_context(|| benchmark.clone())?,
            benchmark,
            file,
        })
    });
    let runs = runs.collect::<Result<_>>()?;
    let unknown = || "not recorded".to_string();
    let extensions = adapter["host_vector_extensions"].as_array();
    let extensions: Option<Vec<&str>> = extensions.map(|names| names.iter().filter_map(Value::as_str).collect());
    let processor = text(adapter, "host_processor").map(|name| name.replace("(R)", "").replace("(TM)", ""));
    let is_processor = adapter["type"] == "Cpu" || adapter["kernels"] == "native";
    let widest = extensions.iter().flatten().last().map_or(String::new(), |name| format!(" with {name}"));
    Ok(MeasuredMachine {
        is_processor,
        name: if is_processor {
            format!("{}{widest}", processor.as_deref().unwrap_or("Processor"))
        } else {
            name.clone()
        },
        processor: processor.unwrap_or_else(unknown),
        vector_extensions: extensions.map_or_else(unknown, |names| names.join(", ")),
        cores: results["cores"].as_u64().map_or_else(unknown, |cores| cores.to_string()),
        driver: text(adapter, "driver").unwrap_or_else(unknown),
        adapter: name,
        runs,
    })
}

#[cfg(test)]
#[path = "../../tests/unit/report/results.rs"]
mod tests;
