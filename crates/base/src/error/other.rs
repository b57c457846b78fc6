use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;

/// Error of another crate, with its type and its source. Values are equal if their texts are equal.
#[derive(Clone)]
pub struct OtherError(Arc<dyn Error + Send + Sync>);

impl OtherError {
    /// Wraps an error.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The wrapped error, if its type is `E`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[derive(Debug, thiserror::Error)]
    #[error("line {line} of the file")]
    struct Syntax {
        line: usize,
        #[source]
        cause: std::num::ParseIntError,
    }

    #[test]
    fn wrapped_error_keeps_type_text_and_source() {
        let cause = "x".parse::<usize>().unwrap_err();
        let error = crate::Error::other(Syntax { line: 7, cause: cause.clone() });
        assert_eq!(error.kind().to_string(), "line 7 of the file");
        assert_eq!(error.source().map(ToString::to_string), Some(cause.to_string()));
        let ErrorKind::Other(other) = error.clone().into_kind() else { panic!("{error}") };
        assert_eq!(other.as_error::<Syntax>().map(|syntax| syntax.line), Some(7));
        assert!(other.as_error::<std::fmt::Error>().is_none());
        assert_eq!(error, crate::Error::other(Syntax { line: 7, cause }));
    }
}
