//! Panics of ranks: one clear line, and everybody else is told as soon as nothing in the rank has caught it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::rc::Rc;
use std::sync::Once;

use crate::error::{Error, ErrorKind, TransportError};
use crate::trace::say;

/// A panic, as its hook saw it.
#[derive(Debug, Clone)]
pub(crate) struct Panic {
    pub place: String,
    pub message: String,
}

impl Panic {
    /// A panic of which no hook has said anything.
    fn unknown() -> Self {
        Self { place: "an unknown place".into(), message: "a panic without a message".into() }
    }
}

/// The error of a rank that panicked, whose place is that of the panic.
pub(crate) fn panicked(rank: usize, Panic { place, message }: Panic) -> Error {
    Error::new(ErrorKind::Transport(TransportError::Panicked { rank, place, message }), None)
}

struct Watched {
    rank: usize,
    on_panic: Rc<dyn Fn(&Panic)>,
    seen: Option<Panic>,
}

thread_local! {
    static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) };
    /// Beside it, as this one can be read to the very end of the thread.
    static RANK: Cell<Option<usize>> = const { Cell::new(None) };
    /// Whether a panic would be an error that the library returns.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// The rank that this thread is.
pub(crate) fn rank_of_thread() -> Option<usize> {
    RANK.get()
}

/// While it lives, panics of this thread are reported as those of a rank.
pub(crate) struct PanicWatch(Option<Watched>);

impl PanicWatch {
    /// Calls `on_panic` where a panic unwinds an [`Uncaught`].
    pub(crate) fn new(rank: usize, on_panic: impl Fn(&Panic) + 'static) -> Self {
        install();
        let watched = Watched { rank, on_panic: Rc::new(on_panic), seen: None };
        RANK.set(Some(rank));
        // A rank may run a world of threads of its own, and is watched again afterwards.
        Self(WATCHED.replace(Some(watched)))
    }

    /// The panic that this thread had.
    pub(crate) fn seen(&self) -> Panic {
        let seen = WATCHED.with_borrow(|watched| watched.as_ref().and_then(|watched| watched.seen.clone()));
        seen.unwrap_or_else(Panic::unknown)
    }
}

/// Stands around what a rank runs: a panic that unwinds it was not caught inside, as one may be by the program, and is told to the
/// others. It is dropped before what may wait for them.
pub(crate) struct Uncaught(());

impl Uncaught {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

impl Drop for Uncaught {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let found = WATCHED.try_with(|watched| {
            let watched = watched.try_borrow().ok()?;
            let Watched { on_panic, seen, .. } = watched.as_ref()?;
            // A panic that is resumed, as another thread's is, comes to no hook.
            Some((Rc::clone(on_panic), seen.clone().unwrap_or_else(Panic::unknown)))
        });
        if let Ok(Some((on_panic, panic))) = found {
            on_panic(&panic);
        }
    }
}

/// What `f` returns, or what it panicked with, without a line: the caller makes an error of that.
pub(crate) fn catch_expected<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    let outer = EXPECTED.replace(true);
    let result = panic::catch_unwind(panic::AssertUnwindSafe(f));
    EXPECTED.set(outer);
    result
}

impl Drop for PanicWatch {
    fn drop(&mut self) {
        RANK.set(self.0.as_ref().map(|watched| watched.rank));
        WATCHED.set(self.0.take());
    }
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !report(info) {
                previous(info);
            }
        }));
    });
}

/// Reports the panic of a rank; `false` on threads that are none. Whether the panic will be caught is not known yet.
fn report(info: &PanicHookInfo<'_>) -> bool {
    if EXPECTED.get() {
        return true;
    }
    let panic = Panic {
        place: info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string),
        message: one_line(info.payload_as_str().unwrap_or("a panic without a message")),
    };
    // Not `borrow`: a panic while this very cell is borrowed must not panic again.
    let found = WATCHED.try_with(|watched| {
        let mut watched = watched.try_borrow_mut().ok()?;
        let watched = watched.as_mut()?;
        // Earlier ones have been caught.
        watched.seen = Some(panic.clone());
        Some(watched.rank)
    });
    let Ok(Some(rank)) = found else { return false };
    say(&format!("rank {rank} panicked at {}: {}", panic.place, panic.message));
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        let _ = writeln!(std::io::stderr(), "{backtrace}");
    }
    true
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_several_lines_become_one() {
        assert_eq!(one_line("assertion failed\n  left: 1\n right: 2\n"), "assertion failed; left: 1; right: 2");
    }
}
