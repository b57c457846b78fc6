/// The operands of an operation do not go together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}
