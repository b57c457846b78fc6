//! Exit of a process during a run: prints an error message and sets the exit code 1.
//!
//! A rank, the thread of a window or a signal handler may call `exit`, and `main` may return while
//! ranks run. Incomplete results must not seem complete.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::panic_watch;
use zippy_base::process::at_exit_call;
use zippy_base::trace::say;

static RUNS: AtomicUsize = AtomicUsize::new(0);
/// True while this library ends the process, after an error message.
static DELIBERATE: AtomicBool = AtomicBool::new(false);

/// Guard of a run, which an exit of the process must not interrupt.
pub(crate) struct RunGuard(());

impl RunGuard {
    pub(crate) fn begin() -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| at_exit_call(at_exit));
        RUNS.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::AcqRel);
    }
}

// SAFETY: the C library's own signature.
unsafe extern "C" {
    fn _exit(code: c_int) -> !;
}

extern "C" fn at_exit() {
    end_if_running(None);
}

/// Ends the process with code 1 and an error message if a run is not complete. `rank` is the rank
/// of the process, if it has one.
///
/// Uses only thread-local values without destructors, as the others may be destroyed.
pub(crate) fn end_if_running(rank: Option<usize>) {
    if RUNS.load(Ordering::Acquire) == 0 || DELIBERATE.load(Ordering::Acquire) {
        return;
    }
    let whose = panic_watch::rank_of_thread().or(rank).map_or_else(String::new, |rank| format!(" of rank {rank}"));
    say(&format!("the process{whose} exits in the middle of a run"));
    end(1);
}

/// Marks all later exits as intended by this library.
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
pub(crate) fn mark_deliberate() {
    DELIBERATE.store(true, Ordering::Release);
}

#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
pub(crate) fn is_deliberate() -> bool {
    DELIBERATE.load(Ordering::Acquire)
}

/// Ends the process without exit handlers, which may wait for locks of other threads.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: ends the process. Standard output is line-buffered, so complete lines are written.
    unsafe { _exit(code) }
}
