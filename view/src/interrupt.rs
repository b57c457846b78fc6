//! Ctrl-C, and other signals that ask a program to end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often the program looks whether it was asked.
const POLL: Duration = Duration::from_millis(50);

static ASKED: AtomicUsize = AtomicUsize::new(0);

#[cfg(unix)]
mod signals {
    use super::{ASKED, Ordering};

    const HANG_UP: i32 = 1;
    const INTERRUPT: i32 = 2;
    const TERMINATE: i32 = 15;

    // SAFETY: the C library's `signal`, with the types that POSIX gives it.
    unsafe extern "C" {
        fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    }

    extern "C" fn note(_: i32) {
        ASKED.fetch_add(1, Ordering::Relaxed);
    }

    pub fn watch() {
        for number in [HANG_UP, INTERRUPT, TERMINATE] {
            // SAFETY: the handler only adds to an atomic number, which a signal handler may do.
            unsafe { signal(number, note) };
        }
    }
}

/// Calls `interrupted` on a thread of its own each time the program is asked to end (Ctrl-C, a signal to terminate or to hang
/// up), from now on in place of ending it. Elsewhere than on Unix such a request ends the program, as ever.
///
/// # Errors
/// There is no other thread.
pub fn on_interrupt(interrupted: impl Fn() + Send + 'static) -> std::io::Result<()> {
    #[cfg(unix)]
    signals::watch();
    let watch = move || {
        let mut seen = ASKED.load(Ordering::Relaxed);
        loop {
            thread::sleep(POLL);
            let asked = ASKED.load(Ordering::Relaxed);
            (seen..asked).for_each(|_| interrupted());
            seen = asked;
        }
    };
    thread::Builder::new().name("interrupts".into()).spawn(watch).map(drop)
}
