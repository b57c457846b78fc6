//! Starting a program on its ranks.

use std::num::NonZero;

use crate::debug;
use crate::device::{CoreClaim, Device, DeviceOptions, set_runtime_directory};
use crate::error::{CallSite, Result};
use crate::transport::{self, Config, Group, TransportKind, copied, tell_uncaught, values};
use crate::world::World;

/// Runs a program on every rank: under an MPI launcher on its processes, with `ZIPPY_RANKS=n` on n
/// threads, else on one rank. Returns when all ranks of this process are done.
///
/// Ranks run on threads of their own, so that the main thread stays free, as a window on macOS
/// needs it.
///
/// # Errors
/// The first failure of a rank; a launcher that does not match the build; no adapter; one-sided
/// operations without a fence.
///
/// This is for programs that end when it fails: under MPI the process of the rank that failed first
/// says why, and all exit ([`Config::exit_on_failure`](crate::Config)). [`run_with`] returns,
/// unless told otherwise. Two things end the process (or the job) in either: a rank that does not
/// come back after a failure ([`Config::timeout`](crate::Config)), and a process that exits in the
/// middle of the run, which is said and exits with code 1.
///
/// A limit on the size of files (`ulimit -f`) ends no program: what is too large to be written is
/// an error.
#[track_caller]
pub fn run<F>(program: F) -> Result<()>
where
    F: Fn(&World) -> Result<()> + Send + Sync,
{
    run_with(Config::default().exit_on_failure(true), program).map(drop)
}

/// [`run`] with a configuration, and with results: of all ranks under threads, of this process'
/// rank under MPI.
///
/// # Errors
/// As [`run`]. Under MPI every process returns one: that of its own rank, or
/// [`ErrorKind::Remote`](crate::error::ErrorKind::Remote).
#[track_caller]
pub fn run_with<R, F>(config: Config, program: F) -> Result<Vec<R>>
where
    R: Send,
    F: Fn(&World) -> Result<R> + Send + Sync,
{
    prepare_process();
    let call = CallSite::here();
    transport::launch(&config, |group| on_rank(call, group, &program))
}

/// [`run`] on the ranks of a communicator, for programs that have initialised MPI themselves. The
/// program runs on the calling thread; the communicator is duplicated, so that messages of both
/// cannot meet. Collective over the communicator.
///
/// # Errors
/// As [`run`]; and [`Foreign`](crate::error::TransportError::Foreign) when MPI is not initialised,
/// or for one thread only.
#[cfg(feature = "mpi")]
#[track_caller]
pub fn run_on<R, F>(communicator: &impl mpi::traits::AsRaw<Raw = mpi::ffi::MPI_Comm>, program: F) -> Result<R>
where
    F: Fn(&World) -> Result<R>,
{
    prepare_process();
    let call = CallSite::here();
    transport::run_on(communicator, |group| on_rank(call, group, &program))
}

/// Prepares a process, before it has other threads: the first call in the `main` of a program that
/// opens a window, or that runs ranks on a thread of its own. [`run`], [`run_with`] and `run_on`
/// call it themselves.
///
/// * A write beyond the limit on the size of files is an error ([`survive_file_limit`]).
/// * On Linux `XDG_RUNTIME_DIR` is set where it is missing, to a directory of this user alone:
///   libraries of Mesa's driver print two lines about it otherwise. In a process with other threads
///   the variable stays as it is.
pub fn prepare_process() {
    set_runtime_directory();
    survive_file_limit();
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) fail as one to a full disk
/// does, for programs that write files without a run; [`run`], [`run_with`] and `run_on` do it
/// themselves. The signal of such a write would end the process, without a word and with half of a
/// file. A handler of the program's own is called all the same.
pub fn survive_file_limit() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // Nobody reads the flag: that there is a handler is enough.
            let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
        });
    }
}

/// Runs the program on one rank. Errors before and after it name the line that started the run.
fn on_rank<R>(call: CallSite, group: Group, program: &dyn Fn(&World) -> Result<R>) -> Result<R> {
    let entered = call.entered();
    let world = opened(group)?;
    debug::attach_by_environment(&world)?;
    drop(entered);
    tell_uncaught(|| {
        let result = program(&world).and_then(|result| {
            let _call = call.entered();
            world.close().map(|()| result)
        });
        match &result {
            Ok(_) => world.detach("the program has come to its end"),
            Err(error) => world.detach(&format!("the program has failed: {error}")),
        }
        result
    })
}

/// The number of cores of this process, which shares those of its node with the processes of other ranks. Collective.
fn process_cores(group: &Group) -> Result<NonZero<usize>> {
    let own = CoreClaim::of_this_process();
    let claims: Vec<Vec<CoreClaim>> = group.all_gather_v(copied(&[own]))?.iter().map(values).collect::<Result<_>>()?;
    Ok(own.share(&claims.concat()))
}

fn opened(group: Group) -> Result<World> {
    let mut options = DeviceOptions::from_env(group.node_rank(), group.node_size())?;
    if group.kind() == TransportKind::Mpi {
        options.node_processes = group.node_size();
        // All ranks, as `ZIPPY_THREADS` may be set for some of them only.
        let cores = process_cores(&group)?;
        options.threads = options.threads.or(Some(cores));
    }
    // Stop a native kernel before the ranks that wait for this one reach their timeout.
    options.kernel_limit = group.patience().timeout.map(|limit| limit.mul_f64(0.9));
    let device = Device::open(&options)?;
    World::open(group, device)
}
