//! Activities of the ranks: moves of cells, and timelines.

use serde::{Deserialize, Serialize};

use super::{ArrayRef, lists};
pub use zippy_base::trace::SpanKind;

/// Maximum number of moves in an answer.
pub const MOST_MOVES: usize = 1 << 14;
/// Maximum number of spans of each rank in an answer: the latest ones.
pub const MOST_SPANS: usize = zippy_base::trace::LATEST_SPANS;

/// Moves of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moves {
    /// Text of the operation; empty if there was none.
    pub operation: String,
    /// Moved boxes, at most [`MOST_MOVES`].
    #[serde(deserialize_with = "lists::list")]
    pub moves: Vec<MoveEntry>,
    /// Number of all moved boxes.
    pub count: u64,
    /// Bytes that stayed on their rank.
    pub bytes_local: u64,
    /// Bytes sent to another rank.
    pub bytes_network: u64,
}

/// Moved box of cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveEntry {
    /// Source: array, chunk, rank and first cell. The array is `None` for the program's own memory;
    /// the first cell is then that of the destination.
    #[serde(deserialize_with = "lists::move_end")]
    pub from: (Option<ArrayRef>, u64, u32, Vec<i64>),
    /// Destination: array, chunk, rank and first cell. The array is `None` for the program's own
    /// memory; the first cell is then that of the source.
    #[serde(deserialize_with = "lists::move_end")]
    pub to: (Option<ArrayRef>, u64, u32, Vec<i64>),
    /// Number of cells along each axis of the destination.
    #[serde(deserialize_with = "lists::list")]
    pub extents: Vec<i64>,
    /// Size of the box in bytes.
    pub bytes: u64,
}

/// Timelines of all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// End of the timeline, in microseconds since the run began.
    pub until: u64,
    /// Spans of each rank, in ascending order of their start.
    #[serde(deserialize_with = "lists::lists")]
    pub ranks: Vec<Vec<Span>>,
}

/// Period of one activity of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Kind of activity.
    pub kind: SpanKind,
    /// Name of the operation or kernel.
    pub what: String,
    /// Start, in microseconds since the run began.
    pub start: u64,
    /// Duration in microseconds.
    pub length: u64,
    /// Rank that the activity waited for.
    pub peer: Option<u32>,
}
