//! Panics of ranks: one clear line, and everybody else is told as soon as nothing in the rank has caught it.

use std::any::{Any, TypeId};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, Location, PanicHookInfo};
use std::rc::Rc;
use std::sync::Once;

use crate::error::{Error, ErrorKind, TransportError};
use crate::trace::say;

/// A panic, as its hook saw it.
#[derive(Debug, Clone)]
pub(crate) struct Panic {
    pub place: String,
    pub message: String,
    payload: TypeId,
}

impl Panic {
    fn new(place: Option<&Location<'_>>, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        Self {
            place: place.map_or_else(|| "an unknown place".to_owned(), ToString::to_string),
            message: one_line(text.unwrap_or("a panic without a message")),
            payload: payload.type_id(),
        }
    }
}

/// The error of a rank that panicked, whose place is that of the panic.
pub(crate) fn panicked(rank: usize, Panic { place, message, .. }: Panic) -> Error {
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
    /// Calls `on_panic` for a panic that the rank does not catch.
    pub(crate) fn new(rank: usize, on_panic: impl Fn(&Panic) + 'static) -> Self {
        install();
        let watched = Watched { rank, on_panic: Rc::new(on_panic), seen: None };
        RANK.set(Some(rank));
        // A rank may run a world of threads of its own, and is watched again afterwards.
        Self(WATCHED.replace(Some(watched)))
    }
}

/// Runs `f`, and reports a panic that leaves it to the other ranks before the panic continues to code that may wait for them.
pub(crate) fn tell_uncaught<R>(f: impl FnOnce() -> R) -> R {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        uncaught(&*payload);
        panic::resume_unwind(payload)
    })
}

/// Reports the panic with this payload, which has left the program of this rank, to the other ranks, and returns it.
pub(crate) fn uncaught(payload: &(dyn Any + Send)) -> Panic {
    let resumed = Panic::new(None, payload);
    let found = WATCHED.with_borrow_mut(|watched| {
        let Watched { rank, on_panic, seen } = watched.as_mut()?;
        // What the hook has seen last may have been caught. A panic that is resumed, as another thread's is, comes to no hook.
        let is_seen = |seen: &&mut Panic| seen.payload == resumed.payload && seen.message == resumed.message;
        let panic = match seen.as_mut().filter(is_seen) {
            Some(seen) => seen.clone(),
            None => {
                say_panicked(*rank, &resumed);
                seen.insert(resumed.clone()).clone()
            }
        };
        Some((Rc::clone(on_panic), panic))
    });
    let Some((on_panic, panic)) = found else { return resumed };
    on_panic(&panic);
    panic
}

/// What `f` returns, or what it panicked with, without a line: the caller makes an error of that.
pub(crate) fn catch_expected<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    let outer = EXPECTED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
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
    let panic = Panic::new(info.location(), info.payload());
    // Not `borrow`: a panic while this very cell is borrowed must not panic again.
    let found = WATCHED.try_with(|watched| {
        let mut watched = watched.try_borrow_mut().ok()?;
        let watched = watched.as_mut()?;
        // Earlier ones have been caught.
        watched.seen = Some(panic.clone());
        Some(watched.rank)
    });
    let Ok(Some(rank)) = found else { return false };
    say_panicked(rank, &panic);
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        let _ = writeln!(std::io::stderr(), "{backtrace}");
    }
    true
}

fn say_panicked(rank: usize, Panic { place, message, .. }: &Panic) {
    say(&format!("rank {rank} panicked at {place}: {message}"));
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
