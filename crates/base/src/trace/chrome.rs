//! [`ChromeWriter`]: spans of all ranks as Chrome trace events in JSON, for timeline viewers such
//! as Perfetto.
//!
//! Each rank is a process with one thread. Spans are complete events (`X`) with times in
//! microseconds.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::spans::{self, Span, SpanKind};

/// Spans of a rank in a serializable form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanRecord {
    names: Vec<String>,
    spans: Vec<PackedSpan>,
    forgotten: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PackedSpan {
    kind: SpanKind,
    name: u32,
    start: u64,
    duration: u64,
    /// Awaited rank.
    peer: Option<u32>,
}

impl SpanRecord {
    /// Recorded spans of the calling rank.
    pub fn own() -> Self {
        let mut rank_spans = Self { names: Vec::new(), spans: Vec::new(), forgotten: spans::forgotten() };
        let mut name_indices = HashMap::new();
        for Span { kind, what, start, end, peer } in spans::spans_after(0) {
            let name = *name_indices.entry(what.clone()).or_insert_with(|| {
                rank_spans.names.push(what.to_string());
                rank_spans.names.len() as u32 - 1
            });
            rank_spans.spans.push(PackedSpan { kind, name, start, duration: end - start, peer });
        }
        rank_spans
    }

    /// Number of earlier spans that the rank has discarded.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

/// Writer of a trace file in Chrome's JSON format.
pub struct ChromeWriter<W> {
    output: W,
    events: u64,
}

impl<W: Write> ChromeWriter<W> {
    /// Begins the file on a stream.
    ///
    /// # Errors
    /// The error of the stream.
    pub fn new(mut output: W) -> io::Result<Self> {
        output.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        Ok(Self { output, events: 0 })
    }

    /// Writes the spans of a rank.
    ///
    /// # Errors
    /// The error of the stream.
    pub fn add(&mut self, rank: usize, rank_spans: &SpanRecord) -> io::Result<()> {
        for (name, value) in [
            ("process_name", format!("{{\"name\":\"rank {rank}\"}}")),
            ("process_sort_index", format!("{{\"sort_index\":{rank}}}")),
            ("thread_name", "{\"name\":\"host\"}".to_owned()),
        ] {
            self.event(format_args!("{{\"ph\":\"M\",\"name\":\"{name}\",\"pid\":{rank},\"tid\":0,\"args\":{value}}}"))?;
        }
        for &PackedSpan { kind, name, start, duration, peer } in &rank_spans.spans {
            let name = Escaped(rank_spans.names.get(name as usize).map_or("", String::as_str));
            let (start, duration) = (Micros(start), Micros(duration));
            let (verb, category) = words(kind);
            let awaited = peer.map_or_else(String::new, |peer| format!("for rank {peer}: "));
            let peer = peer.map_or_else(String::new, |peer| format!(",\"for_rank\":{peer}"));
            self.event(format_args!(
                "{{\"ph\":\"X\",\"name\":\"{verb}{awaited}{name}\",\"cat\":\"{category}\",\"ts\":{start},\"dur\":{duration},\
                 \"pid\":{rank},\"tid\":0,\"args\":{{\"what\":\"{name}\"{peer}}}}}"
            ))?;
        }
        Ok(())
    }

    fn event(&mut self, event: fmt::Arguments<'_>) -> io::Result<()> {
        self.output.write_all(if self.events == 0 { b"\n" } else { b",\n" })?;
        self.events += 1;
        self.output.write_fmt(event)
    }

    /// Ends the file and returns the stream. `forgotten` has ranks with their numbers of discarded
    /// spans.
    ///
    /// # Errors
    /// The error of the stream.
    pub fn end(mut self, forgotten: &[(usize, u64)]) -> io::Result<W> {
        let discarded =
            forgotten.iter().map(|(rank, count)| format!("\"earlier spans of rank {rank}\":\"{count} not kept\""));
        let discarded = discarded.collect::<Vec<_>>().join(",");
        write!(self.output, "\n],\"otherData\":{{{discarded}}}}}\n")?;
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Prefix of a span's name, and its category.
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

/// Displays nanoseconds as microseconds with three decimals.
struct Micros(u64);

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Displays a text with the escapes of a JSON string.
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

    fn written(ranks: &[(usize, SpanRecord)], forgotten: &[(usize, u64)]) -> Value {
        let mut writer = ChromeWriter::new(Vec::new()).unwrap();
        ranks.iter().for_each(|(rank, rank_spans)| writer.add(*rank, rank_spans).unwrap());
        serde_json::from_slice(&writer.end(forgotten).unwrap()).unwrap()
    }

    #[test]
    fn span_is_written_as_complete_event() {
        let wait = PackedSpan { kind: SpanKind::Wait, name: 1, start: 1_234_567, duration: 89, peer: Some(4) };
        let kernel = PackedSpan { kind: SpanKind::Kernel, name: 0, start: 2_000_000, duration: 5_000, peer: None };
        let spans = vec![wait, kernel];
        let rank_spans = SpanRecord { names: vec!["recording a.wgsl".into(), "ghosts(f)".into()], spans, forgotten: 0 };
        let file = written(&[(2, rank_spans)], &[(2, 17)]);
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
    fn name_with_special_characters_is_escaped() {
        let name: String = (0..0x300).filter_map(char::from_u32).chain("\u{2028}日本🦀".chars()).collect();
        let span = PackedSpan { kind: SpanKind::Debug, name: 0, start: 0, duration: 0, peer: None };
        let rank_spans = SpanRecord { names: vec![name.clone()], spans: vec![span], forgotten: 0 };
        let file = written(&[(0, rank_spans)], &[]);
        assert_eq!(file["traceEvents"][3]["args"]["what"], name.as_str());
    }

    #[test]
    fn file_without_ranks_is_valid() {
        assert_eq!(written(&[], &[]), json!({"displayTimeUnit": "ms", "traceEvents": [], "otherData": {}}));
    }
}
