//! The spans of all ranks in one file, written by rank 0 at the end of a run, however it ended.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::payload::{decoded, encoded};
use super::{Beside, Group, Tag};
use crate::error::{Result, TransportError, describe_refusal};
use crate::trace::{ChromeWriter, Told, TraceFile, warn};

/// After so long, ranks that have come to the end of a run have told their spans.
const WELL: Duration = Duration::from_secs(60);
/// And after so long those of a run that has failed that ever will: less than after which ranks are missed.
const FAILED: Duration = Duration::from_secs(2);

/// Whether a file can be written there, before a long run.
pub(super) fn check(file: &Path) -> Result<()> {
    TraceFile::create(file).map(drop).map_err(|error| refused(file, &error).into())
}

fn refused(file: &Path, error: &io::Error) -> TransportError {
    TransportError::Trace { file: file.display().to_string(), message: describe_refusal(file, error) }
}

/// Tells rank 0 what this rank has kept, or writes what all have. `well`: all ranks have come to the end of the run, or soon
/// will. What goes wrong here ends no run: people are told.
pub(super) fn collect(group: &Group, file: &Path, well: bool) {
    let (own, tag) = (Told::own(), group.tag_beside(Beside::Spans));
    let done = match group.rank() {
        0 => write(group, file, &own, tag, well),
        rank => encoded(&own)
            .and_then(|own| Ok(group.transport().post(0, tag, own)?))
            .map_err(|error| format!("the trace has nothing of rank {rank}: {error}")),
    };
    if let Err(text) = done {
        warn(&text);
    }
}

fn write(group: &Group, file: &Path, own: &Told, tag: Tag, well: bool) -> Result<(), String> {
    let failed = |error: io::Error| refused(file, &error).to_string();
    let mut to = ChromeWriter::new(TraceFile::create(file).map_err(failed)?).map_err(failed)?;
    to.add(0, own).map_err(failed)?;
    let mut forgotten = vec![(0, own.forgotten())];
    let mut missing: Vec<usize> = (1..group.size()).collect();
    let mut problem = None;
    let timeout = group.patience().timeout.unwrap_or(Duration::MAX);
    let limit = if well { WELL.min(timeout) } else { FAILED.min(timeout / 4) };
    let began = Instant::now();
    // Straight from the transport: waits of a group end with the failure of the run.
    while !missing.is_empty() && problem.is_none() {
        match group.transport().poll(None, tag) {
            Ok(Some(received)) => match decoded::<Told>(&received.payload) {
                Ok(told) => {
                    to.add(received.from, &told).map_err(failed)?;
                    forgotten.push((received.from, told.forgotten()));
                    missing.retain(|&rank| rank != received.from);
                }
                Err(error) => problem = Some(error.to_string()),
            },
            Ok(None) if began.elapsed() >= limit => problem = Some("they have not told it in time".to_owned()),
            Ok(None) => group.transport().idle(),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    forgotten.retain(|(_, count)| *count > 0);
    forgotten.sort_unstable();
    to.end(&forgotten).and_then(TraceFile::finish).map_err(failed)?;
    if let Some(&(rank, count)) = forgotten.iter().max_by_key(|(_, count)| *count) {
        let file = file.display();
        warn(&format!(
            "the trace {file} has the latest spans only: of rank {rank} the first {count} are not there; a run of fewer steps \
             is there as a whole"
        ));
    }
    match problem {
        Some(problem) => Err(format!("the trace {} has nothing of ranks {missing:?}: {problem}", file.display())),
        None => Ok(()),
    }
}
