/// A WGSL kernel or its bindings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
