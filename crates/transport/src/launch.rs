//! [`launch`]: starts the ranks of a run and collects their results.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::{Settings, Start};
use super::environment;
use super::exit;
use super::panic_watch::{PanicWatch, panicked, report_panic};
use super::run_rank::{RankProgram, RankStart, run_rank};
use super::thread_transport::{SharedRun, ThreadTransport};
use super::{Config, Group};
use zippy_base::error::{CallSite, ErrorKind, Failure, Result, TransportError};
use zippy_base::trace;

/// Runs `program` on every rank and returns the results of this process's ranks, in order of rank:
/// all ranks if ranks are threads, one rank under MPI.
///
/// Each rank has its own thread, so the calling thread may own a window. Successive calls are
/// independent runs.
///
/// # Errors
/// * The error of the lowest rank of this process with a failure of its own, else the failure of
///   another rank ([`ErrorKind::Remote`]).
/// * [`ErrorKind::Differing`] if a rank waits for a message of a finished rank.
/// * [`TransportError::Panicked`] if a rank panics. Under MPI, a panic aborts the job.
///
/// # End of the process
/// The process ends with code 1, under MPI the whole job, in these cases:
///
/// * A rank does not return within [`Config::timeout`] of a failure. A message names the rank.
/// * A rank computes for more than twice this time after all others have finished.
/// * The process exits while this function runs, with any exit code. A message reports the exit.
#[track_caller]
pub fn launch<R: Send>(config: &Config, program: impl Fn(Group) -> Result<R> + Send + Sync) -> Result<Vec<R>> {
    let _call = CallSite::enter();
    collect(config, &program)
}

/// [`launch`] with a dynamic program type, so that code is generated once per result type.
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
        drop(returned);
        std::process::exit(1);
    }
    ended.map(|()| returned.into_values().collect())
}

/// Runs the ranks of this process. The outer error is a failure to start the ranks; the inner
/// result is the result of the run.
fn start(settings: &Settings, program: &RankProgram<'_>) -> Result<Result<()>> {
    match &settings.start {
        Start::Threads(ranks) => Ok(run_on_threads(*ranks, settings, program)),
        #[cfg(feature = "mpi")]
        Start::Mpi { launcher, requested } => super::mpi::launch(launcher, *requested, settings, program),
        #[cfg(not(feature = "mpi"))]
        Start::Mpi { launcher, .. } => Err(TransportError::NeedsMpi { launcher: launcher.to_string() }.into()),
    }
}

fn run_on_threads(ranks: usize, settings: &Settings, program: &RankProgram<'_>) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    if let Some(text) = oversubscription_warning(ranks, cores) {
        trace::warn(&text);
    }
    let _run = exit::RunGuard::begin();
    let shared_run = SharedRun::new(ranks);
    let start = ThreadStart { settings, clock_start: Instant::now(), call_site: CallSite::here() };
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let spawn = |rank| {
            let (shared_run, start) = (&shared_run, &start);
            let thread = thread::Builder::new().name(format!("rank {rank}")).stack_size(settings.stack_bytes);
            let body = move || {
                let result = run_on_thread(shared_run, rank, start, program);
                shared_run.status.set_returned(rank);
                result
            };
            thread.spawn_scoped(scope, body).map_err(|error| {
                shared_run.status.set_returned(rank);
                let message = error.to_string();
                TransportError::Thread { rank, message }
            })
        };
        let handles: Vec<_> = (0..ranks).map(spawn).collect();
        if let Some(error) = handles.iter().find_map(|handle| handle.as_ref().err()) {
            // The started ranks wait for the missing rank and must end.
            let (operation, message) = ("its start".to_owned(), error.to_string());
            shared_run.fail(&Failure::other(handles.iter().position(Result::is_err).unwrap_or(0), operation, message));
        }
        shared_run.status.wait_for_all(settings.wait_limits.timeout.unwrap_or(Duration::MAX));
        let join = |handle: Result<thread::ScopedJoinHandle<'_, Result<()>>, TransportError>| match handle?.join() {
            Ok(result) => result,
            Err(_) => Err(TransportError::Other("the thread of a rank ended without a result".into()).into()),
        };
        handles.into_iter().map(join).collect()
    });
    first_error(results)
}

/// Warning about more than 64 ranks on few cores. Tests of decompositions need at most 64.
fn oversubscription_warning(ranks: usize, cores: usize) -> Option<String> {
    (ranks > 64 && ranks > 16 * cores).then(|| {
        format!(
            "{ranks} ranks are threads on {cores} {}: each has a {}th of a core, so that every wait takes that \
             much longer, and each world opens {ranks} devices; more ranks than cores make no program faster",
            if cores == 1 { "core" } else { "cores" },
            ranks / cores,
        )
    })
}

struct ThreadStart<'a> {
    settings: &'a Settings,
    clock_start: Instant,
    /// Call site of `launch`, for errors outside of the program.
    call_site: CallSite,
}

fn run_on_thread(
    shared_run: &Arc<SharedRun>,
    rank: usize,
    start: &ThreadStart<'_>,
    program: &RankProgram<'_>,
) -> Result<()> {
    let run_of_watch = Arc::clone(shared_run);
    let _watch = PanicWatch::new(rank, move |panic| {
        let (operation, message) = (format!("a panic at {}", panic.location), panic.message.clone());
        run_of_watch.fail(&Failure::other(rank, operation, message));
    });
    let run = || {
        let _call = start.call_site.entered();
        let transport = Box::new(ThreadTransport::new(Arc::clone(shared_run), rank));
        let group = Group::of_all_ranks(transport, start.settings.wait_limits, start.settings.checks);
        run_rank(&group, RankStart { clock_start: start.clock_start, trace: start.settings.trace.as_deref() }, program)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(rank, report_panic(&*payload))))
}

/// The error of the lowest rank that is not [`ErrorKind::Remote`], else the first error.
fn first_error(results: Vec<Result<()>>) -> Result<()> {
    let own =
        |result: &Result<()>| result.as_ref().is_err_and(|error| !matches!(error.kind(), ErrorKind::Remote { .. }));
    let first = results.iter().position(own).or(results.iter().position(Result::is_err));
    first.and_then(|rank| results.into_iter().nth(rank)).unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zippy_base::error::Error;

    #[test]
    fn launch_returns_results_in_order_of_rank() {
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
    fn many_ranks_on_few_cores_give_warning() {
        for (ranks, cores) in [(1, 1), (64, 1), (65, 8), (128, 8), (1000, 64)] {
            assert_eq!(oversubscription_warning(ranks, cores), None, "{ranks} on {cores}");
        }
        for (ranks, cores) in [(65, 1), (65, 4), (129, 8), (1025, 64)] {
            let text =
                oversubscription_warning(ranks, cores).unwrap_or_else(|| panic!("no warning for {ranks} on {cores}"));
            assert!(text.contains(&format!("{ranks} ranks are threads on {cores} core")), "{text}");
        }
    }

    #[test]
    fn launch_returns_own_error_of_lowest_rank() {
        let error = launch(&Config::apart(4), |group: Group| match group.rank() {
            rank @ (1 | 3) => Err::<(), _>(Error::program(format!("file of rank {rank} missing"))),
            _ => group.barrier(),
        });
        assert_eq!(error.unwrap_err(), Error::program("file of rank 1 missing"));
    }
}
