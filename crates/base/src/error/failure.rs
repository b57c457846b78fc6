use serde::{Deserialize, Serialize};

use super::{CallSite, Error, ErrorKind};

/// Report of a rank's failure for the other ranks, sent out of band.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Failed rank.
    pub rank: usize,
    /// Failed operation.
    pub operation: String,
    /// Text of the error, without operation and call site.
    pub message: String,
    /// Call site of the failed operation.
    pub call_site: Option<CallSite>,
    /// Two ranks with different collective calls, each with its call; `None` for other errors.
    pub differing: Option<[(usize, String); 2]>,
}

impl Failure {
    /// Report of an error of rank `rank` in `operation`. The report of an [`ErrorKind::Remote`]
    /// keeps the original rank and operation.
    pub fn new(rank: usize, operation: String, error: &Error) -> Self {
        let call_site = error.call_site();
        let (message, differing) = match error.kind() {
            ErrorKind::Differing { rank, call, other_rank, other_call } => {
                (error.kind().to_string(), Some([(*rank, call.clone()), (*other_rank, other_call.clone())]))
            }
            ErrorKind::Remote { rank, operation, message } => {
                let (operation, message) = (operation.clone(), message.clone());
                return Self { rank: *rank, operation, message, call_site, differing: None };
            }
            ErrorKind::Transfer { error, .. } => (error.to_string(), None),
            kind => (kind.to_string(), None),
        };
        Self { rank, operation, message, call_site, differing }
    }

    /// Report of a failure without an [`Error`].
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
