//! Ranks as processes under an MPI launcher.
//!
//! | file | what is in it |
//! |---|---|
//! | [`raw`] | the MPI calls, checked; memory that MPI still uses is owned by what waits for it |
//! | [`session`] | MPI is initialised and finalised once per process, on a thread of its own |
//! | [`topology`], [`start`] | who a process is; what all agree on before a run |
//! | [`wire`], [`label`] | messages over one communicator, as pieces; what they say beside their payload |
//! | [`arrivals`], [`pool`] | what has come in; its memory |
//! | [`news`], [`control`] | failures are messages too, and so is that a rank is through; what a rank knows by them |
//! | [`end`] | how the last messages of a run are caught |
//!
//! Every run has a communicator of its own. Nothing blocks inside MPI but its initialisation: requests are posted and
//! tested, with a yield or a short sleep in between, because ranks are often more than cores.

mod arrivals;
mod control;
mod end;
mod label;
mod news;
mod pool;
mod raw;
mod session;
mod start;
mod topology;
mod wire;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::thread;

use mpi::traits::AsRaw;

use self::raw::Communicator;
use self::session::Running;
use self::topology::Topology;
use self::wire::Wire;
use super::config::Settings;
use super::environment;
use super::failure::{PanicWatch, panicked, uncaught};
use super::finished::{Beginning, RankProgram, run_rank};
use super::{Config, Group, Launcher};
use crate::error::{CallSite, Error, Result, TransportError};
use crate::trace::say;

/// The exit code of a job that a panic has ended; that of a panicking Rust program.
const PANICKED: i32 = 101;

/// Runs this process' rank of `MPI_COMM_WORLD` on a thread of its own.
pub(super) fn launch(
    launcher: &Launcher,
    asked: Option<(usize, &'static str)>,
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
        one_rank(&Communicator::world(), topology, asked, settings, program)
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

/// Runs `program` on the ranks of a communicator of a program that has initialised MPI itself, on the calling thread.
/// Collective over the communicator, which is duplicated and otherwise left alone.
///
/// # Errors
/// [`TransportError::Foreign`] when MPI is not initialised, or in a way that does not allow calls from this thread;
/// [`TransportError::Nested`] inside another run of this process; and as [`launch`](super::launch).
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
    let parent = Communicator::of(communicator)?;
    one_rank(&parent, Topology::find(&parent)?, None, &settings, program)
}

fn one_rank(
    parent: &Communicator,
    topology: Topology,
    asked: Option<(usize, &'static str)>,
    settings: &Settings,
    program: &dyn Fn(Group) -> Result<()>,
) -> Result<()> {
    let rank = topology.rank;
    // The others cannot be told: they may be deep inside MPI or a kernel. The launcher ends them.
    let _watch = PanicWatch::new(rank, move |_| session::abort(PANICKED));
    let run = || {
        let said = |error: &TransportError| {
            // What all have agreed on is said by one of them; what only this rank has met, by itself.
            if settings.exit_on_failure && (rank == 0 || !start::is_agreed(error)) {
                say(&Error::from(error.clone()).to_string());
            }
        };
        let start::Started { communicator, zero, traced } =
            start::communicator(parent, &topology, asked, settings).inspect_err(said)?;
        let wire = Rc::new(Wire::new(communicator, topology, settings.piece_bytes));
        let group = Group::of_all(Box::new(Rc::clone(&wire)), settings.patience, settings.checks);
        let trace = traced.then(|| settings.trace.as_deref().unwrap_or(Path::new("")));
        let result = run_rank(&group, Beginning { zero, trace }, program);
        // What MPI has under way then never ends: to finalise it would wait for that, or worse.
        wire.end(result.is_ok(), settings).inspect_err(said).inspect_err(session::give_up)?;
        match wire.control.first_failure() {
            // A rank that was done before another one failed.
            Some(failure) if result.is_ok() => Err(failure.into()),
            _ => result,
        }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(rank, uncaught(&*payload))))
}
