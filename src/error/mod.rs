//! Errors, one enumeration per module, all collected in [`Error`].
//!
//! Every error is a value that every rank can return: cloneable, comparable by its text, and written
//! for the person who made the mistake: what was wrong, where, and what would be right.

mod array;
mod device;
mod element;
mod failure;
mod kdtree;
mod kernel;
mod other;
mod transport;

pub use array::ArrayError;
pub use device::DeviceError;
pub use element::ElementError;
pub(crate) use failure::Failure;
pub use kdtree::KdTreeError;
pub use kernel::KernelError;
pub use other::OtherError;
pub use transport::TransportError;
pub use zippy_plan::error::{LayoutError, PlanError, RegionError};

/// `Result` with Zippy's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Anything that can go wrong in a Zippy program.
///
/// `Debug` writes the same sentence as `Display`, because that is what a `main` that returns an error prints.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A region is malformed or does not fit.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A layout or an ownership is malformed or does not fit the machine.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// An element type is not what it should be.
    #[error(transparent)]
    Element(#[from] ElementError),
    /// The operands of an operation do not go together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Ranks could not be started or could not talk to each other.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The GPU, its memory or its driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The GPU, its memory or its driver, in a collective.
    #[error("{operation}: {error}")]
    Transfer {
        /// The collective, with its arrays.
        operation: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// A WGSL kernel or its bindings.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An array or a section of it was misused.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A k-d tree or a query of one.
    #[error(transparent)]
    KdTree(#[from] KdTreeError),
    /// The error of a crate above this one: of a file, of a picture.
    #[error(transparent)]
    Other(OtherError),
    /// Another rank failed; this rank could not go on without it.
    #[error("rank {rank} failed in {operation}: {message}")]
    Remote {
        /// The rank that failed.
        rank: usize,
        /// What it was doing.
        operation: String,
        /// Its own error.
        message: String,
    },
    /// The ranks called different collectives, or the same with different arguments.
    #[error(
        "collective calls differ: rank {rank} called {call}, rank {other_rank} called {other_call} \
         (every rank must call the same collectives in the same order with the same arguments)"
    )]
    Differing {
        /// One rank.
        rank: usize,
        /// Its call.
        call: String,
        /// Another rank.
        other_rank: usize,
        /// The other's call.
        other_call: String,
    },
    /// Anything the program itself wants to report as its own failure.
    #[error("{0}")]
    Program(String),
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// An error of the user's program, with its own text.
    pub fn program(message: impl Into<String>) -> Self {
        Self::Program(message.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_that_fails_prints_the_sentence() {
        let error = Error::from(TransportError::NoSuchRank { rank: 7, size: 4 });
        assert_eq!(format!("Error: {error:?}"), "Error: rank 7 is not in a group of 4; ranks are 0..4");
    }
}
