use serde::{Deserialize, Serialize};

use super::{CallSite, Error, ErrorKind};

/// A rank's failure as it is told to the other ranks, out of band.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The rank that failed.
    pub rank: usize,
    /// What it was doing.
    pub operation: String,
    /// Its own error.
    pub message: String,
    /// The line of the program that called what failed.
    pub call_site: Option<CallSite>,
    /// Where ranks have called different operations: two of them, and what they called. No rank's error more than another's.
    pub differing: Option<[(usize, String); 2]>,
}

impl Failure {
    /// The failure of a rank with this error.
    pub fn new(rank: usize, operation: String, error: &Error) -> Self {
        let call_site = error.call_site();
        let (message, differing) = match error.kind() {
            ErrorKind::Differing { rank, call, other_rank, other_call } => {
                (error.kind().to_string(), Some([(*rank, call.clone()), (*other_rank, other_call.clone())]))
            }
            // Another rank's, as it was told.
            ErrorKind::Remote { rank, operation, message } => {
                let (operation, message) = (operation.clone(), message.clone());
                return Self { rank: *rank, operation, message, call_site, differing: None };
            }
            // The operation is named next to it.
            ErrorKind::Transfer { error, .. } => (error.to_string(), None),
            kind => (kind.to_string(), None),
        };
        Self { rank, operation, message, call_site, differing }
    }

    /// A failure that is no [`Error`].
    pub fn other(rank: usize, operation: String, message: String) -> Self {
        Self { rank, operation, message, call_site: None, differing: None }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let kind = match failure.differing {
            Some([(rank, call), (other_rank, other_call)]) => {
                ErrorKind::Differing { rank, call, other_rank, other_call }
            }
            None => ErrorKind::Remote { rank: failure.rank, operation: failure.operation, message: failure.message },
        };
        Self::new(kind, failure.call_site)
    }
}
