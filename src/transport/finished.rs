//! Ranks whose program has finished: whoever still waits for a message of one is told at once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Instant;

use super::group::ITS_PROGRAM;
use super::{Group, Payload, Tag, traced, variables};
use crate::error::{CallSite, Error, ErrorKind, Failure, Result};
use crate::trace;

/// A program whose result is kept elsewhere, so that what starts ranks is compiled once and not for each program.
pub(crate) type RankProgram<'a> = dyn Fn(Group) -> Result<()> + Sync + 'a;

/// From when a rank counts, and where the timeline of all goes, if anywhere: the name is rank 0's.
pub(crate) struct Beginning<'a> {
    pub zero: Instant,
    pub trace: Option<&'a Path>,
}

/// One rank's program and its end.
pub(crate) fn run_rank(
    group: &Group,
    Beginning { zero, trace: file }: Beginning<'_>,
    program: &dyn Fn(Group) -> Result<()>,
) -> Result<()> {
    let _kept = trace::Kept::begin(zero);
    if group.rank() == 0 {
        variables::warn_of_unknown();
    }
    let finish = |()| group.finished().and_then(|()| group.finish());
    let called = || {
        let _left = CallSite::leave();
        program(group.clone())
    };
    let run = || called().and_then(finish).map_err(|error| group.fail_for_good(error));
    let Some(file) = file else { return run() };
    if group.rank() == 0 {
        traced::check(file).map_err(|error| group.fail_for_good(error))?;
    }
    trace::keep(trace::FILE_SPANS);
    // What a rank did before it panicked is told, too.
    let ended = catch_unwind(AssertUnwindSafe(run));
    traced::collect(group, file, matches!(ended, Ok(Ok(()))));
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

impl Group {
    /// This rank's program has finished.
    fn finished(&self) -> Result<()> {
        self.station().finished.set(true);
        Ok(self.transport().finish()?)
    }

    /// The next message with this tag from a rank, if it has arrived; an error if it will not.
    pub(crate) fn next_of(&self, operation: &str, from: usize, tag: Tag) -> Result<Option<Payload>> {
        let found = self.poll_from(from, tag)?;
        // Comparisons of calls come from ranks that have finished, too.
        if found.is_some() || tag.is_reserved() || !self.has_finished(from)? {
            return Ok(found);
        }
        // What it posted before it finished may have come since the first look.
        let found = self.poll_from(from, tag)?;
        found.map_or_else(|| Err(self.gone_apart(operation, from)), |payload| Ok(Some(payload)))
    }

    /// The next message with this tag from any rank, if it has arrived; an error if all others have finished without one.
    pub(crate) fn next_of_any(&self, tag: Tag) -> Result<Option<(usize, Payload)>> {
        let found = self.try_receive(None, tag)?;
        let others = || (0..self.size()).filter(|&rank| rank != self.rank());
        let Some(other) = others().next().filter(|_| found.is_none()) else { return Ok(found) };
        for rank in others() {
            if !self.has_finished(rank)? {
                return Ok(None);
            }
        }
        let found = self.try_receive(None, tag)?;
        found.map_or_else(|| Err(self.gone_apart("receive", other)), |found| Ok(Some(found)))
    }

    fn has_finished(&self, rank: usize) -> Result<bool> {
        Ok(self.transport().has_finished(self.world_rank_of(rank))?)
    }

    /// The failure of this rank's program, told to all ranks. Another rank's may come from a decision that all shared,
    /// after which the others went on: it is told, too.
    fn fail_for_good(&self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Remote { .. }) && self.transport().failure().is_none() {
            self.transport().fail(&Failure::new(self.world_rank(), String::new(), &error));
        }
        let error = self.fail(error);
        if self.size() == 1 {
            return error;
        }
        let operation = match &*self.station().own.borrow() {
            Some(own) if own.error == error => own.operation.clone(),
            _ => ITS_PROGRAM.to_owned(),
        };
        error.of_rank(self.world_rank(), operation)
    }
}
