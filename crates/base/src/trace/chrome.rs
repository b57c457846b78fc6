//! Spans of all ranks as a file that timeline viewers open, Perfetto among them: Chrome's trace events, in JSON.
//!
//! Each rank is a process with one thread. Spans are complete events (`X`); their times are in microseconds.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::spans::{self, SpanKind};

/// The spans of a rank, as it tells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    names: Vec<String>,
    /// What kind, the number of its name, start, length, and who was waited for.
    spans: Vec<(SpanKind, u32, u64, u64, Option<u32>)>,
    forgotten: u64,
}

impl Told {
    /// Those that this rank has kept.
    pub fn own() -> Self {
        let mut told = Self { names: Vec::new(), spans: Vec::new(), forgotten: spans::forgotten() };
        let mut numbers = HashMap::new();
        for span in spans::spans_after(0) {
            let number = *numbers.entry(span.what.clone()).or_insert_with(|| {
                told.names.push(span.what.to_string());
                told.names.len() as u32 - 1
            });
            told.spans.push((span.kind, number, span.start, span.end - span.start, span.peer));
        }
        told
    }

    /// How many spans have gone before.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

/// Writes a file.
pub struct ChromeWriter<W> {
    to: W,
    events: u64,
}

impl<W: Write> ChromeWriter<W> {
    /// Begins it.
    ///
    /// # Errors
    /// What the stream says.
    pub fn new(mut to: W) -> io::Result<Self> {
        to.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Self { to, events: 0 })
    }

    /// Adds the rows of a rank.
    ///
    /// # Errors
    /// What the stream says.
    pub fn add(&mut self, rank: usize, told: &Told) -> io::Result<()> {
        for (what, value) in [
            ("process_name", format!("{{\"name\":\"rank {rank}\"}}")),
            ("process_sort_index", format!("{{\"sort_index\":{rank}}}")),
            ("thread_name", "{\"name\":\"host\"}".to_owned()),
        ] {
            self.event(format_args!("{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{rank},\"tid\":0,\"args\":{value}}}"))?;
        }
        for &(kind, name, start, length, peer) in &told.spans {
            let what = told.names.get(name as usize).map_or("", String::as_str);
            let (start, length) = (Micros(start), Micros(length));
            let (verb, category) = words(kind);
            let whom = peer.map_or_else(String::new, |peer| format!("for rank {peer}: "));
            let peer = peer.map_or_else(String::new, |peer| format!(",\"for_rank\":{peer}"));
            self.event(format_args!(
                "{{\"ph\":\"X\",\"name\":\"{verb}{whom}{text}\",\"cat\":\"{category}\",\"ts\":{start},\"dur\":{length},\
                 \"pid\":{rank},\"tid\":0,\"args\":{{\"what\":\"{text}\"{peer}}}}}",
                text = Escaped(what),
            ))?;
        }
        Ok(())
    }

    fn event(&mut self, event: fmt::Arguments<'_>) -> io::Result<()> {
        self.to.write_all(if self.events == 0 { b"\n" } else { b",\n" })?;
        self.events += 1;
        self.to.write_fmt(event)
    }

    /// Ends it. `forgotten` says of ranks how many spans had gone.
    ///
    /// # Errors
    /// What the stream says.
    pub fn end(mut self, forgotten: &[(usize, u64)]) -> io::Result<W> {
        let lost =
            forgotten.iter().map(|(rank, count)| format!("\"earlier spans of rank {rank}\":\"{count} not kept\""));
        let lost = lost.collect::<Vec<_>>().join(",");
        write!(self.to, "\n],\"otherData\":{{{lost}}}}}\n")?;
        self.to.flush()?;
        Ok(self.to)
    }
}

/// How the name of a span begins, and what kinds are called.
fn words(kind: SpanKind) -> (&'static str, &'static str) {
    match kind {
        SpanKind::Kernel => ("", "kernel"),
        SpanKind::Plan => ("plan ", "plan"),
        SpanKind::Pack => ("pack ", "pack"),
        SpanKind::Local => ("move ", "local"),
        SpanKind::Wait => ("wait ", "wait"),
        SpanKind::Unpack => ("unpack ", "unpack"),
        SpanKind::Debug => ("debug point ", "debug"),
    }
}

/// Nanoseconds as microseconds, with all their digits.
struct Micros(u64);

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A text inside of a JSON string.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' | '\\' => write!(f, "\\{c}"),
            c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c)),
            c => write!(f, "{c}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(told: &[(usize, Told)], forgotten: &[(usize, u64)]) -> Value {
        let mut to = ChromeWriter::new(Vec::new()).unwrap();
        told.iter().for_each(|(rank, told)| to.add(*rank, told).unwrap());
        serde_json::from_slice(&to.end(forgotten).unwrap()).unwrap()
    }

    #[test]
    fn a_span_is_a_complete_event() {
        let spans = vec![(SpanKind::Wait, 1, 1_234_567, 89, Some(4)), (SpanKind::Kernel, 0, 2_000_000, 5_000, None)];
        let told = Told { names: vec!["recording a.wgsl".into(), "ghosts(f)".into()], spans, forgotten: 0 };
        let file = written(&[(2, told)], &[(2, 17)]);
        let events = file["traceEvents"].as_array().unwrap();
        assert_eq!(events[0]["args"], json!({"name": "rank 2"}));
        assert!(events.iter().all(|event| event["pid"] == 2 && event["tid"] == 0));
        let wait = json!({
            "ph": "X", "name": "wait for rank 4: ghosts(f)", "cat": "wait", "ts": 1234.567, "dur": 0.089, "pid": 2,
            "tid": 0, "args": {"what": "ghosts(f)", "for_rank": 4},
        });
        assert_eq!(events[3], wait);
        assert_eq!(events[4]["args"], json!({"what": "recording a.wgsl"}));
        assert_eq!((&events[4]["name"], &events[4]["ts"]), (&json!("recording a.wgsl"), &json!(2000.0)));
        assert_eq!(file["otherData"]["earlier spans of rank 2"], "17 not kept");
    }

    #[test]
    fn any_name_can_be_written() {
        let name: String = (0..0x300).filter_map(char::from_u32).chain("\u{2028}日本🦀".chars()).collect();
        let told = Told { names: vec![name.clone()], spans: vec![(SpanKind::Debug, 0, 0, 0, None)], forgotten: 0 };
        let file = written(&[(0, told)], &[]);
        assert_eq!(file["traceEvents"][3]["args"]["what"], name.as_str());
    }

    #[test]
    fn no_ranks_are_a_file_too() {
        assert_eq!(written(&[], &[]), json!({"displayTimeUnit": "ms", "traceEvents": [], "otherData": {}}));
    }
}
