use zippy_plan::error::{LayoutError, PlanError, RegionError};

use super::{ArrayError, DeviceError, ElementError, KdTreeError, KernelError, OtherError, TransportError};

/// Kind of an [`Error`](super::Error), with its details.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A region is malformed or outside of its array.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A layout or an ownership is malformed or exceeds the memory of the machine.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// An element type is not supported.
    #[error(transparent)]
    Element(#[from] ElementError),
    /// The operands of an operation do not match.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The start of ranks or the communication between ranks failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Error of the GPU, its memory or its driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Error of the GPU, its memory or its driver in a collective.
    #[error("{operation}: {error}")]
    Transfer {
        /// The collective, with its arrays.
        operation: String,
        /// Device error.
        error: DeviceError,
    },
    /// Error of a WGSL kernel or its bindings.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Misuse of an array or of a section.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Invalid arguments of a k-d tree or of its queries.
    #[error(transparent)]
    KdTree(#[from] KdTreeError),
    /// Error of a crate that depends on this one, such as a file or image error.
    #[error(transparent)]
    Other(OtherError),
    /// Another rank failed, and this rank cannot continue without it.
    #[error("rank {rank} failed in {operation}: {message}")]
    Remote {
        /// The rank that failed.
        rank: usize,
        /// Operation in which the rank failed.
        operation: String,
        /// Text of the error of that rank.
        message: String,
    },
    /// Two ranks called different collectives, or one collective with different arguments.
    #[error(
        "collective calls differ: rank {rank} called {call}, rank {other_rank} called {other_call} \
         (every rank must call the same collectives in the same order with the same arguments)"
    )]
    Differing {
        /// First rank.
        rank: usize,
        /// Call of `rank`.
        call: String,
        /// Second rank.
        other_rank: usize,
        /// Call of `other_rank`.
        other_call: String,
    },
    /// Failure of the program itself, with its own text.
    #[error("{0}")]
    Program(String),
}

impl From<std::io::Error> for ErrorKind {
    fn from(error: std::io::Error) -> Self {
        Self::Other(OtherError::new(error))
    }
}

impl ErrorKind {
    /// True if the text names the failed rank.
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
