//! [`PanicWatch`]: reports the panics of ranks. A panic prints one line, and is reported to the
//! other ranks as soon as it leaves the rank's program without having been caught.

use std::any::{Any, TypeId};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, Location, PanicHookInfo};
use std::rc::Rc;
use std::sync::Once;

use zippy_base::error::{Error, ErrorKind, TransportError};
use zippy_base::process::is_panic_expected;
use zippy_base::trace::say;

/// A panic, as seen by the panic hook.
#[derive(Debug, Clone)]
pub(crate) struct Panic {
    pub location: String,
    pub message: String,
    payload: TypeId,
}

impl Panic {
    fn new(location: Option<&Location<'_>>, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        Self {
            location: location.map_or_else(|| "an unknown place".to_owned(), ToString::to_string),
            message: one_line(text.unwrap_or("a panic without a message")),
            payload: payload.type_id(),
        }
    }
}

/// The error of a rank that panicked, with the source location of the panic.
pub(crate) fn panicked(rank: usize, Panic { location, message, .. }: Panic) -> Error {
    Error::new(ErrorKind::Transport(TransportError::Panicked { rank, place: location, message }), None)
}

struct WatchedRank {
    rank: usize,
    on_panic: Rc<dyn Fn(&Panic)>,
    last_panic: Option<Panic>,
}

thread_local! {
    static WATCHED: RefCell<Option<WatchedRank>> = const { RefCell::new(None) };
    /// The rank of this thread. In contrast to `WATCHED` it has no destructor and can be read until
    /// the end of the thread.
    static RANK: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The rank that runs on this thread, if any.
pub(crate) fn rank_of_thread() -> Option<usize> {
    RANK.get()
}

/// Guard that reports panics of this thread as panics of a rank.
pub(crate) struct PanicWatch(Option<WatchedRank>);

impl PanicWatch {
    /// Starts reporting for this thread. `on_panic` is called for a panic that the rank does not
    /// catch.
    pub(crate) fn new(rank: usize, on_panic: impl Fn(&Panic) + 'static) -> Self {
        install();
        let watched = WatchedRank { rank, on_panic: Rc::new(on_panic), last_panic: None };
        RANK.set(Some(rank));
        // A rank may run a world of threads of its own on this thread, so the outer watch is
        // restored later.
        Self(WATCHED.replace(Some(watched)))
    }
}

/// Calls `f`. A panic that leaves `f` is reported to the other ranks before it is resumed, since
/// the code that it unwinds may wait for them.
pub fn report_uncaught<R>(f: impl FnOnce() -> R) -> R {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        report_panic(&*payload);
        panic::resume_unwind(payload)
    })
}

/// Reports a panic that has left the program of this rank to the other ranks, and returns it.
/// `payload` is the payload of the panic.
pub(crate) fn report_panic(payload: &(dyn Any + Send)) -> Panic {
    let resumed = Panic::new(None, payload);
    let found = WATCHED.with_borrow_mut(|watched| {
        let WatchedRank { rank, on_panic, last_panic } = watched.as_mut()?;
        // The last panic in the hook may have been caught. A resumed panic, for example of a joined
        // thread, calls no hook.
        let is_last_panic =
            |last_panic: &&mut Panic| last_panic.payload == resumed.payload && last_panic.message == resumed.message;
        let panic = match last_panic.as_mut().filter(is_last_panic) {
            Some(last_panic) => last_panic.clone(),
            None => {
                print_panic(*rank, &resumed);
                last_panic.insert(resumed.clone()).clone()
            }
        };
        Some((Rc::clone(on_panic), panic))
    });
    let Some((on_panic, panic)) = found else { return resumed };
    on_panic(&panic);
    panic
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
            if !report_from_hook(info) {
                previous(info);
            }
        }));
    });
}

/// Prints the panic of a rank; returns `false` on threads that run no rank. The panic may still be
/// caught.
fn report_from_hook(info: &PanicHookInfo<'_>) -> bool {
    if is_panic_expected() {
        return true;
    }
    let panic = Panic::new(info.location(), info.payload());
    // Not `borrow`: a panic while the cell is borrowed must not panic again.
    let found = WATCHED.try_with(|watched| {
        let mut watched = watched.try_borrow_mut().ok()?;
        let watched = watched.as_mut()?;
        // Earlier panics have been caught.
        watched.last_panic = Some(panic.clone());
        Some(watched.rank)
    });
    let Ok(Some(rank)) = found else { return false };
    print_panic(rank, &panic);
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        let _ = writeln!(std::io::stderr(), "{backtrace}");
    }
    true
}

fn print_panic(rank: usize, Panic { location, message, .. }: &Panic) {
    say(&format!("rank {rank} panicked at {location}: {message}"));
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_joins_lines_with_semicolons() {
        assert_eq!(one_line("assertion failed\n  left: 1\n right: 2\n"), "assertion failed; left: 1; right: 2");
    }
}
