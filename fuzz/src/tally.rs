//! Counts and findings of a run.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::worker::{Line, Outcome};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub number: u64,
    pub problem: String,
    pub directory: PathBuf,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Duration of the run, in seconds.
    pub secs: f64,
    pub read: u64,
    pub refused: u64,
    pub wrong: u64,
    /// Seconds and number of the slowest input that ended.
    pub slowest: (f64, u64),
    /// Peak memory, in bytes, and number of the input that needed most memory.
    pub peak_memory: (u64, u64),
    pub findings: Vec<Finding>,
}

impl Tally {
    pub(crate) fn add(&mut self, line: &Line) {
        match line.outcome {
            Outcome::Read => self.read += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Wrong(_) => self.wrong += 1,
        }
        if line.secs > self.slowest.0 {
            self.slowest = (line.secs, line.number);
        }
        if line.bytes > self.peak_memory.0 {
            self.peak_memory = (line.bytes, line.number);
        }
    }

    pub(crate) fn inputs(&self) -> u64 {
        self.read + self.refused + self.wrong
    }

    fn rate(&self) -> f64 {
        self.inputs() as f64 / self.secs.max(1e-9)
    }

    pub(crate) fn json(&self) -> Value {
        let finding = |finding: &Finding| json!({"input": finding.number, "what": finding.problem, "kept": finding.directory.display().to_string()});
        json!({
            "secs": self.secs,
            "inputs": self.inputs(),
            "inputs_per_sec": self.rate(),
            "read": self.read,
            "refused": self.refused,
            "wrong": self.wrong,
            "slowest": {"secs": self.slowest.0, "input": self.slowest.1},
            "peak_memory": {"bytes": self.peak_memory.0, "input": self.peak_memory.1},
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn text(&self, seed: u64) -> String {
        let mut text = format!(
            "{} inputs of seed {seed} in {:.0} s, {:.0} a second: {} read, {} refused, {} wrong\n\
             slowest input {:.3} s (number {}), most memory {:.1} MiB (number {})",
            self.inputs(),
            self.secs,
            self.rate(),
            self.read,
            self.refused,
            self.wrong,
            self.slowest.0,
            self.slowest.1,
            self.peak_memory.0 as f64 / f64::from(1 << 20),
            self.peak_memory.1,
        );
        for Finding { number, problem, directory } in &self.findings {
            let directory = directory.display();
            let problem: String = problem.chars().take(500).collect();
            let _ = write!(text, "\ninput {number}: {problem}\n    cargo xtask fuzz --replay {directory}");
        }
        text
    }
}
