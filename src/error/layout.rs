/// A layout or an ownership is malformed or does not fit the machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
