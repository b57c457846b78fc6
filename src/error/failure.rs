use serde::{Deserialize, Serialize};

use super::Error;

/// A rank's failure as it is told to the other ranks, out of band.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The rank that failed.
    pub rank: usize,
    /// What it was doing.
    pub operation: String,
    /// Its own error.
    pub message: String,
    /// Where ranks have called different operations: two of them, and what they called. No rank's error more than another's.
    pub differing: Option<[(usize, String); 2]>,
}

impl Failure {
    /// The failure of a rank with this error.
    pub(crate) fn new(rank: usize, operation: String, error: &Error) -> Self {
        let differing = match error {
            Error::Differing { rank, call, other_rank, other_call } => {
                Some([(*rank, call.clone()), (*other_rank, other_call.clone())])
            }
            _ => None,
        };
        // The operation is named beside it.
        let message = if let Error::Transfer { error, .. } = error { error.to_string() } else { error.to_string() };
        Self { rank, operation, message, differing }
    }

    /// A failure that is no [`Error`].
    pub(crate) fn other(rank: usize, operation: String, message: String) -> Self {
        Self { rank, operation, message, differing: None }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure.differing {
            Some([(rank, call), (other_rank, other_call)]) => Self::Differing { rank, call, other_rank, other_call },
            None => Self::Remote { rank: failure.rank, operation: failure.operation, message: failure.message },
        }
    }
}
