/// A file could not be read or written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
