//! MPI in a process: initialised by the first run, finalised when the process exits.
//!
//! Both happen on a thread of their own, because MPI wants the same thread for both and runs come from any. Ranks run on
//! other threads, one run at a time, which MPI calls `MPI_THREAD_SERIALIZED`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::raw::{self, Allowed, Communicator};
use super::topology::Topology;
use crate::error::TransportError;
use crate::transport::exit;

/// What MPI is in this process.
enum Phase {
    Unused,
    Starting,
    Ready(Topology),
    /// It cannot be used, and must not be finalised.
    Broken(TransportError),
    Ending,
    Ended,
}

static PHASE: Mutex<Phase> = Mutex::new(Phase::Unused);
static CHANGED: Condvar = Condvar::new();
/// A run is going on.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// While it lives, its run is the only one of this process that may call MPI.
pub(super) struct Running(#[allow(dead_code)] exit::RunGuard);

impl Running {
    /// # Errors
    /// [`TransportError::Nested`] while another run is going on.
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

/// Waits while a condition on the phase holds.
fn wait_while(holds: impl Fn(&Phase) -> bool) -> MutexGuard<'static, Phase> {
    CHANGED.wait_while(phase(), |phase| holds(phase)).unwrap_or_else(PoisonError::into_inner)
}

/// This process' place in `MPI_COMM_WORLD`; the first call initialises MPI.
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

/// The thread of MPI.
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
    if raw::allowed()? != Allowed::NotInitialised {
        let text = "this program has initialised MPI itself; hand a communicator to `zippy::run_on` instead";
        return Err(TransportError::Foreign(text.into()));
    }
    let serialised = raw::initialise()?;
    // Registered after MPI has loaded its parts, so that it runs before theirs.
    exit::at_exit_call(at_exit);
    if !serialised {
        let text = format!("{} does not allow calls from several threads (MPI_THREAD_SERIALIZED)", raw::library());
        return Err(TransportError::Foreign(text));
    }
    Topology::find(&Communicator::world())
}

/// MPI is in a state that cannot be cleaned up: the process exits without finalising it, and the launcher ends the job.
pub(super) fn give_up(error: &TransportError) {
    let mut now = phase();
    if matches!(*now, Phase::Ready(_)) {
        set(&mut now, Phase::Broken(error.clone()));
    }
}

/// Ends all processes of the job with this exit code.
pub(super) fn abort(code: i32) -> ! {
    exit::deliberately();
    raw::abort(code);
    std::process::abort();
}

/// Lets the thread of MPI finalise it. No thread-local value is used, as those of this thread may be gone.
extern "C" fn at_exit() {
    if exit::is_deliberate() {
        return;
    }
    let mut now = phase();
    let Phase::Ready(topology) = &*now else { return };
    // Others wait for this rank. The launcher ends them because MPI_Finalize was not called, but not every launcher calls
    // that a failure, unless the exit code says so.
    exit::refuse(Some(topology.rank));
    set(&mut now, Phase::Ending);
    drop(now);
    drop(wait_while(|phase| matches!(phase, Phase::Ending)));
}

/// Whether a program that has initialised MPI itself has done so in a way that the calling thread may use.
pub(super) fn check_foreign() -> Result<(), TransportError> {
    let text = match raw::allowed()? {
        Allowed::Yes => return Ok(()),
        Allowed::NotInitialised => "MPI is not initialised; initialise it first, or use `zippy::run`",
        Allowed::Finalised => "MPI has been finalised",
        Allowed::OneThread => {
            "MPI was initialised for one thread, and graphics drivers start more; initialise it with \
             `mpi::initialize_with_threading(Threading::Funneled)` or more"
        }
        Allowed::OtherThread => {
            "MPI allows calls only from the thread that has initialised it, and this is another one; \
             initialise it with `Threading::Serialized`, or call this from that thread"
        }
    };
    Err(TransportError::Foreign(text.into()))
}
