//! [`WriteRecord`]: writes of a rank, in the form that ranks exchange at collectives.

use serde::{Deserialize, Serialize};

use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::region::Region;

/// Writes of a rank to one box at one call site, since the last collective.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WriteRecord {
    pub array: u64,
    pub chunk: ChunkId,
    /// Bounds of the box.
    pub start: Vec<i64>,
    pub end: Vec<i64>,
    /// Id of the call site, the same on every rank.
    pub call_site: u64,
    /// Number of passes of the call site at the first and at the last write.
    pub first: u64,
    pub last: u64,
    pub writer: String,
    pub rank: usize,
    /// Clocks, ascending: the first write since the last collective, and the first write after each
    /// write to ghost cells. These clocks suffice to find a write between a fill and a read.
    pub clocks: Vec<u64>,
}

impl WriteRecord {
    pub fn region(&self) -> Region {
        Region::between(Index::new(&self.start), Index::new(&self.end))
    }
}
