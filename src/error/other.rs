//! Errors of crates that build on this one, in [`Error`](super::Error).

use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;

/// The error of a crate above this one, as it was. Equal where the texts are.
#[derive(Clone)]
pub struct OtherError(Arc<dyn Error + Send + Sync>);

impl OtherError {
    /// Holds an error.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it is of this type.
    pub fn as_error<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl Display for OtherError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl Debug for OtherError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl Error for OtherError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for OtherError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
