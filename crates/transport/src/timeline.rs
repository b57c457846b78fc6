//! Collection of the trace spans of all ranks in one file, written by rank 0 at the end of a run.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::payload::{decoded, encoded};
use super::{Group, ReservedTag, Tag};
use zippy_base::error::{Result, TransportError, describe_refusal};
use zippy_base::trace::{ChromeWriter, SpanRecord, TraceFile, warn};

/// Time limit for the spans of all ranks at the end of a successful run.
const SUCCESS_LIMIT: Duration = Duration::from_secs(60);
/// Time limit at the end of a failed run, before the report of missing ranks.
const FAILURE_LIMIT: Duration = Duration::from_secs(2);

/// Checks before a run that the timeline file can be written.
pub(super) fn check(file: &Path) -> Result<()> {
    TraceFile::create(file).map(drop).map_err(|error| trace_error(file, &error).into())
}

fn trace_error(file: &Path, error: &io::Error) -> TransportError {
    TransportError::Trace { file: file.display().to_string(), message: describe_refusal(file, error) }
}

/// Sends the spans of this rank to rank 0, where all spans are written. `success` is true if all
/// ranks reach the end of the run. A failure is only a warning, as it does not affect results.
pub(super) fn collect(group: &Group, file: &Path, success: bool) {
    let (own, tag) = (SpanRecord::own(), group.reserved_tag(ReservedTag::Spans));
    let done = match group.rank() {
        0 => write(group, file, &own, tag, success),
        rank => encoded(&own)
            .and_then(|own| Ok(group.transport().post(0, tag, own)?))
            .map_err(|error| format!("the trace has no spans of rank {rank}: {error}")),
    };
    if let Err(text) = done {
        warn(&text);
    }
}

fn write(group: &Group, file: &Path, own: &SpanRecord, tag: Tag, success: bool) -> Result<(), String> {
    let failed = |error: io::Error| trace_error(file, &error).to_string();
    let mut writer = ChromeWriter::new(TraceFile::create(file).map_err(failed)?).map_err(failed)?;
    writer.add(0, own).map_err(failed)?;
    let mut forgotten = vec![(0, own.forgotten())];
    let mut missing: Vec<usize> = (1..group.size()).collect();
    let mut problem = None;
    let timeout = group.wait_limits().timeout.unwrap_or(Duration::MAX);
    let limit = if success { SUCCESS_LIMIT.min(timeout) } else { FAILURE_LIMIT.min(timeout / 4) };
    let began = Instant::now();
    // Waits of a group would fail after a failure of the run.
    while !missing.is_empty() && problem.is_none() {
        match group.transport().poll(None, tag) {
            Ok(Some(received)) => match decoded::<SpanRecord>(&received.payload) {
                Ok(record) => {
                    writer.add(received.from, &record).map_err(failed)?;
                    forgotten.push((received.from, record.forgotten()));
                    missing.retain(|&rank| rank != received.from);
                }
                Err(error) => problem = Some(error.to_string()),
            },
            Ok(None) if began.elapsed() >= limit => problem = Some("their spans did not arrive in time".to_owned()),
            Ok(None) => group.transport().idle(),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    forgotten.retain(|(_, count)| *count > 0);
    forgotten.sort_unstable();
    writer.end(&forgotten).and_then(TraceFile::finish).map_err(failed)?;
    if let Some(&(rank, count)) = forgotten.iter().max_by_key(|(_, count)| *count) {
        let file = file.display();
        warn(&format!(
            "the trace {file} has only the latest spans: the first {count} of rank {rank} are missing; run fewer steps to \
             record all"
        ));
    }
    match problem {
        Some(problem) => Err(format!("the trace {} has no spans of ranks {missing:?}: {problem}", file.display())),
        None => Ok(()),
    }
}
