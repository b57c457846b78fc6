//! [`WriteRecord`]: writes of a rank, in the form that ranks exchange at collectives.

use serde::{Deserialize, Serialize};

use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::region::Region;

/// Writes of a rank to one box at one call site since the last collective, as ranks exchange them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteRecord {
    /// Id of the array.
    pub array: u64,
    /// Id of the chunk.
    pub chunk: ChunkId,
    /// First corner of the box.
    pub start: Vec<i64>,
    /// Corner past the last cell of the box.
    pub end: Vec<i64>,
    /// Id of the call site, the same on every rank.
    pub call_site: u64,
    /// Number of passes of the call site at the first of the writes.
    pub first: u64,
    /// Number of passes of the call site at the last of the writes.
    pub last: u64,
    /// Text of the operation and its call site.
    pub writer: String,
    /// Rank that wrote.
    pub rank: usize,
    /// Clocks of writes, in ascending order: the first write since the last collective, and the
    /// first write after each write to ghost cells. These clocks suffice to find a write between a
    /// fill and a read.
    pub clocks: Vec<u64>,
}

impl WriteRecord {
    /// Returns the written box.
    pub fn region(&self) -> Region {
        Region::between(Index::new(&self.start), Index::new(&self.end))
    }
}
