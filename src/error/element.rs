/// An element type is not what it should be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
