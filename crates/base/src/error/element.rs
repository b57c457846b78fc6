/// Errors of element types.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// Shaders of the adapter do not support the element type.
    #[error("elements of type {element} need {lacks} in shaders, which the adapter \"{adapter}\" does not offer")]
    Unsupported {
        /// Element type.
        element: &'static str,
        /// The missing number format, in words.
        lacks: &'static str,
        /// Adapter name.
        adapter: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
