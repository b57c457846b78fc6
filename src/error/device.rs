/// The GPU, its memory or its driver.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
