//! [`Case`]: the numbers of a benchmark case.

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// Fields with the time of the library, for cases without contenders.
const TIME_FIELDS: [&str; 4] = ["median_secs", "median_step_secs", "median_frame_secs", "secs"];
/// Endings of case names that report the access of the library to chunks.
const CHUNK_ACCESSES: [&str; 2] = ["mapped", "kernels"];

/// A case of a benchmark: an operation with its size.
#[derive(Debug, Default)]
pub(super) struct Case {
    /// Name without the access to chunks.
    pub name: String,
    /// Access to chunks: mapped memory, or kernels. Empty if the case does not depend on it.
    pub access: &'static str,
    /// Name of the first contender.
    pub contender: String,
    /// Median time of the library, which is the first contender.
    pub secs: Option<f64>,
    pub peers: Vec<Peer>,
    pub goal: Option<Goal>,
    fields: Map<String, Value>,
}

/// Another implementation of the operation of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peer {
    pub name: String,
    pub secs: Option<f64>,
    /// Time of the library divided by the time of the peer.
    pub ratio: f64,
    pub quartiles: Option<[f64; 2]>,
}

/// Goal of a case: the maximum of one of its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// Ratio to the first peer.
    Ratio(f64),
    Secs(f64),
    /// Value of the first column or ratio that the topic names.
    Field(f64),
}

impl Case {
    /// Reads the cases of a run. Entries with the same name are parts of one case.
    pub(super) fn read_all(entries: &[Value]) -> Result<Vec<Self>> {
        let mut cases: Vec<Self> = Vec::new();
        for entry in entries {
            let name = entry["case"].as_str().context("a case has no name (`case`)")?;
            let (name, access) = split_access(name);
            let index = cases.iter().position(|case| case.name == name && case.access == access);
            let index = index.unwrap_or_else(|| {
                cases.push(Self { name, access, ..Self::default() });
                cases.len() - 1
            });
            cases[index].add_entry(entry)?;
        }
        Ok(cases)
    }

    fn add_entry(&mut self, entry: &Value) -> Result<()> {
        let number = |value: &Value| value.as_f64();
        // A peer in a program of its own.
        if let Some(by) = entry["by"].as_str() {
            if let Some((ours, secs)) = self.secs.zip(number(&entry["secs"])) {
                self.peers.push(Peer { name: by.into(), secs: Some(secs), ratio: ours / secs, quartiles: None });
            }
            return Ok(());
        }
        for (index, figure) in entry["figures"].as_array().into_iter().flatten().enumerate() {
            let name =
                figure["who"].as_str().with_context(|| format!("a figure of {:?} has no name (`who`)", self.name))?;
            let secs = number(&figure["median_secs"]);
            if index == 0 {
                (self.contender, self.secs) = (name.into(), secs);
            } else if let Some(ratio) = number(&figure["library_to_this"]) {
                let [low, high] = [0, 1].map(|end| number(&figure["library_to_this_quartiles"][end]));
                let quartiles = low.zip(high).map(|(low, high)| [low, high]);
                self.peers.push(Peer { name: name.into(), secs, ratio, quartiles });
            }
        }
        let has_figures = entry["figures"].is_array();
        let goal = match (number(&entry["target"]), number(&entry["target_secs"])) {
            (Some(limit), _) if has_figures => Some(Goal::Ratio(limit)),
            (Some(limit), _) => Some(Goal::Field(limit)),
            (None, secs) => secs.map(Goal::Secs),
        };
        self.goal = self.goal.or(goal);
        for (name, value) in entry.as_object().into_iter().flatten() {
            self.fields.entry(name.clone()).or_insert(value.clone());
        }
        self.secs = self.secs.or(TIME_FIELDS.iter().find_map(|field| number(&entry[*field])));
        Ok(())
    }

    /// Value of a field, if it is a number.
    pub(super) fn field(&self, name: &str) -> Option<f64> {
        self.fields.get(name)?.as_f64()
    }

    /// Quartiles of a field: those of `ratio` are in `ratio_quartiles`, `quartiles_ratio` or
    /// `quartiles`.
    pub(super) fn quartiles(&self, field: &str) -> Option<[f64; 2]> {
        let names = [format!("{field}_quartiles"), format!("quartiles_{field}"), "quartiles".into()];
        let value = names.iter().find_map(|name| self.fields.get(name))?;
        Some([value[0].as_f64()?, value[1].as_f64()?])
    }
}

/// Splits the access to chunks off the name of a case: `sort, 16 Mi, mapped` → `sort, 16 Mi` and
/// `mapped`.
fn split_access(name: &str) -> (String, &'static str) {
    let words: Vec<&str> = name.split(", ").collect();
    let access = CHUNK_ACCESSES.into_iter().find(|access| words.contains(access)).unwrap_or_default();
    let rest: Vec<&str> = words.into_iter().filter(|word| *word != access).collect();
    (rest.join(", "), access)
}

#[cfg(test)]
#[path = "../../tests/unit/report/case.rs"]
mod tests;
