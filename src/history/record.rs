//! [`WriteRecord`]: what ranks tell each other of their writes.

use serde::{Deserialize, Serialize};

use super::site::Site;
use crate::chunks::ChunkId;
use crate::extents::Index;
use crate::region::Region;

/// Cells that a rank has written, as it tells the others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WriteRecord {
    pub array: u64,
    pub chunk: ChunkId,
    start: Vec<i64>,
    end: Vec<i64>,
    /// The place in the program, and for the how-manyth time since the ranks met it was passed first and last.
    pub place: u64,
    pub first: u64,
    pub last: u64,
    pub writer: String,
    /// Rank that has written.
    pub rank: usize,
    /// Clocks, ascending: the first write since the last collective, and the first write after each write to ghost cells.
    /// No other write decides whether one lies between a fill and a read.
    pub clocks: Vec<u64>,
}

impl WriteRecord {
    pub fn new(
        (array, chunk): (u64, ChunkId),
        region: &Region,
        (place, first, last): (u64, u64, u64),
        writer: &Site,
        (rank, clocks): (usize, Vec<u64>),
    ) -> Self {
        let (start, end) = (region.start.to_vec(), region.end.to_vec());
        Self { array, chunk, start, end, place, first, last, writer: writer.to_string(), rank, clocks }
    }

    pub fn region(&self) -> Region {
        Region::between(Index::new(&self.start), Index::new(&self.end))
    }
}
