//! Starting the ranks of a run and collecting what they return.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::{Settings, Start};
use super::environment;
use super::exit;
use super::failure::{PanicWatch, panicked, uncaught};
use super::finished::{Beginning, RankProgram, run_rank};
use super::threads::{Hub, Threads};
use super::{Config, Group};
use crate::error::{CallSite, ErrorKind, Failure, Result, TransportError};
use crate::trace;

/// Runs `program` on every rank and returns what the ranks of this process returned, in order of rank.
///
/// That is all of them where ranks are threads, one under MPI. Each rank runs on a thread of its own, so that the calling
/// thread may be the one of a window. May be called again when it has returned.
///
/// # Errors
/// The error of the lowest rank of this process that failed by itself, else the failure of another rank.
/// A rank that has finished while another still waits for it is an [`ErrorKind::Differing`].
/// A rank that panics makes this return [`TransportError::Panicked`]; under MPI it aborts the job.
///
/// # Ends of the process
/// Ranks that do not come back within [`Config::timeout`] of a failure are named, and end the process with code 1, under MPI
/// the whole job: there is no way to end a thread from outside. So does a rank that works on by itself for twice that time
/// after all others have finished.
///
/// A process that exits while this runs says so and exits with code 1, whatever code was given.
#[track_caller]
pub fn launch<R: Send>(config: &Config, program: impl Fn(Group) -> Result<R> + Send + Sync) -> Result<Vec<R>> {
    let _call = CallSite::enter();
    collect(config, &program)
}

/// [`launch`], compiled once for each type of result and not for each program.
fn collect<R: Send>(config: &Config, program: &(dyn Fn(Group) -> Result<R> + Sync)) -> Result<Vec<R>> {
    let settings = Settings::resolve(config, environment::variable, cfg!(feature = "mpi"))?;
    let returned = Mutex::new(BTreeMap::new());
    let ended = start(&settings, &|group| {
        let (rank, value) = (group.rank(), program(group)?);
        returned.lock().unwrap_or_else(PoisonError::into_inner).insert(rank, value);
        Ok(())
    })?;
    let returned = returned.into_inner().unwrap_or_else(PoisonError::into_inner);
    if ended.is_err() && settings.exit_on_failure && matches!(settings.start, Start::Mpi { .. }) {
        // One of the processes has said why.
        drop(returned);
        std::process::exit(1);
    }
    ended.map(|()| returned.into_values().collect())
}

/// What came of the ranks of this process, if they could be started.
fn start(settings: &Settings, program: &RankProgram<'_>) -> Result<Result<()>> {
    match &settings.start {
        Start::Threads(ranks) => Ok(on_threads(*ranks, settings, program)),
        #[cfg(feature = "mpi")]
        Start::Mpi { launcher, asked } => super::mpi::launch(launcher, *asked, settings, program),
        #[cfg(not(feature = "mpi"))]
        Start::Mpi { launcher, .. } => Err(TransportError::NeedsMpi { launcher: launcher.to_string() }.into()),
    }
}

fn on_threads(ranks: usize, settings: &Settings, program: &RankProgram<'_>) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    if let Some(text) = crowd(ranks, cores) {
        trace::warn(&text);
    }
    let _run = exit::RunGuard::begin();
    let hub = Hub::new(ranks);
    let (zero, call) = (Instant::now(), CallSite::here());
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let start = |rank| {
            let hub = &hub;
            let thread = thread::Builder::new().name(format!("rank {rank}")).stack_size(settings.stack_bytes);
            let body = move || {
                let result = one_thread(hub, rank, (settings, zero, call), program);
                hub.board.come_back(rank);
                result
            };
            thread.spawn_scoped(scope, body).map_err(|error| {
                hub.board.come_back(rank);
                let message = error.to_string();
                TransportError::Thread { rank, message }
            })
        };
        let handles: Vec<_> = (0..ranks).map(start).collect();
        if let Some(error) = handles.iter().find_map(|handle| handle.as_ref().err()) {
            // The ranks that did start wait for this one, and must end.
            let (operation, message) = ("its start".to_owned(), error.to_string());
            hub.fail(&Failure::other(handles.iter().position(Result::is_err).unwrap_or(0), operation, message));
        }
        hub.board.wait_for_all(settings.patience.timeout.unwrap_or(Duration::MAX));
        let join = |handle: Result<thread::ScopedJoinHandle<'_, Result<()>>, TransportError>| match handle?.join() {
            Ok(result) => result,
            Err(_) => Err(TransportError::Other("the thread of a rank ended without a result".into()).into()),
        };
        handles.into_iter().map(join).collect()
    });
    first_error(results)
}

