//! Transport between ranks that are processes of an MPI launcher.
//!
//! | file | content |
//! |---|---|
//! | [`raw`] | checked MPI calls; operations in flight own the memory that MPI uses |
//! | [`session`] | initialisation and finalisation of MPI, once per process, on one thread |
//! | [`topology`], [`start`] | rank and node of a process; agreement of all processes on a run |
//! | [`mpi_transport`], [`label`] | messages over a communicator, in pieces; message header |
//! | [`arrivals`], [`pool`] | arrived messages; their memory |
//! | [`control_message`], [`control_state`] | messages on failures and progress; their state |
//! | [`end`] | reception of the last messages of a run |
//!
//! Every run has its own communicator. Only initialisation blocks inside MPI. All other requests
//! are polled, with a yield or a short sleep in between, because ranks often outnumber cores.

mod arrivals;
mod control_message;
mod control_state;
mod end;
mod label;
mod mpi_transport;
mod pool;
mod raw;
mod session;
mod start;
mod topology;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::thread;

use mpi::traits::AsRaw;

use self::mpi_transport::MpiTransport;
use self::raw::Communicator;
use self::session::Running;
use self::topology::Topology;
use super::config::{RequestedRanks, Settings};
use super::environment;
use super::panic_watch::{PanicWatch, panicked, report_panic};
use super::run_rank::{RankProgram, RankStart, run_rank};
use super::{Config, Group, Launcher};
use zippy_base::error::{CallSite, Error, Result, TransportError};
use zippy_base::trace::say;

/// Exit code of a job after a panic, as in other Rust programs.
const PANICKED: i32 = 101;

/// Runs the rank of this process in `MPI_COMM_WORLD` on a new thread. The outer error is a failure
/// to start the rank; the inner result is the result of the run.
pub(super) fn launch(
    launcher: &Launcher,
    requested: Option<RequestedRanks>,
    settings: &Settings,
    program: &RankProgram<'_>,
) -> Result<Result<()>> {
    let running = Running::enter()?;
    let topology = session::world()?;
    start::check_launcher(launcher, &topology)?;
    let rank = topology.rank;
    let call = CallSite::here();
    let body = || {
        let _call = call.entered();
        run_on_communicator(&Communicator::world(), topology, requested, settings, program)
    };
    let result = thread::scope(|scope| {
        let thread = thread::Builder::new().name(format!("rank {rank}")).stack_size(settings.stack_bytes);
        let handle = thread.spawn_scoped(scope, body).map_err(|error| {
            let message = error.to_string();
            Error::from(TransportError::Thread { rank, message })
        })?;
        let ended = || TransportError::Other("the thread of a rank ended without a result".into()).into();
        handle.join().map_err(|_| ended())
    });
    drop(running);
    result
}

/// Runs `program` on the ranks of a communicator, for programs that initialise MPI themselves. Runs
/// on the calling thread. Collective over the communicator, which is only duplicated.
///
/// # Errors
/// * [`TransportError::Foreign`] if MPI is not initialised or does not allow calls from this
///   thread.
/// * [`TransportError::Nested`] inside another run of this process.
/// * The errors of [`launch`](super::launch).
#[track_caller]
pub fn run_on<R>(
    communicator: &impl AsRaw<Raw = mpi::ffi::MPI_Comm>,
    program: impl Fn(Group) -> Result<R>,
) -> Result<R> {
    let _call = CallSite::enter();
    let returned = Cell::new(None);
    on_communicator(communicator.as_raw(), &|group| {
        returned.set(Some(program(group)?));
        Ok(())
    })?;
    returned.take().ok_or_else(|| TransportError::Other("a rank's result was lost".into()).into())
}

fn on_communicator(communicator: mpi::ffi::MPI_Comm, program: &dyn Fn(Group) -> Result<()>) -> Result<()> {
    let settings = Settings::resolve(&Config::new(), environment::variable, true)?;
    let _running = Running::enter()?;
    session::check_foreign()?;
    let parent = Communicator::from_raw(communicator)?;
    run_on_communicator(&parent, Topology::find(&parent)?, None, &settings, program)
}

fn run_on_communicator(
    parent: &Communicator,
    topology: Topology,
    requested: Option<RequestedRanks>,
    settings: &Settings,
    program: &dyn Fn(Group) -> Result<()>,
) -> Result<()> {
    let rank = topology.rank;
    // Messages do not reach ranks inside MPI or a kernel. The launcher ends them.
    let _watch = PanicWatch::new(rank, move |_| session::abort(PANICKED));
    let run = || {
        let report = |error: &TransportError| {
            // Rank 0 reports an error that all processes return; each process reports other errors.
            if settings.exit_on_failure && (rank == 0 || !start::is_agreed(error)) {
                say(&Error::from(error.clone()).to_string());
            }
        };
        let start::Started { communicator, clock_start, traced } =
            start::communicator(parent, &topology, requested, settings).inspect_err(report)?;
        let transport = Rc::new(MpiTransport::new(communicator, topology, settings.piece_bytes));
        let group = Group::of_all_ranks(Box::new(Rc::clone(&transport)), settings.wait_limits, settings.checks);
        let trace = traced.then(|| settings.trace.as_deref().unwrap_or(Path::new("")));
        let result = run_rank(&group, RankStart { clock_start, trace }, program);
        // After an error, operations may never complete, and MPI must not be finalised.
        transport.end(result.is_ok(), settings).inspect_err(report).inspect_err(session::give_up)?;
        match transport.control.first_failure() {
            Some(failure) if result.is_ok() => Err(failure.into()),
            _ => result,
        }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(rank, report_panic(&*payload))))
}
