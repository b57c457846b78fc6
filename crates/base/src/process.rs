//! Exit callbacks of the process, and expected panics of a thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};

// SAFETY: the C library's own signature.
unsafe extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
}

/// Registers an exit callback of the process. Callbacks run in the reverse order of registration.
pub fn at_exit_call(callback: extern "C" fn()) {
    // SAFETY: the callback is a function of this program and does not unwind. After a failed
    // registration it is not called, as after a crash.
    unsafe { atexit(callback) };
}

thread_local! {
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` and returns its result, or the payload of its panic, without printing the panic. The
/// caller converts the panic into an error.
pub fn catch_expected<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    let outer = IS_EXPECTED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    IS_EXPECTED.set(outer);
    result
}

/// True on a thread inside of [`catch_expected`].
pub fn is_panic_expected() -> bool {
    IS_EXPECTED.get()
}
