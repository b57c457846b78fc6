/// A picture cannot be computed as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The camera does not define a view.
    #[error("camera: {0}")]
    Camera(String),
    /// The transfer function is malformed.
    #[error("transfer function: {0}")]
    Transfer(String),
    /// The sample distance or the size of the picture is out of range.
    #[error("rendering: {0}")]
    Setting(String),
    /// The volume cannot be rendered.
    #[error("volume: {0}")]
    Volume(String),
    /// Two pictures of different sizes were compared.
    #[error("a picture of {left_width} x {left_height} was compared with one of {right_width} x {right_height}")]
    Sizes {
        /// Width of the first.
        left_width: usize,
        /// Height of the first.
        left_height: usize,
        /// Width of the second.
        right_width: usize,
        /// Height of the second.
        right_height: usize,
    },
}
