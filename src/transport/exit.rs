//! A process that exits in the middle of a run: a line, and a code that says so.
//!
//! `exit` may be called by a rank, by the thread of a window or by a handler of signals, and `main` may return while ranks
//! run on another thread. Half a result must not be taken for a whole one.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::failure;
use crate::trace::say;

/// Runs of this process that are going on.
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// This library ends the process itself and has said why.
static DELIBERATE: AtomicBool = AtomicBool::new(false);

/// While it lives, a run is going on.
pub(crate) struct RunGuard(());

impl RunGuard {
    pub(crate) fn begin() -> Self {
        static REGISTERED: Once = Once::new();
        // SAFETY: the callback is a function of this program and does not unwind. Should there be no place for it, exits
        // go unnoticed.
        REGISTERED.call_once(|| unsafe {
            atexit(at_exit);
        });
        RUNS.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::AcqRel);
    }
}

// SAFETY: the C library's own signatures.
unsafe extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// Has a function called when the process exits, before those that were registered earlier.
pub(crate) fn at_exit_call(callback: extern "C" fn()) {
    // SAFETY: as above. Should there be no place for it, it is not called, as by a crash.
    unsafe { atexit(callback) };
}

extern "C" fn at_exit() {
    refuse(None);
}

/// Ends the process with code 1 if it exits in the middle of a run. `rank` is the process' own where it has one. Uses
/// thread-local values without destructors only, as others of this thread may be gone.
pub(crate) fn refuse(rank: Option<usize>) {
    if RUNS.load(Ordering::Acquire) == 0 || DELIBERATE.load(Ordering::Acquire) {
        return;
    }
    let whose = failure::rank_of_thread().or(rank).map_or_else(String::new, |rank| format!(" of rank {rank}"));
    say(&format!("the process{whose} exits in the middle of a run"));
    end(1);
}

/// From now on, exits are this library's doing.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn deliberately() {
    DELIBERATE.store(true, Ordering::Release);
}

/// Whether the process exits by this library's doing.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn is_deliberate() -> bool {
    DELIBERATE.load(Ordering::Acquire)
}

/// Ends the process at once. Nothing is waited for: other threads may never give back what exit handlers want.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: ends the process; what Rust buffers are whole lines, which have been written.
    unsafe { _exit(code) }
}
