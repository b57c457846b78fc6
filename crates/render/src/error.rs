//! Errors of rendering.

/// Reason why an image cannot be rendered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The camera does not define a view.
    #[error("camera: {0}")]
    Camera(String),
    /// The transfer function is malformed.
    #[error("transfer function: {0}")]
    Transfer(String),
    /// The sample distance, the image size or another setting is out of range.
    #[error("rendering: {0}")]
    Setting(String),
    /// The volume cannot be rendered.
    #[error("volume: {0}")]
    Volume(String),
    /// A surface cannot be drawn.
    #[error("surface: {0}")]
    Surface(String),
}

impl From<RenderError> for zippy::Error {
    #[track_caller]
    fn from(error: RenderError) -> Self {
        Self::other(error)
    }
}
