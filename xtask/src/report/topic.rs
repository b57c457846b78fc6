//! [`Topic`]: a section of the benchmark page, from a text file.

use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail};

/// A section of the page: cases of a benchmark, with the words that explain them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Topic {
    /// Name of the plot: the name of the text file without its number.
    pub name: String,
    pub title: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Benchmark of a peer library, with the same names of cases and the same numbers of ranks.
    pub peer_benchmark: String,
    /// Ranks of the runs in the table, such as `4 threads`. If a machine has no run with these
    /// ranks, the table has all runs.
    pub ranks: Vec<String>,
    /// A case belongs to the topic if its name contains one of these texts.
    pub cases: Vec<String>,
    /// A case does not belong to the topic if its name contains one of these texts.
    pub without: Vec<String>,
    /// Fields of cases that are columns of the table.
    pub columns: Vec<Field>,
    /// Fields of cases that are ratios to a peer.
    pub ratios: Vec<Field>,
    /// Texts in the names of peers. Each text is a column; if empty, each peer is a column.
    pub peers: Vec<String>,
    /// Names of the peers in the plot. If empty, the plot has all columns of peers.
    pub plot: Vec<String>,
    /// Meaning of the bars of the plot, if it is not the ratio of times.
    pub subtitle: String,
    /// Explanation, as Markdown.
    pub text: String,
}

/// A field of a case, with the heading of its column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub name: String,
    /// True for a field that has the inverse of the ratio.
    pub is_inverse: bool,
    pub heading: String,
}

impl Topic {
    /// Reads all topics of a directory, in the order of their names. Names begin with a number.
    pub(super) fn read_all(directory: &Path) -> Result<Vec<Self>> {
        let entries = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let topics = files.iter().filter_map(|file| {
            let (number, name) = file.file_stem()?.to_str()?.split_once('-')?;
            number.parse::<u32>().ok()?;
            let text = std::fs::read_to_string(file).map_err(Error::from);
            Some(text.and_then(|text| Self::parse(name, &text)).with_context(|| file.display().to_string()))
        });
        topics.collect()
    }

    /// Parses lines `key: value` up to an empty line, and the explanation after it. Elements of
    /// lists are separated by semicolons.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let (head, text) = text.split_once("\n\n").context("no explanation follows the first empty line")?;
        let mut topic = Self { name: name.into(), text: text.trim().into(), ..Self::default() };
        for line in head.lines() {
            let (key, value) = line.split_once(": ").with_context(|| format!("{line:?} is not `key: value`"))?;
            let list = || value.split(';').map(|element| element.trim().to_string()).collect::<Vec<_>>();
            let fields = || list().iter().map(|element| Field::parse(element)).collect::<Result<Vec<_>>>();
            match key {
                "title" => topic.title = value.into(),
                "benchmark" => topic.benchmark = value.into(),
                "peer benchmark" => topic.peer_benchmark = value.into(),
                "ranks" => topic.ranks = list(),
                "cases" => topic.cases = list(),
                "without" => topic.without = list(),
                "columns" => topic.columns = fields()?,
                "ratios" => topic.ratios = fields()?,
                "peers" => topic.peers = list(),
                "subtitle" => topic.subtitle = value.into(),
                "plot" => topic.plot = list(),
                _ => bail!("{key:?} is not a key of a topic"),
            }
        }
        if [&topic.title, &topic.benchmark].iter().any(|value| value.is_empty()) {
            Err(anyhow!("`title` or `benchmark` is missing"))
        } else {
            Ok(topic)
        }
    }

    /// True if the topic shows a case.
    pub(super) fn selects(&self, case: &str) -> bool {
        let contains = |parts: &[String]| parts.iter().any(|part| case.contains(part.as_str()));
        (self.cases.is_empty() || contains(&self.cases)) && !contains(&self.without)
    }
}

impl Field {
    /// Parses `field = heading`, or `1 / field = heading`.
    fn parse(text: &str) -> Result<Self> {
        let (name, heading) = text.split_once(" = ").with_context(|| format!("{text:?} is not `field = heading`"))?;
        let inverse = name.strip_prefix("1 / ");
        Ok(Self { name: inverse.unwrap_or(name).into(), is_inverse: inverse.is_some(), heading: heading.into() })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/report/topic.rs"]
mod tests;
