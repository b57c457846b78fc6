//! [`ArrayEntry`]: description of an array.

use serde::{Deserialize, Serialize};

use super::{ElementType, lists};
pub use zippy_base::{ArrayKind, GhostState};

/// Maximum number of listed chunks of an array.
pub const MOST_CHUNKS: usize = 1 << 14;

/// Identifier of an array of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ArrayRef {
    /// Owner of a local array; `None` for a global array.
    pub rank: Option<u32>,
    /// Number of the array on its owner, or in the world.
    pub number: u64,
}

/// Description of a global or local array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrayEntry {
    /// Identifier in requests.
    pub array: ArrayRef,
    /// Name in the program.
    pub name: String,
    /// Kind of array.
    pub kind: ArrayKind,
    /// Type of the cells.
    pub element: ElementType,
    /// Extents in cells; for a growable array, of the cells in use.
    #[serde(deserialize_with = "lists::list")]
    pub shape: Vec<i64>,
    /// Ghost widths before and after each chunk, by axis.
    #[serde(deserialize_with = "lists::pair")]
    pub ghosts: [Vec<i64>; 2],
    /// Periodicity of each axis.
    #[serde(deserialize_with = "lists::list")]
    pub periodic: Vec<bool>,
    /// Number of chunks.
    pub chunk_count: u64,
    /// Number of chunks along each axis if the chunks form a grid; `None` for other boxes.
    #[serde(deserialize_with = "lists::optional")]
    pub grid: Option<Vec<u64>>,
    /// Chunks by index, also those without cells. Empty if there are more than [`MOST_CHUNKS`], or
    /// if all arrays together have more than four times as many.
    #[serde(deserialize_with = "lists::list")]
    pub chunks: Vec<ChunkEntry>,
    /// Memory of the chunks on all devices in bytes, with ghost cells.
    pub bytes: u64,
    /// Maximum number of writes of a chunk.
    pub writes: u64,
    /// Last write of the chunk that was written at the latest step.
    pub last_write: Option<LastWrite>,
}

impl ArrayEntry {
    /// Text of the cut, such as `4 x 2 chunks` or `7 boxes`.
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

/// Description of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkEntry {
    /// Rank that owns the chunk.
    pub rank: u32,
    /// First cell, in global coordinates.
    #[serde(deserialize_with = "lists::list")]
    pub start: Vec<i64>,
    /// End of the cells, exclusive.
    #[serde(deserialize_with = "lists::list")]
    pub end: Vec<i64>,
    /// Number of writes of the chunk.
    pub writes: u64,
}

/// Last write of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    /// Name of the operation or kernel.
    pub operation: String,
    /// File of the call site.
    pub file: String,
    /// Line of the call site.
    pub line: u32,
    /// Number of debug points that the writing rank had passed.
    pub step: u64,
}

/// State of the ghost cells on one side of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GhostEntry {
    /// Index of the chunk.
    pub chunk: u64,
    /// Side of the chunk: −1, 0 or 1 for each axis.
    #[serde(deserialize_with = "lists::list")]
    pub side: Vec<i8>,
    /// Worst state of the ghost cells on this side.
    pub state: GhostState,
}