/// What so many ranks cost, where they are more than tests of a decomposition need and share few cores.
fn crowd(ranks: usize, cores: usize) -> Option<String> {
    (ranks > 64 && ranks > 16 * cores).then(|| {
        format!(
            "{ranks} ranks are threads on {cores} {}: each has a {}th of a core, so that all wait that much longer for one \
             another, and each world of them opens {ranks} devices; more ranks than cores make nothing faster",
            if cores == 1 { "core" } else { "cores" },
            ranks / cores,
        )
    })
}

fn one_thread(
    hub: &Arc<Hub>,
    rank: usize,
    (settings, zero, call): (&Settings, Instant, CallSite),
    program: &RankProgram<'_>,
) -> Result<()> {
    let told = Arc::clone(hub);
    let _watch = PanicWatch::new(rank, move |panic| {
        let (operation, message) = (format!("a panic at {}", panic.place), panic.message.clone());
        told.fail(&Failure::other(rank, operation, message));
    });
    let run = || {
        let _call = call.entered();
        let transport = Box::new(Threads::new(Arc::clone(hub), rank));
        let group = Group::of_all(transport, settings.patience, settings.checks);
        run_rank(&group, Beginning { zero, trace: settings.trace.as_deref() }, program)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(rank, uncaught(&*payload))))
}

/// The first error that is a rank's own, else the first.
fn first_error(results: Vec<Result<()>>) -> Result<()> {
    let own =
        |result: &Result<()>| result.as_ref().is_err_and(|error| !matches!(error.kind(), ErrorKind::Remote { .. }));
    let first = results.iter().position(own).or(results.iter().position(Result::is_err));
    first.and_then(|rank| results.into_iter().nth(rank)).unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ranks_talk_and_return_in_order() {
        for ranks in [1, 2, 3, 5, 8] {
            let results = launch(&Config::apart(ranks), |group: Group| {
                let mut sum = [group.rank() as u64 + 1];
                group.all_reduce(&mut sum, |a, b| *a += b)?;
                group.barrier()?;
                Ok((group.rank(), sum[0]))
            });
            let sum = (ranks * (ranks + 1) / 2) as u64;
            assert_eq!(results.unwrap(), (0..ranks).map(|rank| (rank, sum)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_ranks_on_few_cores_are_told_what_that_costs() {
        for (ranks, cores) in [(1, 1), (64, 1), (65, 8), (128, 8), (1000, 64)] {
            assert_eq!(crowd(ranks, cores), None, "{ranks} on {cores}");
        }
        for (ranks, cores) in [(65, 1), (65, 4), (129, 8), (1025, 64)] {
            let text = crowd(ranks, cores).unwrap_or_else(|| panic!("nothing said of {ranks} on {cores}"));
            assert!(text.contains(&format!("{ranks} ranks are threads on {cores} core")), "{text}");
        }
    }

    #[test]
    fn the_own_error_of_the_lowest_rank_is_returned() {
        let error = launch(&Config::apart(4), |group: Group| match group.rank() {
            rank @ (1 | 3) => Err::<(), _>(Error::program(format!("file of rank {rank} missing"))),
            _ => group.barrier(),
        });
        assert_eq!(error.unwrap_err(), Error::program("file of rank 1 missing"));
    }
}
