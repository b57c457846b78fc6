//! Errors: one enumeration per module, [`ErrorKind`] over all of them, and [`Error`], which adds
//! the call site and the rank.
//!
//! Errors are cloneable and comparable by kind, so that every rank can return the error of another
//! rank. The text is for the author of the program: the mistake, its call site and a correct
//! alternative.

mod array;
mod call_site;
mod device;
mod element;
mod failure;
mod kdtree;
mod kernel;
mod kind;
mod other;
mod refusal;
mod transport;

use std::fmt::{self, Debug, Display, Formatter};

pub use array::ArrayError;
pub use call_site::{CallSite, EnteredCall};
pub use device::DeviceError;
pub use element::ElementError;
#[doc(hidden)]
pub use failure::Failure;
pub use kdtree::KdTreeError;
pub use kernel::KernelError;
pub use kind::ErrorKind;
pub use other::OtherError;
pub use refusal::describe_refusal;
pub use transport::TransportError;
pub use zippy_plan::error::{GridError, LayoutError, PlanError, RegionError};

/// `Result` with Zippy's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a Zippy program: its kind, the call site in the program, and the failed rank for the
/// error of a run.
///
/// Two errors are equal if their kinds are equal. `Debug` writes the text of `Display`, because a
/// `main` that returns an error prints it with `Debug`: `rank 1 failed in copy(…): … at
/// src/main.rs:27:85`.
#[derive(Clone)]
pub struct Error(Box<ErrorDetails>);

#[derive(Clone)]
struct ErrorDetails {
    kind: ErrorKind,
    call_site: Option<CallSite>,
    failed: Option<FailedRank>,
}

/// Failed rank of a run, and its failed operation.
#[derive(Clone)]
struct FailedRank {
    rank: usize,
    operation: String,
}

impl Error {
    /// Creates an error of the user's program with its own text.
    #[track_caller]
    pub fn program(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Program(message.into()), Some(CallSite::caller()))
    }

    /// Wraps the error of another library or of a crate that depends on this one.
    #[track_caller]
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        ErrorKind::Other(OtherError::new(error)).into()
    }

    /// Creates an error from its kind and its call site.
    #[doc(hidden)]
    pub fn new(kind: ErrorKind, call_site: Option<CallSite>) -> Self {
        let call_site = call_site.filter(|site| !site.is_in_core());
        Self(Box::new(ErrorDetails { kind, call_site, failed: None }))
    }

    /// Kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Converts the error to its kind, without call site and rank.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// Line of the program that called the failed function, on the failed rank for
    /// [`ErrorKind::Remote`]. `None` if no line is known, and for a panic, whose text has the line.
    pub fn call_site(&self) -> Option<CallSite> {
        self.0.call_site
    }

    /// Failed rank, for the error of a run of several ranks.
    pub fn failed_rank(&self) -> Option<usize> {
        self.0.failed.as_ref().map(|failed| failed.rank)
    }

    /// Replaces the kind.
    #[doc(hidden)]
    pub fn with_kind(mut self, change: impl FnOnce(ErrorKind) -> ErrorKind) -> Self {
        let ErrorDetails { kind, call_site, failed } = *self.0;
        self.0 = Box::new(ErrorDetails { kind: change(kind), call_site, failed });
        self
    }

    /// Converts to the error of a run that ended because `rank` failed in `operation`. An error
    /// whose kind names a rank does not change.
    #[doc(hidden)]
    pub fn of_rank(mut self, rank: usize, operation: String) -> Self {
        if !self.0.kind.names_rank() {
            self.0.failed = Some(FailedRank { rank, operation });
        }
        self
    }
}

impl<E> From<E> for Error
where
    ErrorKind: From<E>,
{
    #[track_caller]
    fn from(error: E) -> Self {
        Self::new(error.into(), Some(CallSite::here()))
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind == other.0.kind
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ErrorDetails { kind, call_site, failed } = &*self.0;
        if let Some(FailedRank { rank, operation }) = failed {
            write!(f, "rank {rank} failed in {operation}: ")?;
        }
        let Some(call_site) = call_site else { return Display::fmt(kind, f) };
        let text = kind.to_string();
        // Nothing may follow the last line of a kernel's excerpt.
        let separator = if text.contains('\n') { '\n' } else { ' ' };
        write!(f, "{}{separator}at {call_site}", text.trim_end_matches('\n'))
    }
}

impl Debug for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_text_of_error_has_message_and_line() {
        let error = Error::from(TransportError::NoSuchRank { rank: 7, size: 4 });
        let at = format!("{}:{}:21", file!(), line!() - 1);
        assert_eq!(
            format!("Error: {error:?}"),
            format!("Error: rank 7 is not in a group of 4; ranks are 0..4 at {at}")
        );
    }

    #[test]
    fn converted_io_error_names_the_line_of_the_question_mark() {
        fn read() -> Result<Vec<u8>> {
            Ok(std::fs::read("/nonexistent/input")?)
        }
        let error = read().unwrap_err();
        let at = error.call_site().unwrap();
        assert_eq!((at.file(), at.line()), (file!(), line!() - 4));
        // The core library calls a conversion that is passed by name.
        let by_name: Result<()> = std::fs::read("/nonexistent/input").map(drop).map_err(Into::into);
        let by_name = by_name.unwrap_err();
        assert_eq!((by_name.call_site(), by_name.to_string()), (None, error.kind().to_string()));
        let of_run = error.clone().of_rank(1, "its program".into());
        assert_eq!((of_run.failed_rank(), &of_run), (Some(1), &error));
        assert_eq!(of_run.to_string(), format!("rank 1 failed in its program: {error}"));
    }
}
