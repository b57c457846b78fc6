/// Ranks could not be started or could not talk to each other.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// A failure with its own text.
    #[error("{0}")]
    Other(String),
}

/// A rank's failure as it is told to the other ranks, out of band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The rank that failed.
    pub rank: usize,
    /// What it was doing.
    pub operation: String,
    /// Its own error.
    pub message: String,
}
