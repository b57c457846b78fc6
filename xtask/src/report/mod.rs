//! `cargo xtask bench --report`: the page `benches/README.md` with its plots, from the results of
//! benchmarks and the texts of topics.

mod case;
mod plot;
mod quantity;
mod results;
mod table;
mod topic;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use plot::{Plot, Scale};
use results::{MeasuredMachine, Results, date_range};
use table::TopicTable;
use topic::Topic;

/// Files of the page and their texts. Paths start in the directory of benchmarks.
type Files = BTreeMap<PathBuf, String>;

/// The generated page.
struct Report {
    files: Files,
    /// Names of files of results that the page does not use.
    superseded: Vec<String>,
    machines: Vec<String>,
}

/// Writes the page and its plots into `benches` of a workspace, and removes plots of other topics.
pub(crate) fn write(root: &Path, as_json: bool) -> Result<u8> {
    let directory = root.join("benches");
    let report = Report::new(&directory)?;
    let plots = directory.join("plots");
    std::fs::create_dir_all(&plots).with_context(|| plots.display().to_string())?;
    for file in plots_in(&directory).iter().filter(|file| !report.files.contains_key(*file)) {
        std::fs::remove_file(directory.join(file)).with_context(|| file.display().to_string())?;
    }
    for (file, text) in &report.files {
        std::fs::write(directory.join(file), text).with_context(|| file.display().to_string())?;
    }
    if as_json {
        say!("{}", report.json());
    } else {
        say!("The page: benches/README.md, with results of {} machines", report.machines.len());
        report.superseded.iter().for_each(|file| say!("newer results replace benches/results/{file}; remove it"));
    }
    Ok(0)
}

/// Paths of the plots in the directory of benchmarks.
fn plots_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join("plots")).into_iter().flatten().flatten();
    entries.map(|entry| Path::new("plots").join(entry.file_name())).collect()
}

impl Report {
    /// Names of the files, of the machines and of files without use, as one line of JSON.
    fn json(&self) -> String {
        let files: Vec<String> = self.files.keys().map(|file| format!("benches/{}", file.display())).collect();
        json!({ "files": files, "machines": self.machines, "superseded": self.superseded }).to_string()
    }

    /// Generates the page from the directories `results` and `topics`.
    fn new(directory: &Path) -> Result<Self> {
        let results = Results::read(&directory.join("results"))?;
        let topics = directory.join("topics");
        let introduction = topics.join("introduction.md");
        let introduction =
            std::fs::read_to_string(&introduction).with_context(|| introduction.display().to_string())?;
        let mut files = Files::new();
        let mut page = format!("{introduction}\n{}", machine_table(&results.machines));
        for topic in Topic::read_all(&topics)? {
            page += &topic_section(&topic, &results.machines, &mut files);
        }
        files.insert("README.md".into(), page);
        let machines = results.machines.iter().map(|machine| machine.name.clone()).collect();
        Ok(Self { files, superseded: results.superseded, machines })
    }
}

/// Section of the machines, with a table.
fn machine_table(machines: &[MeasuredMachine]) -> String {
    let mut text = "## Machines\n\n".to_string();
    if machines.is_empty() {
        return text + "`benches/results/` has no results.\n";
    }
    text += "| machine | processor | vector extensions | cores | adapter | driver | dates |\n|---|---|---|---|---|---|---|\n";
    for machine in machines {
        let MeasuredMachine { name, processor, vector_extensions, cores, adapter, driver, runs, .. } = machine;
        let dates = date_range(runs.iter());
        text += &format!("| {name} | {processor} | {vector_extensions} | {cores} | {adapter} | {driver} | {dates} |\n");
    }
    text
}

/// Section of a topic: the explanation, the plot, and a table for each machine that has results.
fn topic_section(topic: &Topic, machines: &[MeasuredMachine], files: &mut Files) -> String {
    let mut tables: Vec<TopicTable<'_>> =
        machines.iter().filter_map(|machine| TopicTable::new(topic, machine)).collect();
    tables.sort_by(|a, b| b.peer_count().cmp(&a.peer_count()).then_with(|| b.date().cmp(a.date())));
    TopicTable::shorten_labels(&mut tables);
    let is_measured = |machine: &&MeasuredMachine| TopicTable::new(topic, machine).is_some();
    let missing = machines.iter().filter(|machine| !is_measured(machine)).map(|machine| machine.name.as_str());
    let missing: Vec<&str> = missing.collect();
    let mut text = format!("\n## {}\n\n{}\n", topic.title, topic.text);
    let field = topic.columns.first().map_or("median_secs", |field| &field.name);
    let scale = if tables.iter().any(TopicTable::has_ratios) { Scale::Ratio } else { Scale::Field(field.into()) };
    let mut plot = Plot::new(&topic.title, scale);
    plot.subtitle.clone_from(&topic.subtitle);
    tables.iter().for_each(|table| table.add_to(&mut plot));
    if !plot.panels.is_empty() {
        let file = format!("plots/{}.svg", topic.name);
        text += &format!("\n![{}]({file})\n", topic.title);
        files.insert(file.into(), plot.svg());
    }
    for (index, table) in tables.iter().enumerate() {
        // Only the first table is open, so that a topic fits on a screen.
        let (caption, table) = (table.caption(), table.markdown());
        text += &match index {
            0 => format!("\n{caption}:\n\n{table}"),
            _ => format!("\n<details>\n<summary>{caption}</summary>\n\n{table}\n</details>\n"),
        };
    }
    let machines = if missing.len() > 1 { "these machines" } else { "this machine" };
    match (tables.is_empty(), missing.is_empty()) {
        (false, true) => text,
        (true, _) => text + "\nNot measured.\n",
        (false, false) => text + &format!("\nNot measured on {machines}: {}.\n", missing.join("; ")),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/report/mod.rs"]
mod tests;
