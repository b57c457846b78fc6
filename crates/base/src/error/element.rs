/// An element type is not what it should be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// The adapter cannot compute with the type.
    #[error("elements of type {element} need {lacks} in shaders, which the adapter \"{adapter}\" does not offer")]
    Unsupported {
        /// The element type.
        element: &'static str,
        /// What is missing, in words.
        lacks: &'static str,
        /// The adapter's name.
        adapter: String,
    },
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
