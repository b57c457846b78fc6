/// An array or a section of it was misused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
