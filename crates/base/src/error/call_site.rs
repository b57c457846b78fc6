//! [`CallSite`]: the line of a program that called the library.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Display, Formatter};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize};

thread_local! {
    /// The call of the program that this thread is in.
    static CURRENT: Cell<Option<CallSite>> = const { Cell::new(None) };
}

/// Line of a program that called the library: file, line and column.
///
/// A public function that can fail is `#[track_caller]` and begins with [`CallSite::enter`]. Until it returns, errors and
/// warnings that arise on its thread name the line that called it, whatever the library calls inside: of nested calls the
/// outermost counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CallSite {
    file: &'static str,
    line: u32,
    column: u32,
}

impl CallSite {
    /// The outermost call of the library that this thread is in, or else the line that calls this function.
    #[track_caller]
    pub fn here() -> Self {
        match CURRENT.get() {
            Some(outermost) => outermost,
            None => Self::caller(),
        }
    }

    /// The line that calls this function.
    #[track_caller]
    pub fn caller() -> Self {
        let at = Location::caller();
        Self { file: at.file(), line: at.line(), column: at.column() }
    }

    /// Makes the line that calls this function the call site of errors and warnings of this thread until the result is
    /// dropped, unless the thread is inside a call already.
    #[track_caller]
    pub fn enter() -> EnteredCall {
        Self::here().entered()
    }

    /// True where Rust's core library is the caller: it calls functions that are passed by name, as
    /// in `map_err(Into::into)`, and knows no line of the program.
    pub(super) fn is_in_core(&self) -> bool {
        self.file.starts_with("/rustc/") || self.file.contains("library/core/src/")
    }

    /// [`enter`](Self::enter) for a call that another thread carries out.
    #[doc(hidden)]
    pub fn entered(self) -> EnteredCall {
        EnteredCall { before: CURRENT.replace(Some(self)), thread: PhantomData }
    }

    /// Leaves the call that this thread is in until the result is dropped, for closures of the program that call the
    /// library themselves.
    #[doc(hidden)]
    pub fn leave() -> EnteredCall {
        EnteredCall { before: CURRENT.replace(None), thread: PhantomData }
    }

    /// The file, as the compiler names it.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line, from 1 on.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The column, from 1 on.
    pub fn column(&self) -> u32 {
        self.column
    }
}

impl Display for CallSite {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Debug for CallSite {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// The call sites of other processes, which run the same program.
impl<'de> Deserialize<'de> for CallSite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (file, line, column) = <(String, u32, u32)>::deserialize(deserializer)?;
        Ok(Self { file: interned(file), line, column })
    }
}

/// A name of a source file that lives as long as the process: each is kept once.
fn interned(file: String) -> &'static str {
    static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.get(file.as_str()).copied().unwrap_or_else(|| {
        let kept: &'static str = file.leak();
        files.insert(kept);
        kept
    })
}

/// A call of the library that has not returned; made by [`CallSite::enter`]. Belongs to its thread.
#[must_use = "the call ends when this is dropped"]
pub struct EnteredCall {
    before: Option<CallSite>,
    thread: PhantomData<*const ()>,
}

impl EnteredCall {
    /// Whether it is part of another call of the library.
    #[doc(hidden)]
    pub fn is_nested(&self) -> bool {
        self.before.is_some()
    }
}

impl Drop for EnteredCall {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn outer() -> (CallSite, CallSite) {
        let _call = CallSite::enter();
        (CallSite::here(), inner())
    }

    #[track_caller]
    fn inner() -> CallSite {
        let _call = CallSite::enter();
        CallSite::here()
    }

    #[test]
    fn nested_calls_name_the_line_of_the_outermost() {
        let line = line!() + 1;
        let (own, nested) = outer();
        assert_eq!((own.file(), own.line(), nested), (file!(), line, own));
        // The call is over.
        assert_eq!(inner().line(), line!());
        let closure_of_the_program = {
            let _call = own.entered();
            let _left = CallSite::leave();
            inner()
        };
        assert_eq!(closure_of_the_program.line(), line!() - 2);
    }

    #[test]
    fn call_site_survives_its_way_to_another_process() {
        let here = CallSite::caller();
        let there: CallSite = postcard::from_bytes(&postcard::to_allocvec(&here).unwrap()).unwrap();
        let again: CallSite = postcard::from_bytes(&postcard::to_allocvec(&here).unwrap()).unwrap();
        assert_eq!((there, there.to_string()), (here, here.to_string()));
        assert!(std::ptr::eq(there.file(), again.file()), "a name is kept once");
    }
}
