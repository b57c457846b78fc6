//! [`PanicWatch`]: reports the panics of ranks. A panic prints one line. An uncaught panic is also
//! reported to the other ranks.

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

/// Panic of a rank, as recorded by the panic hook.
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
    /// The rank of this thread. Has no destructor, so that it is readable until the end of the
    /// thread.
    static RANK: Cell<Option<usize>> = const { Cell::new(None) };
}

pub(crate) fn rank_of_thread() -> Option<usize> {
    RANK.get()
}

/// Guard that reports panics of this thread as panics of a rank.
pub(crate) struct PanicWatch(Option<WatchedRank>);

impl PanicWatch {
    /// Starts reporting. `on_panic` is called for an uncaught panic.
    pub(crate) fn new(rank: usize, on_panic: impl Fn(&Panic) + 'static) -> Self {
        install();
        let watched = WatchedRank { rank, on_panic: Rc::new(on_panic), last_panic: None };
        RANK.set(Some(rank));
        // Keeps the watch of an outer run on the same thread.
        Self(WATCHED.replace(Some(watched)))
    }
}

/// Calls `f` and reports an uncaught panic to the other ranks before unwinding continues, since
/// destructors may wait for them.
pub fn report_uncaught<R>(f: impl FnOnce() -> R) -> R {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        report_panic(&*payload);
        panic::resume_unwind(payload)
    })
}

/// Reports an uncaught panic of this rank, by its payload, to the other ranks and returns it.
pub(crate) fn report_panic(payload: &(dyn Any + Send)) -> Panic {
    let resumed = Panic::new(None, payload);
    let found = WATCHED.with_borrow_mut(|watched| {
        let WatchedRank { rank, on_panic, last_panic } = watched.as_mut()?;
        // A resumed panic, for example of a joined thread, calls no hook.
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

/// Prints the panic of a rank, which may still be caught. Returns false on threads without a rank.
fn report_from_hook(info: &PanicHookInfo<'_>) -> bool {
    if is_panic_expected() {
        return true;
    }
    let panic = Panic::new(info.location(), info.payload());
    // A panic during a borrow of the cell must not panic again.
    let found = WATCHED.try_with(|watched| {
        let mut watched = watched.try_borrow_mut().ok()?;
        let watched = watched.as_mut()?;
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
