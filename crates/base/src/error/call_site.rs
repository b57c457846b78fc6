//! [`CallSite`]: the line of a program that called the library.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Display, Formatter};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize};

thread_local! {
    /// Outermost library call in progress on this thread.
    static CURRENT: Cell<Option<CallSite>> = const { Cell::new(None) };
}

/// Line of a program that calls the library: file, line and column.
///
/// Each public fallible function is `#[track_caller]` and begins with [`CallSite::enter`]. Until
/// the function returns, errors and warnings on its thread name its call site. Nested library calls
/// keep the call site of the outermost call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CallSite {
    file: &'static str,
    line: u32,
    column: u32,
}

impl CallSite {
    /// Call site of the outermost library call in progress on this thread, or the caller's line
    /// outside of library calls.
    #[track_caller]
    pub fn here() -> Self {
        match CURRENT.get() {
            Some(outermost) => outermost,
            None => Self::caller(),
        }
    }

    /// Line of the caller.
    #[track_caller]
    pub fn caller() -> Self {
        let at = Location::caller();
        Self { file: at.file(), line: at.line(), column: at.column() }
    }

    /// Makes the caller's line the call site of errors and warnings of this thread until the result
    /// is dropped. Inside another library call, the outer call site stays.
    #[track_caller]
    pub fn enter() -> EnteredCall {
        Self::here().entered()
    }

    /// True if the caller is in Rust's core library and not a line of the program, as for
    /// `map_err(Into::into)`.
    pub(super) fn is_in_core(&self) -> bool {
        self.file.starts_with("/rustc/") || self.file.contains("library/core/src/")
    }

    /// Makes this the call site of the thread until the result is dropped: [`enter`](Self::enter)
    /// for a call with work on another thread.
    #[doc(hidden)]
    pub fn entered(self) -> EnteredCall {
        EnteredCall { before: CURRENT.replace(Some(self)), thread: PhantomData }
    }

    /// Removes the call site of this thread until the result is dropped, for closures of the
    /// program that call the library.
    #[doc(hidden)]
    pub fn leave() -> EnteredCall {
        EnteredCall { before: CURRENT.replace(None), thread: PhantomData }
    }

    /// Path of the source file, as the compiler writes it.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Line, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Column, from 1.
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

/// Reads call sites of other processes of the same program.
impl<'de> Deserialize<'de> for CallSite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (file, line, column) = <(String, u32, u32)>::deserialize(deserializer)?;
        Ok(Self { file: interned(file), line, column })
    }
}

/// Interned file name that lives until the end of the process.
fn interned(file: String) -> &'static str {
    static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.get(file.as_str()).copied().unwrap_or_else(|| {
        let kept: &'static str = file.leak();
        files.insert(kept);
        kept
    })
}

/// Library call in progress on this thread, from [`CallSite::enter`] until the drop.
#[must_use = "the call ends when this is dropped"]
pub struct EnteredCall {
    before: Option<CallSite>,
    thread: PhantomData<*const ()>,
}

impl EnteredCall {
    /// True if this call is inside another library call.
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
    fn nested_calls_name_the_line_of_the_outermost_call() {
        let line = line!() + 1;
        let (call_site, nested) = outer();
        assert_eq!((call_site.file(), call_site.line(), nested), (file!(), line, call_site));
        assert_eq!(inner().line(), line!());
        let in_program_closure = {
            let _call = call_site.entered();
            let _without_call = CallSite::leave();
            inner()
        };
        assert_eq!(in_program_closure.line(), line!() - 2);
    }

    #[test]
    fn deserialized_call_site_equals_the_serialized_one() {
        let original = CallSite::caller();
        let first: CallSite = postcard::from_bytes(&postcard::to_allocvec(&original).unwrap()).unwrap();
        let second: CallSite = postcard::from_bytes(&postcard::to_allocvec(&original).unwrap()).unwrap();
        assert_eq!((first, first.to_string()), (original, original.to_string()));
        assert!(std::ptr::eq(first.file(), second.file()), "equal file names share one copy");
    }
}
