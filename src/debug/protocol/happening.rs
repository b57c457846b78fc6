//! What moved, and what the ranks did when.

use serde::{Deserialize, Serialize};

use super::{ArrayRef, lists};
pub use crate::trace::SpanKind;

/// More moves are not told one by one.
pub const MOST_MOVES: usize = 1 << 14;
/// The latest spans of each rank that are told.
pub const MOST_SPANS: usize = crate::trace::LATEST_SPANS;

/// What an operation has moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moves {
    /// The operation in words; empty where there was none.
    pub operation: String,
    /// Boxes that were moved, as many as are told.
    #[serde(deserialize_with = "lists::list")]
    pub moves: Vec<MoveEntry>,
    /// How many there were.
    pub count: u64,
    /// Bytes that stayed on their rank.
    pub bytes_local: u64,
    /// Bytes that went to another rank.
    pub bytes_network: u64,
}

/// A box of cells that was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveEntry {
    /// From which array, chunk, rank, and its first cell there; from none where it is memory of the program's own, its first cell
    /// being that at the other end.
    #[serde(deserialize_with = "lists::place")]
    pub from: (Option<ArrayRef>, u64, u32, Vec<i64>),
    /// To which.
    #[serde(deserialize_with = "lists::place")]
    pub to: (Option<ArrayRef>, u64, u32, Vec<i64>),
    /// How many cells along each axis of the destination.
    #[serde(deserialize_with = "lists::list")]
    pub extents: Vec<i64>,
    /// How many bytes.
    pub bytes: u64,
}

/// What ranks did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Until when it is known, in microseconds since the run began.
    pub until: u64,
    /// Those of each rank, in the order in which they began.
    #[serde(deserialize_with = "lists::lists")]
    pub ranks: Vec<Vec<Span>>,
}

/// Something that a rank did for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What kind of thing.
    pub kind: SpanKind,
    /// Its operation or kernel.
    pub what: String,
    /// When it began, in microseconds since the run began.
    pub start: u64,
    /// How long it took, in microseconds.
    pub length: u64,
    /// For whom it waited.
    pub peer: Option<u32>,
}
