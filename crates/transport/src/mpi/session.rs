//! Lifetime of MPI in a process: the first run initialises MPI, and the exit of the process
//! finalises it.
//!
//! MPI requires one thread for both, and runs start on any thread, so a dedicated thread does both.
//! Ranks run on other threads, one run at a time (`MPI_THREAD_SERIALIZED`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::raw::{self, CallPermission, Communicator};
use super::topology::Topology;
use crate::exit;
use zippy_base::error::TransportError;
use zippy_base::process::at_exit_call;

enum Phase {
    Unused,
    Starting,
    Ready(Topology),
    /// MPI cannot be used and must not be finalised.
    Broken(TransportError),
    Ending,
    Ended,
}

static PHASE: Mutex<Phase> = Mutex::new(Phase::Unused);
static CHANGED: Condvar = Condvar::new();
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Guard of the process's only run that may call MPI.
pub(super) struct Running(#[allow(dead_code, reason = "held until it is dropped")] exit::RunGuard);

impl Running {
    /// Starts the run. A second concurrent run is [`TransportError::Nested`].
    pub(super) fn enter() -> Result<Self, TransportError> {
        if RUNNING.swap(true, Ordering::AcqRel) {
            Err(TransportError::Nested)
        } else {
            Ok(Self(exit::RunGuard::begin()))
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.store(false, Ordering::Release);
    }
}

fn phase() -> MutexGuard<'static, Phase> {
    PHASE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(phase: &mut Phase, new: Phase) {
    *phase = new;
    CHANGED.notify_all();
}

fn wait_while(holds: impl Fn(&Phase) -> bool) -> MutexGuard<'static, Phase> {
    CHANGED.wait_while(phase(), |phase| holds(phase)).unwrap_or_else(PoisonError::into_inner)
}

/// Topology of this process in `MPI_COMM_WORLD`. The first call initialises MPI.
pub(super) fn world() -> Result<Topology, TransportError> {
    let mut now = phase();
    if matches!(*now, Phase::Unused) {
        *now = Phase::Starting;
        let spawned = thread::Builder::new().name("zippy mpi".into()).spawn(serve);
        if let Err(error) = spawned {
            *now = Phase::Unused;
            return Err(TransportError::Other(format!("the thread of MPI could not be started: {error}")));
        }
    }
    drop(now);
    match &*wait_while(|phase| matches!(phase, Phase::Starting)) {
        Phase::Ready(topology) => Ok(topology.clone()),
        Phase::Broken(error) => Err(error.clone()),
        _ => Err(TransportError::Foreign("MPI has been finalised".into())),
    }
}

/// Body of the thread that initialises and finalises MPI.
fn serve() {
    let started = start();
    let failed = started.is_err();
    set(&mut phase(), started.map_or_else(Phase::Broken, Phase::Ready));
    if failed {
        return;
    }
    drop(wait_while(|phase| !matches!(phase, Phase::Ending)));
    raw::finalise();
    set(&mut phase(), Phase::Ended);
}

fn start() -> Result<Topology, TransportError> {
    if raw::call_permission()? != CallPermission::NotInitialised {
        let text = "this program has initialised MPI itself; hand a communicator to `zippy::run_on` instead";
        return Err(TransportError::Foreign(text.into()));
    }
    let serialised = raw::initialise()?;
    // Registered after the handlers of MPI's components, to run before them.
    at_exit_call(at_exit);
    if !serialised {
        let text = format!("{} does not allow calls from several threads (MPI_THREAD_SERIALIZED)", raw::library());
        return Err(TransportError::Foreign(text));
    }
    Topology::find(&Communicator::world())
}

/// Marks MPI as unusable after an error: the process exits without finalisation, and the launcher
/// ends the job.
pub(super) fn give_up(error: &TransportError) {
    let mut now = phase();
    if matches!(*now, Phase::Ready(_)) {
        set(&mut now, Phase::Broken(error.clone()));
    }
}

pub(super) fn abort(code: i32) -> ! {
    exit::mark_deliberate();
    raw::abort(code);
    std::process::abort();
}

/// Exit handler that finalises MPI on its thread, without thread-local values, which may be
/// destroyed.
extern "C" fn at_exit() {
    if exit::is_deliberate() {
        return;
    }
    let mut now = phase();
    let Phase::Ready(topology) = &*now else { return };
    // The launcher ends the other ranks, but some launchers report a failure only for a nonzero
    // exit code.
    exit::end_if_running(Some(topology.rank));
    set(&mut now, Phase::Ending);
    drop(now);
    drop(wait_while(|phase| matches!(phase, Phase::Ending)));
}

/// Checks that a program's own initialisation of MPI allows calls from this thread.
pub(super) fn check_foreign() -> Result<(), TransportError> {
    let text = match raw::call_permission()? {
        CallPermission::Yes => return Ok(()),
        CallPermission::NotInitialised => "MPI is not initialised; initialise it first, or use `zippy::run`",
        CallPermission::Finalised => "MPI has been finalised",
        CallPermission::OneThread => {
            "MPI was initialised for one thread, and graphics drivers start more; initialise it with \
             `mpi::initialize_with_threading(Threading::Funneled)` or more"
        }
        CallPermission::OtherThread => {
            "MPI allows calls only from the thread that has initialised it, and this is another one; \
             initialise it with `Threading::Serialized`, or call this from that thread"
        }
    };
    Err(TransportError::Foreign(text.into()))
}
