//! What `cargo xtask doctor` has found out: printed as it comes, or collected into one JSON object.

use crate::json::Json;

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Works, but a user should know.
    Note,
    /// Something does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    topic: &'static str,
    /// How it is to be taken.
    pub verdict: Verdict,
    text: String,
    fix: Option<String>,
    data: Json,
}

impl Finding {
    /// Something as it should be.
    pub fn good(topic: &'static str, text: impl Into<String>) -> Self {
        Finding { topic, verdict: Verdict::Good, text: text.into(), fix: None, data: Json::Null }
    }

    /// Something that works, and what to do about it or to keep in mind.
    pub fn note(topic: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Note, fix: Some(fix.into()), ..Finding::good(topic, text) }
    }

    /// Something that does not work, and what to do about it.
    pub fn bad(topic: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Bad, ..Finding::note(topic, text, fix) }
    }

    /// Adds what a program may want to read.
    pub fn with(self, data: impl Into<Json>) -> Self {
        Finding { data: data.into(), ..self }
    }

    /// For people: a mark, the topic, the text, and the fix on its own line.
    pub fn lines(&self) -> String {
        let mark = match self.verdict {
            Verdict::Good => "ok  ",
            Verdict::Note => "note",
            Verdict::Bad => "BAD ",
        };
        let fix = self.fix.as_ref().map_or(String::new(), |fix| format!("\nfix: {fix}"));
        format!("{mark} {}: {}", self.topic, format!("{}{fix}", self.text).replace('\n', "\n       "))
    }

    fn json(&self) -> Json {
        Json::object([
            ("topic", self.topic.into()),
            ("verdict", format!("{:?}", self.verdict).to_lowercase().into()),
            ("text", self.text.as_str().into()),
            ("fix", self.fix.as_deref().map_or(Json::Null, Json::from)),
            ("data", self.data.clone()),
        ])
    }
}

/// All findings of a run.
#[derive(Default)]
pub struct Findings {
    /// Whether they are kept for JSON and not printed.
    quiet: bool,
    /// In the order in which they came.
    pub all: Vec<Finding>,
}

impl Findings {
    /// None yet; `json` says in which form they will be shown.
    pub fn new(json: bool) -> Self {
        Findings { quiet: json, all: Vec::new() }
    }

    /// Takes the next one.
    pub fn add(&mut self, finding: Finding) {
        if !self.quiet {
            say!("{}", finding.lines());
        }
        self.all.push(finding);
    }

    /// Takes one if there is one.
    pub fn extend(&mut self, finding: Option<Finding>) {
        finding.into_iter().for_each(|finding| self.add(finding));
    }

    /// Prints the conclusion and returns the exit code: 1 if anything is bad.
    pub fn conclude(&self) -> u8 {
        let bad = self.all.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
        match bad {
            _ if self.quiet => say!("{}", self.json()),
            0 => say!("\nNothing is wrong."),
            1 => say!("\n1 thing is wrong."),
            _ => say!("\n{bad} things are wrong."),
        }
        u8::from(bad > 0)
    }

    fn json(&self) -> Json {
        let bad = self.all.iter().any(|finding| finding.verdict == Verdict::Bad);
        let items = self.all.iter().map(Finding::json).collect();
        Json::object([("ok", Json::Bool(!bad)), ("findings", Json::List(items))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bad_carries_its_fix() {
        let bad = Finding::bad("MPI", "two\nlines", "install it");
        assert_eq!(bad.lines(), "BAD  MPI: two\n       lines\n       fix: install it");
        assert_eq!(Finding::good("MPI", "fine").lines(), "ok   MPI: fine");
        let json = bad.with("x").json();
        assert_eq!(json.get("fix").and_then(Json::text), Some("install it"));
        assert_eq!(json.get("data").and_then(Json::text), Some("x"));
    }

    #[test]
    fn one_bad_finding_decides() {
        let mut findings = Findings::new(true);
        findings.add(Finding::note("a", "b", "c"));
        assert_eq!(findings.conclude(), 0);
        findings.add(Finding::bad("a", "b", "c"));
        assert_eq!(findings.conclude(), 1);
        assert_eq!(findings.json().get("ok"), Some(&Json::Bool(false)));
        assert_eq!(findings.json().get("findings").map(|list| list.list().len()), Some(2));
    }
}
