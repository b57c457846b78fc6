//! [`ErrorKind`]: the errors of all modules.

use zippy_plan::error::{LayoutError, PlanError, RegionError};

use super::{ArrayError, DeviceError, ElementError, KdTreeError, KernelError, OtherError, TransportError};

/// What went wrong, in an [`Error`](super::Error).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
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

impl From<std::io::Error> for ErrorKind {
    fn from(error: std::io::Error) -> Self {
        Self::Other(OtherError::new(error))
    }
}

impl ErrorKind {
    /// Whether the text says already which rank failed.
    pub(super) fn names_rank(&self) -> bool {
        match self {
            Self::Remote { .. } | Self::Differing { .. } => true,
            Self::Transport(error) => {
                matches!(
                    error,
                    TransportError::Panicked { .. } | TransportError::Timeout { .. } | TransportError::Thread { .. }
                )
            }
            _ => false,
        }
    }
}
