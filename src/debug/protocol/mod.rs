//! What a program and a viewer say to each other, live and in recordings.
//!
//! A connection begins with a [greeting] of fixed length. Then each side sends [frames](mod@frame): a length and a
//! value in postcard's encoding, an [`Ask`] of the viewer or a [`Message`] of the program. Lengths are bounded before
//! anything is allocated. A recording is a sequence of [`Recorded`] values in frames with checksums.

mod arrays;
mod check;
mod control;
mod element;
pub mod frame;
pub mod greeting;
mod happening;
mod lists;
mod scalar;
mod summary;
mod view;

use serde::{Deserialize, Serialize};

pub use arrays::{ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, GhostEntry, GhostState, LastWrite, MOST_CHUNKS};
pub use control::{Control, Point, Rule, When};
pub use element::{ElementType, Numbers, ScalarType};
pub use happening::{MOST_MOVES, MOST_SPANS, MoveEntry, Moves, Span, SpanKind, Timeline};
pub use scalar::ScalarValue;
pub use summary::{Component, Difference, MOST_BINS, MOST_PERCENTILES, Summary, SummaryRequest};
pub use view::{MOST_VIEW_BYTES, View, ViewRequest};

/// The version of all of this. Sides of different versions do not talk.
pub const VERSION: u16 = 4;

/// First version with recordings that this version reads: none of their entries has changed since.
pub const FIRST_RECORDED_VERSION: u16 = 3;

/// What a viewer wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Told back with the answer.
    pub id: u32,
    /// What it is.
    pub request: Request,
}

/// What can be wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// All arrays: [`Answer::Arrays`].
    Arrays,
    /// Cells: [`Answer::View`].
    View(ViewRequest),
    /// Smallest and largest numbers, NaNs, a histogram: [`Answer::Summary`].
    Summary(SummaryRequest),
    /// What the ghost cells of an array are, by chunk and side; in checked runs only: [`Answer::Ghosts`].
    Ghosts(ArrayRef),
    /// Where two arrays of the same type and shape differ: [`Answer::Difference`].
    Compare(ArrayRef, ArrayRef),
    /// What the last operation that moved cells has moved: [`Answer::Moves`].
    Moves,
    /// What the ranks did from this microsecond of the run on: [`Answer::Timeline`].
    Timeline(u64),
    /// Go on, pause and the like: [`Answer::Done`].
    Control(Control),
    /// Where the program is to pause, in place of all rules before: [`Answer::Done`].
    Rules(#[serde(deserialize_with = "lists::list")] Vec<Rule>),
    /// Nothing: the viewer is there. Each that is told [`Message::Alive`] says it: [`Answer::Done`].
    Alive,
}

/// What a program says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Where it is. Said when that changes, and when it pauses or goes on; not at each point of a program that runs.
    Point(Point),
    /// To the [`Ask`] of this number; or what was wrong with it.
    Answer(u32, Result<Answer, String>),
    /// It is over: how it ended.
    End(String),
    /// It is there, and has not heard the viewer for a while: one that does not say [`Request::Alive`] is taken for gone.
    Alive,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// To [`Request::Arrays`]: global and growable arrays, then those of each rank.
    Arrays(#[serde(deserialize_with = "lists::list")] Vec<ArrayEntry>),
    /// To [`Request::View`].
    View(View),
    /// To [`Request::Summary`].
    Summary(Summary),
    /// To [`Request::Ghosts`].
    Ghosts(#[serde(deserialize_with = "lists::list")] Vec<GhostEntry>),
    /// To [`Request::Compare`].
    Difference(Difference),
    /// To [`Request::Moves`].
    Moves(Moves),
    /// To [`Request::Timeline`].
    Timeline(Timeline),
    /// It will be so.
    Done,
}

/// The program, as a viewer is told first and a recording begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The name of its executable.
    pub name: String,
    /// Its number of ranks.
    pub ranks: u32,
    /// Whether the run is checked, so that stale ghost cells are known.
    pub checked: bool,
    /// The adapters of the ranks, each named once.
    #[serde(deserialize_with = "lists::list")]
    pub adapters: Vec<String>,
}

/// An entry of a recording, in the order of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Recorded {
    /// The first entry.
    Program(Program),
    /// A debug point; what follows is what there was then.
    Point(Point),
    /// All arrays.
    Arrays(#[serde(deserialize_with = "lists::list")] Vec<ArrayEntry>),
    /// The cells of an array, as many as the recording has room for: its stride says which. Of an array with ghost cells,
    /// where there is room, each chunk's with them.
    View(View),
    /// The last entry of a run that came to its end.
    End(String),
    /// What the ghost cells of an array were, in checked runs.
    Ghosts(ArrayRef, #[serde(deserialize_with = "lists::list")] Vec<GhostEntry>),
    /// What the last operation that moved cells has moved, where that has changed since the entry before; without boxes where
    /// they are those of that one.
    Moves(Moves),
    /// What the ranks did since the entry before.
    Timeline(Timeline),
    /// The cells of an array that nobody has written since they were recorded: those of the debug
    /// point of this number.
    Unchanged(ArrayRef, u64),
}
