//! Messages between a program and its viewers, recordings, and conditions for pauses.
//!
//! A connection begins with a [greeting] of fixed length. Then each side sends [frames](mod@frame):
//! a length and a value in postcard's encoding. Viewers send an [`Ask`], programs a [`Message`].
//! Lengths are checked before memory is allocated. A recording is a sequence of [`Recorded`] values
//! in frames with checksums.

#![forbid(unsafe_code)]

// The code that `derive(Element)` generates refers to `::zippy`.
#[cfg(test)]
extern crate zippy_base as zippy;

mod activity;
mod arrays;
mod check;
mod condition;
mod control;
mod element;
mod element_types;
pub mod frame;
#[cfg(test)]
mod golden_tests;
pub mod greeting;
mod lists;
mod name_lookup;
pub mod recording;
mod scalar;
mod summary;
mod view;

use serde::{Deserialize, Serialize};

pub use activity::{MOST_MOVES, MOST_SPANS, MoveEntry, Moves, Span, SpanKind, Timeline};
pub use arrays::{ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, GhostEntry, GhostState, LastWrite, MOST_CHUNKS};
pub use condition::{Condition, Facts, ResolvedCondition, Values};
pub use control::{Control, Point, Rule, When};
pub use element::{ElementType, Numbers, ScalarType};
pub use name_lookup::meant;
pub use scalar::ScalarValue;
pub use summary::{Component, Difference, MOST_BINS, MOST_PERCENTILES, Summary, SummaryRequest};
pub use view::{MOST_VIEW_BYTES, View, ViewRequest};

/// Version of the protocol. A program and a viewer must have the same version.
pub const VERSION: u16 = 4;

/// Oldest version of recordings that this version reads. The encoding of their entries is the same.
pub const FIRST_RECORDED_VERSION: u16 = 3;

/// Request of a viewer, with an id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Id that the answer returns.
    pub id: u32,
    /// Request.
    pub request: Request,
}

/// Request of a viewer to the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// List of all arrays: [`Answer::Arrays`].
    Arrays,
    /// Cells of an array: [`Answer::View`].
    View(ViewRequest),
    /// Statistics, histogram and percentiles: [`Answer::Summary`].
    Summary(SummaryRequest),
    /// State of the ghost cells of an array by chunk and side, in checked runs only:
    /// [`Answer::Ghosts`].
    Ghosts(ArrayRef),
    /// Number of differing cells of two arrays of the same type and shape: [`Answer::Difference`].
    Compare(ArrayRef, ArrayRef),
    /// Moves of the last operation that moved cells: [`Answer::Moves`].
    Moves,
    /// Activities of the ranks since this microsecond of the run: [`Answer::Timeline`].
    Timeline(u64),
    /// Pause, continue or end the program: [`Answer::Done`].
    Control(Control),
    /// Rules for pauses of the program, which replace all earlier rules: [`Answer::Done`].
    Rules(#[serde(deserialize_with = "lists::list")] Vec<Rule>),
    /// Sign of life of the viewer, in reply to [`Message::Alive`]: [`Answer::Done`].
    Alive,
}

/// Message of a program to its viewers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Debug point of the program. Sent to a new viewer, at debug points at which ranks
    /// synchronize, and when the program pauses or continues; not at each debug point of a running
    /// program.
    Point(Point),
    /// Answer to the [`Ask`] of this id, or its error text.
    Answer(u32, Result<Answer, String>),
    /// End of the run, with its outcome.
    End(String),
    /// Probe of a silent viewer. The program disconnects a viewer that does not send
    /// [`Request::Alive`].
    Alive,
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Answer to [`Request::Arrays`]: global and growable arrays, then local arrays by rank.
    Arrays(#[serde(deserialize_with = "lists::list")] Vec<ArrayEntry>),
    /// Answer to [`Request::View`].
    View(View),
    /// Answer to [`Request::Summary`].
    Summary(Summary),
    /// Answer to [`Request::Ghosts`].
    Ghosts(#[serde(deserialize_with = "lists::list")] Vec<GhostEntry>),
    /// Answer to [`Request::Compare`].
    Difference(Difference),
    /// Answer to [`Request::Moves`].
    Moves(Moves),
    /// Answer to [`Request::Timeline`].
    Timeline(Timeline),
    /// The program has accepted the request.
    Done,
}

/// Description of the program: the first message to a viewer, and the first entry of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Name of the executable.
    pub name: String,
    /// Number of ranks.
    pub ranks: u32,
    /// True if the run is checked, so that stale ghost cells are known.
    pub checked: bool,
    /// Names of the adapters of all ranks, without duplicates.
    #[serde(deserialize_with = "lists::list")]
    pub adapters: Vec<String>,
}

/// Entry of a recording, in the order of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Recorded {
    /// First entry of the recording.
    Program(Program),
    /// Debug point, to which the following entries belong.
    Point(Point),
    /// List of all arrays.
    Arrays(#[serde(deserialize_with = "lists::list")] Vec<ArrayEntry>),
    /// Cells of an array, with strides if all cells exceed the size limit. An array with ghost
    /// cells has a view of each chunk with its ghost cells, if they fit.
    View(View),
    /// Last entry, with the outcome of the run.
    End(String),
    /// State of the ghost cells of an array, in checked runs.
    Ghosts(ArrayRef, #[serde(deserialize_with = "lists::list")] Vec<GhostEntry>),
    /// Moves of the last operation that moved cells, if they differ from the last such entry.
    /// Without boxes if the boxes equal those of that entry.
    Moves(Moves),
    /// Activities of the ranks since the last such entry.
    Timeline(Timeline),
    /// Cells of an array that equal those of the debug point of this number.
    Unchanged(ArrayRef, u64),
}
