//! [`ArrayEntry`]: an array as it is listed.

use serde::{Deserialize, Serialize};

use super::{ElementType, lists};
pub use crate::array::ArrayKind;
pub use crate::history::GhostState;

/// More chunks of an array are not listed one by one.
pub const MOST_CHUNKS: usize = 1 << 14;

/// Names an array of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ArrayRef {
    /// Whose it is; none of a global array's.
    pub rank: Option<u32>,
    /// Its number, there or in the world.
    pub number: u64,
}

/// An array of all ranks, or of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrayEntry {
    /// How requests name it.
    pub array: ArrayRef,
    /// Its name in the program.
    pub name: String,
    /// What it is.
    pub kind: ArrayKind,
    /// What its cells are.
    pub element: ElementType,
    /// Its extents in cells; of a growable array those in use.
    #[serde(deserialize_with = "lists::list")]
    pub shape: Vec<i64>,
    /// Ghost widths before and behind each chunk, by axis.
    #[serde(deserialize_with = "lists::pair")]
    pub ghosts: [Vec<i64>; 2],
    /// Which axes are periodic.
    #[serde(deserialize_with = "lists::list")]
    pub periodic: Vec<bool>,
    /// How many chunks it has.
    pub chunk_count: u64,
    /// How many there are along each axis, where they make up a grid; else they are boxes.
    #[serde(deserialize_with = "lists::optional")]
    pub grid: Option<Vec<u64>>,
    /// Its chunks by number, those without cells, too; none where they are more than [`MOST_CHUNKS`], or where those of all
    /// arrays are more than four times as many.
    #[serde(deserialize_with = "lists::list")]
    pub chunks: Vec<ChunkEntry>,
    /// What they take on all devices, ghost cells included.
    pub bytes: u64,
    /// How often it was written: that of the chunk written most.
    pub writes: u64,
    /// Its last write, if any: of those of its chunks the one of the latest step.
    pub last_write: Option<LastWrite>,
}

impl ArrayEntry {
    /// How it is cut, in words: `4 x 2 chunks`, `7 boxes`.
    pub fn split(&self) -> String {
        match &self.grid {
            Some(grid) => {
                let along: Vec<String> = grid.iter().map(u64::to_string).collect();
                let chunks = if self.chunk_count == 1 { "chunk" } else { "chunks" };
                format!("{} {chunks}", along.join(" x "))
            }
            None if self.chunk_count == 1 => "1 box".into(),
            None => format!("{} boxes", self.chunk_count),
        }
    }
}

/// A chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkEntry {
    /// Its owner.
    pub rank: u32,
    /// The first of its cells, in global coordinates.
    #[serde(deserialize_with = "lists::list")]
    pub start: Vec<i64>,
    /// Behind the last one.
    #[serde(deserialize_with = "lists::list")]
    pub end: Vec<i64>,
    /// How often it was written.
    pub writes: u64,
}

/// Who wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    /// The operation or kernel.
    pub operation: String,
    /// The file of the call.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// How many debug points its rank had passed.
    pub step: u64,
}

/// The ghost cells on one side of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GhostEntry {
    /// The chunk's number.
    pub chunk: u64,
    /// −1, 0 or 1 an axis.
    #[serde(deserialize_with = "lists::list")]
    pub side: Vec<i8>,
    /// The worst that is true of a cell there.
    pub state: GhostState,
}
