//! [`run_rank`]: runs the program of one rank, and ends its part of the run.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::Instant;

use super::group::PROGRAM_OPERATION;
use super::{Group, Payload, Tag, timeline, variables};
use zippy_base::error::{CallSite, Error, ErrorKind, Failure, Result};
use zippy_base::trace;

/// Program of a rank, with a result stored by the caller. The dynamic type avoids generated code
/// per program.
pub(crate) type RankProgram<'a> = dyn Fn(Group) -> Result<()> + Sync + 'a;

/// Start of a rank's clock, and the timeline file of the run. Only rank 0 uses the path.
pub(crate) struct RankStart<'a> {
    pub clock_start: Instant,
    pub trace: Option<&'a Path>,
}

/// Runs the program of one rank and the collective end of the run. Records and writes the timeline
/// if `trace` is set.
pub(crate) fn run_rank(
    group: &Group,
    RankStart { clock_start, trace: file }: RankStart<'_>,
    program: &dyn Fn(Group) -> Result<()>,
) -> Result<()> {
    let _span_log = trace::SpanLogGuard::begin(clock_start);
    if group.rank() == 0 {
        variables::warn_of_unknown();
    }
    let finish = |()| group.mark_finished().and_then(|()| group.finish());
    let call_program = || {
        let _outside = CallSite::leave();
        program(group.clone())
    };
    let run = || call_program().and_then(finish).map_err(|error| group.fail_program(error));
    let Some(file) = file else { return run() };
    if group.rank() == 0 {
        timeline::check(file).map_err(|error| group.fail_program(error))?;
    }
    trace::keep(trace::FILE_SPANS);
    let ended = catch_unwind(AssertUnwindSafe(run));
    timeline::collect(group, file, matches!(ended, Ok(Ok(()))));
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

impl Group {
    fn mark_finished(&self) -> Result<()> {
        self.rank_state().finished.set(true);
        Ok(self.transport().finish()?)
    }

    /// Returns the next arrived message with this tag from a rank, or an error if that rank has
    /// finished and the message cannot arrive.
    pub(crate) fn poll_running(&self, operation: &str, from: usize, tag: Tag) -> Result<Option<Payload>> {
        let found = self.poll_from(from, tag)?;
        if found.is_some() || tag.is_reserved() || !self.has_finished(from)? {
            return Ok(found);
        }
        // The message may have arrived before the end of the rank was known.
        let found = self.poll_from(from, tag)?;
        found.map_or_else(|| Err(self.calls_differ(operation, from)), |payload| Ok(Some(payload)))
    }

    /// Returns the next arrived message with this tag from any rank, with its sender, or an error
    /// if all other ranks have finished.
    pub(crate) fn poll_any_running(&self, tag: Tag) -> Result<Option<(usize, Payload)>> {
        let found = self.try_receive(None, tag)?;
        let others = || (0..self.size()).filter(|&rank| rank != self.rank());
        let Some(other) = others().next().filter(|_| found.is_none()) else { return Ok(found) };
        for rank in others() {
            if !self.has_finished(rank)? {
                return Ok(None);
            }
        }
        let found = self.try_receive(None, tag)?;
        found.map_or_else(|| Err(self.calls_differ("receive", other)), |found| Ok(Some(found)))
    }

    fn has_finished(&self, rank: usize) -> Result<bool> {
        Ok(self.transport().has_finished(self.world_rank_of(rank))?)
    }

    /// Reports the error of this rank's program to all ranks and returns it.
    ///
    /// An [`ErrorKind::Remote`] that no rank has reported is also reported: ranks may exchange
    /// errors as data.
    fn fail_program(&self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Remote { .. }) && self.transport().failure().is_none() {
            self.transport().fail(&Failure::new(self.world_rank(), String::new(), &error));
        }
        let error = self.fail(error);
        if self.size() == 1 {
            return error;
        }
        let operation = match &*self.rank_state().own_failure.borrow() {
            Some(own) if own.error == error => own.operation.clone(),
            _ => PROGRAM_OPERATION.to_owned(),
        };
        error.of_rank(self.world_rank(), operation)
    }
}
