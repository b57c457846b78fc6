//! [`run`], [`run_with`] and `run_on`: start a program on all ranks.

use std::num::NonZero;

use crate::debug;
use crate::device::{CoreClaim, Device, DeviceOptions, set_runtime_directory};
use crate::error::{CallSite, Result};
use crate::transport::{self, Config, Group, TransportKind, copied, report_uncaught, values};
use crate::world::World;

/// Runs a program on every rank: on the processes of an MPI launcher, else on `ZIPPY_RANKS`
/// threads, else on one rank. Returns when all ranks of this process have ended.
///
/// Ranks run on threads of their own, so the main thread stays free, for example for a window on
/// macOS.
///
/// # Errors
/// The first failure of a rank; a launcher that does not belong to the MPI library of the build; no
/// adapter; one-sided operations without a fence.
///
/// `run` is for programs that end after a failure. Under MPI, the process of the rank that failed
/// first reports the failure, and all processes exit with code 1
/// ([`Config::exit_on_failure`](crate::Config)). [`run_with`] returns an error by default.
///
/// # End of the process
/// Both functions end the process, or under MPI the job, in two cases:
///
/// * A rank does not return after a failure ([`Config::timeout`](crate::Config)).
/// * The process exits during the run. An error message reports the exit, and the exit code is 1.
///
/// A limit on the size of files (`ulimit -f`) ends no program: a write beyond the limit is an
/// error.
#[track_caller]
pub fn run<F>(program: F) -> Result<()>
where
    F: Fn(&World) -> Result<()> + Send + Sync,
{
    run_with(Config::default().exit_on_failure(true), program).map(drop)
}

/// Runs a program on every rank with a configuration, and returns the results: of all ranks if
/// ranks are threads, of this process' rank under MPI.
///
/// # Errors
/// The errors of [`run`]. Under MPI, every process returns an error if one rank fails: its own
/// error, or [`ErrorKind::Remote`](crate::error::ErrorKind::Remote).
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

/// Runs a program on the ranks of a communicator, for programs that have initialised MPI
/// themselves. The program runs on the calling thread. The communicator is duplicated, so messages
/// of the library and of the caller cannot match each other. Collective over the communicator.
///
/// # Errors
/// The errors of [`run`]; and [`Foreign`](crate::error::TransportError::Foreign) if MPI is not
/// initialised, or is initialised for a single thread.
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

/// Prepares a process. Call it before the process has other threads: first in the `main` of a
/// program that opens a window, or that runs ranks on a thread of its own. [`run`], [`run_with`]
/// and `run_on` call it too.
///
/// * A write beyond the limit on the size of files becomes an error.
/// * On Linux, `XDG_RUNTIME_DIR` is set to a directory of this user if it is not set. Without it,
///   libraries of Mesa's driver print two warnings. In a process with other threads the variable is
///   not changed.
pub fn prepare_process() {
    set_runtime_directory();
    survive_file_limit();
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) fail like a write to a full
/// disk.
///
/// Without this call, the signal `SIGXFSZ` ends the process without a message and leaves an
/// incomplete file. A signal handler of the program is still called.
fn survive_file_limit() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // The flag is never read: a handler is enough to keep the process alive.
            let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
        });
    }
}

/// Runs the program on one rank. Errors before and after the program have the location of the call
/// that started the run.
fn on_rank<R>(call: CallSite, group: Group, program: &dyn Fn(&World) -> Result<R>) -> Result<R> {
    let entered = call.entered();
    let world = open_world(group)?;
    debug::attach_by_environment(&world)?;
    drop(entered);
    report_uncaught(|| {
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

/// Number of cores for this process, after sharing the cores of the node with the processes of
/// other ranks. Collective.
fn process_cores(group: &Group) -> Result<NonZero<usize>> {
    let own = CoreClaim::for_this_process();
    let claims: Vec<Vec<CoreClaim>> = group.all_gather_v(copied(&[own]))?.iter().map(values).collect::<Result<_>>()?;
    Ok(own.share(&claims.concat()))
}

fn open_world(group: Group) -> Result<World> {
    let mut options = DeviceOptions::from_env(group.node_rank(), group.node_size())?;
    if group.kind() == TransportKind::Mpi {
        options.node_processes = group.node_size();
        // On all ranks, as `ZIPPY_THREADS` may be set on some ranks only.
        let cores = process_cores(&group)?;
        options.threads = options.threads.or(Some(cores));
    }
    // A native kernel must stop before the ranks that wait for this rank reach their timeout.
    options.kernel_limit = group.timeout().map(|limit| limit.mul_f64(0.9));
    let device = Device::open(&options)?;
    World::open(group, device)
}
